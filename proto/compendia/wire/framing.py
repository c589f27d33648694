"""Bytes on the wire: one zstd frame (RFC 8878) of JSON lines, cut into chunks, with a cap on everything.

`compress` and `lines` are each other's inverse and hold one chunk, or one line, at a time. What the lines
mean is the business of `compendia.wire.codec`. Nothing here trusts the sender: a frame may inflate without
end, want a huge window, break off, or never end its line.
"""

from __future__ import annotations

import hashlib
import io
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import IO

import zstandard

from compendia.contract import ErrorCode, error

CHUNK_BYTES = 256 * 1024
"""The largest chunk that we send."""

_LEVEL = 9  # 8 to 9 times smaller on tool catalogs, 0.02 s a MB; level 15 gains 10 % in 15 times the time
_WINDOW_BYTES = 8 * 1024 * 1024  # what a decoder must allow; level 9 asks for half of it
_READ_BYTES = 64 * 1024


@dataclass(frozen=True)
class Caps:
    """Upper bounds of one transfer, in bytes: of one chunk, of all chunks, of all lines, of one line."""

    message_bytes: int = 1024 * 1024
    compressed_bytes: int = 32 * 1024 * 1024
    document_bytes: int = 128 * 1024 * 1024
    line_bytes: int = 1024 * 1024


UPLOAD_CAPS = Caps()
SNAPSHOT_CAPS = Caps(compressed_bytes=256 * 1024 * 1024, document_bytes=2 * 1024 * 1024 * 1024)
"""A snapshot is the merge of many compendia, and its sender is one we chose."""


def compress(rows: Iterable[bytes], caps: Caps = UPLOAD_CAPS) -> Iterator[bytes]:
    """Lines (each ending in a newline) as one zstd frame in chunks of at most CHUNK_BYTES.

    The same rows give the same bytes with the same zstd library. Raises TOO_LARGE.
    """
    compressor = zstandard.ZstdCompressor(level=_LEVEL, write_checksum=True).compressobj()
    pending = bytearray()
    whole = 0
    for row in rows:
        if len(row) > caps.line_bytes:
            start = row[:80].decode("utf-8", "replace")
            raise error(
                ErrorCode.TOO_LARGE,
                f"a record of {len(row)} bytes is over the cap of {caps.line_bytes}",
                start,
                "shorten its texts, or split the tool",
            )
        whole += len(row)
        if whole > caps.document_bytes:
            raise error(ErrorCode.TOO_LARGE, f"the document is over the cap of {caps.document_bytes} bytes")
        pending += compressor.compress(row)
        while len(pending) >= CHUNK_BYTES:
            yield bytes(pending[:CHUNK_BYTES])
            del pending[:CHUNK_BYTES]
    pending += compressor.flush()
    for start_at in range(0, len(pending), CHUNK_BYTES):
        yield bytes(pending[start_at : start_at + CHUNK_BYTES])


def lines(stream: IO[bytes], caps: Caps = UPLOAD_CAPS) -> Iterator[bytes]:
    """The lines of a compressed stream, without their newline, in the memory of one line and one window.

    Raises TOO_LARGE when the text or a line is over its cap, PROTOCOL when the bytes are no zstd text.
    Bytes that are cut may just end early: the lines themselves must tell where they end.
    """
    decompressor = zstandard.ZstdDecompressor(max_window_size=_WINDOW_BYTES)
    inflated = decompressor.stream_reader(
        stream, read_size=_READ_BYTES, read_across_frames=True, closefd=False
    )
    reader = io.BufferedReader(inflated, _READ_BYTES)
    whole = 0
    while True:
        try:
            line = reader.readline(caps.line_bytes + 1)
        except zstandard.ZstdError as fault:
            raise error(ErrorCode.PROTOCOL, f"after {whole} bytes of text: {fault}", "chunk") from None
        whole += len(line)
        if whole > caps.document_bytes:
            raise error(
                ErrorCode.TOO_LARGE, f"inflates to more than the cap of {caps.document_bytes} bytes", "chunk"
            )
        if len(line) > caps.line_bytes:
            raise error(ErrorCode.TOO_LARGE, f"a record is over the cap of {caps.line_bytes} bytes", "chunk")
        if not line:
            return
        if not line.endswith(b"\n"):
            raise error(ErrorCode.PROTOCOL, f"the text breaks off after {whole} bytes", "chunk")
        yield line[:-1]


class Receiver:
    """Takes the chunks of one transfer into `sink`, counting and digesting them as they come."""

    def __init__(self, sink: IO[bytes], caps: Caps = UPLOAD_CAPS) -> None:
        self._sink = sink
        self._caps = caps
        self._hash = hashlib.sha256()
        self.compressed_bytes = 0

    def write(self, chunk: bytes) -> None:
        """Raises TOO_LARGE when the chunk, or the sum of all, is over its cap."""
        if len(chunk) > self._caps.message_bytes:
            raise error(
                ErrorCode.TOO_LARGE,
                f"a chunk of {len(chunk)} bytes is over the cap of {self._caps.message_bytes}",
                "chunk",
            )
        self.compressed_bytes += len(chunk)
        if self.compressed_bytes > self._caps.compressed_bytes:
            raise error(
                ErrorCode.TOO_LARGE,
                f"the transfer is over the cap of {self._caps.compressed_bytes} bytes",
                "chunk",
            )
        self._hash.update(chunk)
        self._sink.write(chunk)

    @property
    def digest(self) -> str:
        """SHA-256 (hex) over what arrived so far."""
        return self._hash.hexdigest()

    def finish(self, digest: str) -> IO[bytes]:
        """The sink, rewound. Raises DIGEST_MISMATCH when the bytes are not those announced."""
        if self.digest != digest:
            raise error(
                ErrorCode.DIGEST_MISMATCH,
                f"{self.compressed_bytes} bytes arrived with digest {self.digest}, announced was {digest!r}",
                "digest",
            )
        self._sink.seek(0)
        return self._sink
