"""Vectors kept between runs, so that an unchanged catalog is never encoded twice.

The key is (model fingerprint, role, SHA-256 of the text): the same text under another model, or as a query
instead of a document, is another entry, and so is a part of a text, by its place there. One SQLite file
(WAL), which any number of processes may share.
"""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import sqlalchemy as sa
from numpy.typing import NDArray
from sqlalchemy.dialects.sqlite import insert
from sqlalchemy.pool import NullPool

from compendia.contract.errors import ErrorCode, error

from .encode import Encoder, Vectors
from .spans import Span, Text, by_length, whole

T = TypeVar("T")
Vector = NDArray[np.float32]

CHUNK = 500
"""Rows per statement and texts per commit: what a crash in the middle of a catalog costs at most."""

QUERIES_KEPT = 4_096

_METADATA = sa.MetaData()
_VECTORS = sa.Table(
    "vectors",
    _METADATA,
    sa.Column("fingerprint", sa.String, primary_key=True),
    sa.Column("role", sa.String, primary_key=True),
    sa.Column("text_sha256", sa.LargeBinary, primary_key=True),
    sa.Column("vector", sa.LargeBinary, nullable=False),  # float32, little-endian
)


class VectorStore:
    """The SQLite file. Raises SOURCE_UNREADABLE when it is no database or cannot be written."""

    def __init__(self, path: Path) -> None:
        self._path = path
        # No pool: a connection belongs to one thread of one process, and opening one takes microseconds.
        self._engine = sa.create_engine(
            f"sqlite:///{path}", poolclass=NullPool, connect_args={"timeout": 60.0}
        )
        sa.event.listen(self._engine, "connect", _prepare)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as fault:
            raise error(
                ErrorCode.SOURCE_UNREADABLE, f"cannot make {path.parent}: {fault.strerror}", "cache"
            ) from None
        with self._begin() as connection:
            connection.execute(sa.schema.CreateTable(_VECTORS, if_not_exists=True))

    def get(self, fingerprint: str, role: str, keys: Sequence[bytes]) -> dict[bytes, Vector]:
        """The vectors that are there, by key."""
        found: dict[bytes, Vector] = {}
        query = sa.select(_VECTORS.c.text_sha256, _VECTORS.c.vector).where(
            _VECTORS.c.fingerprint == fingerprint,
            _VECTORS.c.role == role,
            _VECTORS.c.text_sha256.in_(sa.bindparam("keys", expanding=True)),
        )
        with self._begin() as connection:
            for chunk in _chunks(keys):
                for key, vector in connection.execute(query, {"keys": chunk}):
                    found[key] = np.frombuffer(vector, dtype="<f4")
        return found

    def put(self, fingerprint: str, role: str, vectors: dict[bytes, Vector]) -> None:
        """Add vectors in one transaction. Where another process was first, its vector stays."""
        rows = [
            {
                "fingerprint": fingerprint,
                "role": role,
                "text_sha256": key,
                "vector": vector.astype("<f4").tobytes(),
            }
            for key, vector in vectors.items()
        ]
        with self._begin() as connection:
            connection.execute(insert(_VECTORS).on_conflict_do_nothing(), rows)

    @contextmanager
    def _begin(self) -> Iterator[sa.Connection]:
        try:
            with self._engine.begin() as connection:
                yield connection
        except sa.exc.DBAPIError as fault:
            raise error(
                ErrorCode.SOURCE_UNREADABLE,
                f"cannot use the embedding cache {self._path}: {fault.orig}",
                "cache",
                "delete the file (it is made again), or name another place",
            ) from None


class CachedEncoder:
    """An encoder that asks its model only for texts it has not seen.

    Documents stay in the store for good. Queries stay in memory, the last `QUERIES_KEPT` of them: what people
    ask is not written to disk. `encoded` counts the texts that went to the model.
    """

    def __init__(self, encoder: Encoder, path: Path) -> None:
        self._encoder = encoder
        self._store = VectorStore(path)
        self._queries: OrderedDict[Text, Vector] = OrderedDict()
        self._lock = threading.Lock()
        self.encoded = 0

    @property
    def fingerprint(self) -> str:
        return self._encoder.fingerprint

    @property
    def dimension(self) -> int:
        return self._encoder.dimension

    def encode_documents(self, texts: Sequence[Text]) -> Vectors:
        keys = [_key(text) for text in texts]
        wanted = dict(zip(keys, texts, strict=True))
        vectors = self._store.get(self.fingerprint, "document", list(wanted))
        # By length, so that a batch pads little; the parts of a text together, for they are read together.
        missing = sorted(wanted.keys() - vectors.keys(), key=lambda key: by_length(wanted[key]))
        for chunk in _chunks(missing):
            made = self._encode(self._encoder.encode_documents, [wanted[key] for key in chunk])
            fresh = dict(zip(chunk, made, strict=True))
            self._store.put(self.fingerprint, "document", fresh)
            vectors.update(fresh)
        return self._stack([vectors[key] for key in keys])

    def encode_queries(self, texts: Sequence[Text]) -> Vectors:
        with self._lock:
            vectors = {text: self._queries[text] for text in texts if text in self._queries}
        missing = [text for text in dict.fromkeys(texts) if text not in vectors]
        if missing:
            made = self._encode(self._encoder.encode_queries, missing)
            vectors.update(zip(missing, made, strict=True))
        with self._lock:
            for text in texts:
                self._queries[text] = vectors[text]
                self._queries.move_to_end(text)
            while len(self._queries) > QUERIES_KEPT:
                self._queries.popitem(last=False)
        return self._stack([vectors[text] for text in texts])

    def _encode(self, method: Callable[[Sequence[Text]], Vectors], texts: Sequence[Text]) -> Vectors:
        made = method(texts)
        with self._lock:
            self.encoded += len(texts)
        return made

    def _stack(self, vectors: list[Vector]) -> Vectors:
        return np.stack(vectors) if vectors else np.zeros((0, self.dimension), dtype=np.float32)


def _key(text: Text) -> bytes:
    where = f"\0{text.start}\0{text.end}" if isinstance(text, Span) else ""
    return hashlib.sha256(f"{whole(text)}{where}".encode("utf-8", "surrogatepass")).digest()


def _prepare(connection: Any, _record: Any) -> None:
    """WAL lets readers and one writer work side by side; a cache may lose its last commit with the power."""
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("PRAGMA synchronous=NORMAL")


def _chunks(items: Sequence[T]) -> Iterator[Sequence[T]]:
    for start in range(0, len(items), CHUNK):
        yield items[start : start + CHUNK]
