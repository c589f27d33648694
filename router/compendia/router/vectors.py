"""Exact search by inner product over a fixed set of vectors."""

from __future__ import annotations

from typing import Protocol

import faiss
import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float32]
Rows = NDArray[np.int64]
Scores = NDArray[np.float32]

SPARE = 16


def inner_products(queries: Vectors, vectors: Vectors) -> Scores:
    """Of a few queries (m, d) with many vectors (n, d), (m, n): in this order it takes half the time."""
    return np.ascontiguousarray((vectors @ queries.T).T)


class VectorIndex(Protocol):
    """Vectors in rows 0..n-1, fixed once made; safe to search from many threads."""

    def __len__(self) -> int: ...

    def search(self, queries: Vectors, k: int) -> tuple[Scores, Rows]:
        """For each of `queries` (m, d) the min(k, n) rows with the largest inner product, largest first; both
        (m, min(k, n))."""
        ...

    def scores(self, query: Vectors, rows: Rows) -> Scores:
        """Inner products of `query` (d,) with the vectors in `rows` (m,), in that order."""
        ...

    def vectors(self) -> Vectors:
        """All vectors, (n, d), in row order."""
        ...

    def vector(self, row: int) -> Vectors:
        """The vector in a row, (d,)."""
        ...


class HalfIndex:
    """FAISS over half-precision copies, the hits scored again in single precision.

    A search reads every vector, so its time is that of memory: bfloat16 took 5.0 ms where float16 took 6.9
    and `IndexFlatIP` 10.7 (seven queries, 28,000 x 384, one thread; 3.1, 3.8 and 8.8 with two). bfloat16
    moves a cosine by 0.0004 at most there; SPARE further hits make up for that at the edge.
    """

    def __init__(self, vectors: Vectors) -> None:
        """vectors: (n, d), n may be 0."""
        self._vectors = np.ascontiguousarray(vectors, np.float32)
        self._index = faiss.IndexScalarQuantizer(
            vectors.shape[1], faiss.ScalarQuantizer.QT_bf16, faiss.METRIC_INNER_PRODUCT
        )
        self._index.add(self._vectors)

    def __len__(self) -> int:
        return len(self._vectors)

    def search(self, queries: Vectors, k: int) -> tuple[Scores, Rows]:
        near = min(k + SPARE, len(self))
        if near == 0 or len(queries) == 0:
            none = (len(queries), min(k, len(self)))
            return np.zeros(none, np.float32), np.zeros(none, np.int64)
        rows = np.sort(self._index.search(queries, near)[1], axis=1)
        scores = np.matmul(self._vectors[rows], queries[:, :, None])[:, :, 0]
        order = np.argsort(-scores, axis=1, kind="stable")[:, :k]
        return np.take_along_axis(scores, order, axis=1), np.take_along_axis(rows, order, axis=1)

    def scores(self, query: Vectors, rows: Rows) -> Scores:
        return np.asarray(self._vectors[rows] @ query, np.float32)

    def vectors(self) -> Vectors:
        return self._vectors

    def vector(self, row: int) -> Vectors:
        return np.asarray(self._vectors[row], np.float32)
