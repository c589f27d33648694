"""Framing: what goes in comes out, and nothing a sender does costs more than the caps allow."""

import hashlib
import io
import os
import tracemalloc

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from compendia.contract import CompendiaError, ErrorCode
from compendia.wire.framing import CHUNK_BYTES, UPLOAD_CAPS, Caps, Receiver, compress, lines

ROWS = st.lists(st.binary(max_size=200).map(lambda b: b.replace(b"\n", b" ")), max_size=30)
SMALL = Caps(message_bytes=100, compressed_bytes=1000, document_bytes=5000, line_bytes=500)


def _read(data: bytes, caps: Caps = UPLOAD_CAPS) -> list[bytes]:
    return list(lines(io.BytesIO(data), caps))


def _zstd(text: bytes) -> bytes:
    return zstandard.ZstdCompressor().compress(text)


@given(ROWS)
def test_lines_undo_compress(rows: list[bytes]) -> None:
    assert _read(b"".join(compress(row + b"\n" for row in rows))) == rows


def test_chunks_are_bounded_and_repeatable() -> None:
    noise = [os.urandom(1000).replace(b"\n", b" ") + b"\n" for _ in range(2000)]
    chunks = list(compress(iter(noise)))
    assert len(chunks) > 4
    assert max(map(len, chunks)) <= CHUNK_BYTES
    assert chunks == list(compress(iter(noise)))


def test_a_bomb_is_refused_in_the_memory_of_a_line() -> None:
    bomb = zstandard.ZstdCompressor(level=3).compress((b"a" * 999 + b"\n") * (64 * 1024))
    assert len(bomb) < 100_000
    tracemalloc.start()
    with pytest.raises(CompendiaError) as caught:
        for _ in lines(io.BytesIO(bomb), Caps(document_bytes=4 * 1024 * 1024)):
            pass
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert caught.value.code is ErrorCode.TOO_LARGE
    assert peak < 2 * 1024 * 1024


def test_a_line_without_end_is_refused() -> None:
    with pytest.raises(CompendiaError, match="cap of 500 bytes") as caught:
        _read(_zstd(b"x" * 501), SMALL)
    assert caught.value.code is ErrorCode.TOO_LARGE


def test_a_line_at_the_cap_passes() -> None:
    assert _read(_zstd(b"x" * 499 + b"\n"), SMALL) == [b"x" * 499]


def test_a_window_beyond_the_decoders_is_refused() -> None:
    parameters = zstandard.ZstdCompressionParameters(window_log=27)
    engine = zstandard.ZstdCompressor(
        compression_params=parameters
    ).compressobj()  # no size known: full window
    data = engine.compress(b"x\n") + engine.flush()
    with pytest.raises(CompendiaError) as caught:
        _read(data)
    assert caught.value.code is ErrorCode.PROTOCOL


@pytest.mark.parametrize(
    "data",
    [
        b"hello",
        _zstd(b"a\n") + b"rest",
        _zstd(b"a\nb"),
    ],
    ids=["not zstd", "trailing bytes", "no last newline"],
)
def test_bytes_that_are_no_text_of_lines(data: bytes) -> None:
    with pytest.raises(CompendiaError) as caught:
        _read(data)
    assert caught.value.code is ErrorCode.PROTOCOL


def test_compress_refuses_what_the_other_side_would() -> None:
    with pytest.raises(CompendiaError, match="a record of 501 bytes"):
        list(compress([b"x" * 500 + b"\n"], SMALL))
    with pytest.raises(CompendiaError, match="cap of 5000 bytes"):
        list(compress([b"x" * 400 + b"\n"] * 13, SMALL))


def test_receiver_caps_each_chunk_and_the_sum() -> None:
    receiver = Receiver(io.BytesIO(), SMALL)
    with pytest.raises(CompendiaError, match="chunk of 101 bytes"):
        receiver.write(b"x" * 101)
    for _ in range(10):
        receiver.write(b"x" * 100)
    with pytest.raises(CompendiaError, match="transfer is over the cap of 1000"):
        receiver.write(b"x")


def test_receiver_digests_what_arrived() -> None:
    receiver = Receiver(io.BytesIO())
    receiver.write(b"abc")
    with pytest.raises(CompendiaError) as caught:
        receiver.finish("0" * 64)
    assert caught.value.code is ErrorCode.DIGEST_MISMATCH
    assert receiver.finish(hashlib.sha256(b"abc").hexdigest()).read() == b"abc"
