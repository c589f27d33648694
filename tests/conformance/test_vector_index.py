"""What every VectorIndex must do, against a slow and obvious twin. A new one is one line in INDEXES."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from compendia.router.vectors import HalfIndex, VectorIndex, Vectors


class PlainIndex:
    """The twin: compute everything, sort everything."""

    def __init__(self, vectors: Vectors) -> None:
        self._vectors = vectors

    def __len__(self) -> int:
        return len(self._vectors)

    def search(self, queries: Vectors, k: int) -> tuple[np.ndarray, np.ndarray]:
        scores = queries @ self._vectors.T
        rows = np.argsort(-scores, axis=1, kind="stable")[:, :k]
        return np.take_along_axis(scores, rows, axis=1), rows.astype(np.int64)

    def scores(self, query: Vectors, rows: np.ndarray) -> np.ndarray:
        return self._vectors[rows] @ query

    def vectors(self) -> Vectors:
        return self._vectors

    def vector(self, row: int) -> Vectors:
        return self._vectors[row]


INDEXES: dict[str, Callable[[Vectors], VectorIndex]] = {"half": HalfIndex, "plain": PlainIndex}
DIMENSION = 16


def _unit(seed: int, count: int) -> Vectors:
    rows = np.random.default_rng(seed).normal(size=(count, DIMENSION)).astype(np.float32)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


@pytest.fixture(params=sorted(INDEXES))
def make(request: pytest.FixtureRequest) -> Callable[[Vectors], VectorIndex]:
    return INDEXES[request.param]


@pytest.mark.parametrize("count", [0, 1, 2, 37, 300])
@pytest.mark.parametrize("k", [1, 5, 1000])
def test_it_finds_what_the_twin_finds(make: Callable[[Vectors], VectorIndex], count: int, k: int) -> None:
    vectors, queries = _unit(1, count), _unit(2, 3)
    scores, rows = make(vectors).search(queries, k)
    expected, expected_rows = PlainIndex(vectors).search(queries, k)
    assert all(len(found) == min(k, count) == len(set(found)) for found in rows.tolist())
    np.testing.assert_allclose(scores, expected, atol=1e-6)
    assert rows.tolist() == expected_rows.tolist()


def test_scores_of_rows_come_in_the_order_asked(make: Callable[[Vectors], VectorIndex]) -> None:
    vectors, query = _unit(3, 20), _unit(4, 1)[0]
    rows = np.asarray([7, 0, 19, 7], np.int64)
    np.testing.assert_allclose(make(vectors).scores(query, rows), vectors[rows] @ query, atol=1e-6)
    assert make(vectors).scores(query, np.zeros(0, np.int64)).shape == (0,)


def test_the_vectors_come_back(make: Callable[[Vectors], VectorIndex]) -> None:
    vectors = _unit(5, 9)
    index = make(vectors)
    np.testing.assert_array_equal(index.vectors(), vectors)
    np.testing.assert_array_equal(index.vector(4), vectors[4])
    assert len(index) == 9
