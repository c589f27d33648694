"""The embedding cache: nothing is encoded twice, no vector is taken for another, processes may share it."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compendia.contract import CompendiaError, ErrorCode
from compendia.text import cache
from compendia.text.cache import CHUNK, CachedEncoder
from compendia.text.encode import HashingEncoder, Vectors, load_encoder
from compendia.text.spans import Span

CATALOG = [f"tool {number}: does thing {number % 13}" for number in range(CHUNK * 2 + 7)]


class RecordingEncoder(HashingEncoder):
    """The hashing encoder, which keeps what it was asked."""

    def __init__(self, dimension: int = 384) -> None:
        super().__init__(dimension)
        self.asked: list[str] = []

    def encode_documents(self, texts: Sequence[str]) -> Vectors:
        self.asked += texts
        return super().encode_documents(texts)


def test_an_unchanged_catalog_is_never_encoded_twice(tmp_path: Path) -> None:
    first = CachedEncoder(RecordingEncoder(), tmp_path / "vectors.sqlite")
    vectors = first.encode_documents(CATALOG)
    assert first.encoded == len(CATALOG)
    second = CachedEncoder(RecordingEncoder(), tmp_path / "vectors.sqlite")
    assert second.encode_documents(CATALOG).tobytes() == vectors.tobytes()
    assert second.encoded == 0
    second.encode_documents([*CATALOG, "one new tool"])
    assert second.encoded == 1


def test_a_text_that_stands_twice_is_encoded_once(tmp_path: Path) -> None:
    inner = RecordingEncoder()
    vectors = CachedEncoder(inner, tmp_path / "v.sqlite").encode_documents(["a", "b", "a"])
    assert sorted(inner.asked) == ["a", "b"]
    np.testing.assert_array_equal(vectors[0], vectors[2])


def test_another_model_has_its_own_vectors(tmp_path: Path) -> None:
    small = CachedEncoder(HashingEncoder(64), tmp_path / "v.sqlite")
    large = CachedEncoder(HashingEncoder(128), tmp_path / "v.sqlite")
    assert small.encode_documents(["ferry"]).shape == (1, 64)
    assert large.encode_documents(["ferry"]).shape == (1, 128)
    assert (small.encoded, large.encoded) == (1, 1)


def test_queries_and_documents_are_kept_apart(tmp_path: Path) -> None:
    encoder = CachedEncoder(HashingEncoder(), tmp_path / "v.sqlite")
    encoder.encode_documents(["ferry"])
    encoder.encode_queries(["ferry", "ferry"])
    assert encoder.encoded == 2
    encoder.encode_queries(["ferry"])
    assert encoder.encoded == 2


def test_a_part_is_neither_its_text_nor_what_it_says(tmp_path: Path) -> None:
    parts = [Span("ferry or ferry", 0, 5), Span("ferry or ferry", 9, 14), "ferry", "ferry or ferry"]
    for _ in range(2):
        encoder = CachedEncoder(HashingEncoder(), tmp_path / "v.sqlite")
        encoder.encode_documents(parts)
    assert encoder.encoded == 0
    for _ in range(2):
        encoder.encode_queries(parts)
    assert encoder.encoded == 4
    with closing(sqlite3.connect(tmp_path / "v.sqlite")) as file:
        assert file.execute("SELECT role, count(*) FROM vectors GROUP BY role").fetchall() == [
            ("document", 4)
        ]


def test_queries_are_not_written_to_disk(tmp_path: Path) -> None:
    path = tmp_path / "v.sqlite"
    CachedEncoder(HashingEncoder(), path).encode_queries(["what somebody asked"])
    again = CachedEncoder(HashingEncoder(), path)
    again.encode_queries(["what somebody asked"])
    assert again.encoded == 1


def test_only_the_last_queries_stay_in_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "QUERIES_KEPT", 2)
    encoder = CachedEncoder(HashingEncoder(), tmp_path / "v.sqlite")
    encoder.encode_queries(["a", "b"])
    encoder.encode_queries(["a"])  # now b is the oldest
    encoder.encode_queries(["c"])
    assert encoder.encoded == 3
    encoder.encode_queries(["a", "c"])
    assert encoder.encoded == 3
    encoder.encode_queries(["b"])
    assert encoder.encoded == 4


@settings(max_examples=25, deadline=None)
@given(batches=st.lists(st.lists(st.text(max_size=5), max_size=6), max_size=5))
def test_the_cache_never_changes_an_answer(
    tmp_path_factory: pytest.TempPathFactory, batches: list[list[str]]
) -> None:
    cached = CachedEncoder(HashingEncoder(), tmp_path_factory.mktemp("cache") / "v.sqlite")
    for batch in batches:
        assert cached.encode_documents(batch).tobytes() == HashingEncoder().encode_documents(batch).tobytes()
        assert cached.encode_queries(batch).tobytes() == HashingEncoder().encode_queries(batch).tobytes()
    assert cached.encoded == 2 * len({text for batch in batches for text in batch})


def test_what_was_encoded_before_a_failure_is_kept(tmp_path: Path) -> None:
    class Breaking(RecordingEncoder):
        def encode_documents(self, texts: Sequence[str]) -> Vectors:
            if self.asked:
                raise RuntimeError("out of memory")
            return super().encode_documents(texts)

    with pytest.raises(RuntimeError):
        CachedEncoder(Breaking(), tmp_path / "v.sqlite").encode_documents(CATALOG)
    after = CachedEncoder(RecordingEncoder(), tmp_path / "v.sqlite")
    after.encode_documents(CATALOG)
    assert after.encoded == len(CATALOG) - CHUNK


@pytest.mark.parametrize(
    "content", [b"this is no database, though it is long enough to be one", b"\0" * 4096]
)
def test_a_file_that_is_no_database_is_refused_with_the_remedy(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "notes.txt"
    path.write_bytes(content)
    with pytest.raises(CompendiaError) as caught:
        load_encoder("hashing", path)
    assert caught.value.code is ErrorCode.SOURCE_UNREADABLE
    assert "delete the file" in str(caught.value)


def test_a_place_that_cannot_be_made_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(CompendiaError) as caught:
        load_encoder("hashing", tmp_path / "file" / "v.sqlite")
    assert caught.value.code is ErrorCode.SOURCE_UNREADABLE


@pytest.mark.process
def test_processes_share_one_file_from_its_first_moment(tmp_path: Path) -> None:
    program = (
        "import sys, pathlib; from compendia.text.encode import load_encoder\n"
        "encoder = load_encoder('hashing', pathlib.Path(sys.argv[1]))\n"
        "start = int(sys.argv[2])\n"
        "for at in range(start, start + 300, 10):\n"
        "    assert encoder.encode_documents([f't{i}' for i in range(at, at + 10)]).shape == (10, 384)\n"
    )
    path = str(tmp_path / "shared.sqlite")
    # Ranges overlap, so that two want to write the same row.
    running = [
        subprocess.Popen([sys.executable, "-c", program, path, str(start)], stderr=subprocess.PIPE, text=True)
        for start in (0, 100, 200, 200)
    ]
    for process in running:
        _, told = process.communicate(timeout=120)
        assert process.returncode == 0, told
    after = load_encoder("hashing", Path(path))
    expected = HashingEncoder().encode_documents([f"t{i}" for i in range(500)])
    np.testing.assert_array_equal(after.encode_documents([f"t{i}" for i in range(500)]), expected)
    assert isinstance(after, CachedEncoder)
    assert after.encoded == 0
