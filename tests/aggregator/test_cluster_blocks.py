"""Clustering takes texts in blocks, so that its memory does not grow with the square of their number."""

import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compendia.aggregator import cluster as module
from compendia.aggregator.cluster import cluster

VOCABULARY = 40
DIMENSION = 6


def _vectors(seed: int, count: int, dimension: int = DIMENSION) -> np.ndarray:
    """Unit vectors in few dimensions, so that many of them are near each other and near the threshold."""
    drawn = np.random.default_rng(seed).normal(size=(count, dimension))
    return (drawn / np.linalg.norm(drawn, axis=1, keepdims=True)).astype(np.float32)


@settings(deadline=None)
@given(seed=st.integers(0, 10_000), block=st.integers(1, VOCABULARY), count=st.integers(0, VOCABULARY))
def test_the_size_of_a_block_does_not_matter(seed: int, block: int, count: int) -> None:
    texts = [f"text {number}" for number in range(count)]
    vectors = _vectors(seed, count)
    whole = cluster(texts, vectors)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_BLOCK", block)
        assert cluster(texts, vectors) == whole


def test_memory_grows_with_the_texts_and_not_with_their_square() -> None:
    count, dimension = 6_000, 8
    texts = [f"{number:06d}" for number in range(count)]
    vectors = _vectors(1, count, dimension)
    tracemalloc.start()
    groups = cluster(texts, vectors)
    _, peak_bytes = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert sum(map(len, groups)) == count
    assert peak_bytes < count * count * 8 / 4  # one n x n matrix of float64 would be four times that
