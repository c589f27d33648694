"""Greedy leader clustering against its slow, obvious twin."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from compendia.aggregator.cluster import cluster
from compendia.text.encode import HashingEncoder

WORDS = ("rain", "rains", "rain today", "convert money", "convert monies", "погода", "今天天气")
texts = st.lists(st.sampled_from(WORDS) | st.text(max_size=8), unique=True, max_size=12)


def twin(found: list[str], vectors: np.ndarray) -> set[frozenset[str]]:
    groups: list[list[str]] = []
    row = dict(zip(found, vectors.astype(np.float64), strict=True))
    for text in sorted(found):
        scores = [round(float(row[text] @ row[group[0]]) * 10_000) for group in groups]
        if scores and max(scores) >= 8500:
            groups[scores.index(max(scores))].append(text)
        else:
            groups.append([text])
    return {frozenset(group) for group in groups}


@given(texts, st.randoms(use_true_random=False))
def test_cluster_equals_its_twin_in_any_order(found: list[str], random) -> None:
    random.shuffle(found)
    vectors = HashingEncoder(32).encode_documents(found)
    groups = cluster(found, vectors)
    assert {frozenset(found[i] for i in group) for group in groups} == twin(found, vectors)
    assert sorted(i for group in groups for i in group) == list(range(len(found)))


@given(texts)
def test_the_last_bits_of_a_vector_do_not_matter(found: list[str]) -> None:
    vectors = HashingEncoder(32).encode_documents(found)
    noise = np.random.default_rng(7).uniform(-3e-7, 3e-7, vectors.shape).astype(np.float32)
    assert cluster(found, vectors) == cluster(found, vectors + noise)


def test_nothing_has_no_groups() -> None:
    assert cluster([], np.zeros((0, 4), dtype=np.float32)) == []
