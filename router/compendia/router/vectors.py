"""Exact search by inner product over a fixed set of vectors."""

from __future__ import annotations

from typing import Protocol

import faiss
import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float32]
Rows = NDArray[np.int64]
Scores = NDArray[np.float32]


class VectorIndex(Protocol):
    """Vectors in rows 0..n-1, fixed once made; safe to search from many threads."""

    def __len__(self) -> int: ...

    def search(self, query: Vectors, k: int) -> tuple[Scores, Rows]:
        """The min(k, n) rows with the largest inner product with `query` (d,), largest first."""
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

    def moments(self, query: Vectors) -> tuple[float, float]:
        """Mean and standard deviation of the inner products with all rows, without computing them."""
        ...


class FlatIndex:
    """FAISS `IndexFlatIP`. Moments are exact: mean q.mu and variance q'Cq follow from the rows' mean and
    covariance, so one score is standardized against the whole catalog at the cost of a d x d product.
    """

    def __init__(self, vectors: Vectors) -> None:
        """vectors: (n, d), n may be 0."""
        self._index = faiss.IndexFlatIP(vectors.shape[1])
        self._index.add(np.ascontiguousarray(vectors))
        exact = vectors.astype(np.float64)
        count = max(1, len(vectors))
        self._mean = exact.sum(axis=0) / count
        centred = exact - self._mean
        self._covariance = centred.T @ centred / count

    def __len__(self) -> int:
        return int(self._index.ntotal)

    def search(self, query: Vectors, k: int) -> tuple[Scores, Rows]:
        found = min(k, len(self))
        if found == 0:
            return np.zeros(0, np.float32), np.zeros(0, np.int64)
        scores, rows = self._index.search(query[None, :], found)
        return scores[0], rows[0]

    def scores(self, query: Vectors, rows: Rows) -> Scores:
        if len(rows) == 0:
            return np.zeros(0, np.float32)
        return np.asarray(self._index.reconstruct_batch(rows) @ query, np.float32)

    def vectors(self) -> Vectors:
        return np.asarray(self._index.reconstruct_n(0, len(self)), np.float32)

    def vector(self, row: int) -> Vectors:
        return np.asarray(self._index.reconstruct(row), np.float32)

    def moments(self, query: Vectors) -> tuple[float, float]:
        exact = query.astype(np.float64)
        variance = float(exact @ self._covariance @ exact)
        return float(exact @ self._mean), float(np.sqrt(max(0.0, variance)))
