"""Combining and ordering: only ever a permutation, and a bad score is an error with its place."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from compendia.contract import CompendiaError, ErrorCode
from compendia.router.rerank import DEFAULT_RERANK, RerankWeights, check_scores, combine, permutation

FINITE = st.floats(-1e6, 1e6)


@given(st.lists(FINITE, max_size=12))
def test_always_a_permutation_best_first(scores: list[float]) -> None:
    order = permutation(scores)
    assert sorted(order) == list(range(len(scores)))
    assert [scores[i] for i in order] == sorted(scores, reverse=True)


def test_ties_keep_the_order_of_retrieval() -> None:
    assert permutation([1.0, 1.0, 1.0]) == [0, 1, 2]


@given(st.lists(st.tuples(FINITE, FINITE), min_size=1, max_size=12))
def test_weight_zero_is_retrieval(pairs: list[tuple[float, float]]) -> None:
    retrieval, rerank = zip(*pairs, strict=True)
    unused = [False] * len(pairs)
    assert combine(retrieval, rerank, unused, RerankWeights(0.0)).tolist() == list(retrieval)


@given(st.lists(st.tuples(FINITE, FINITE), min_size=1, max_size=12), st.randoms())
def test_combining_follows_the_cards(pairs: list[tuple[float, float]], random: object) -> None:
    shuffled = list(range(len(pairs)))
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    used = [place % 2 == 0 for place in range(len(pairs))]
    weights = RerankWeights(0.5, -1.0)
    first = combine(*zip(*pairs, strict=True), used, weights)
    second = combine(*zip(*(pairs[i] for i in shuffled), strict=True), [used[i] for i in shuffled], weights)
    np.testing.assert_allclose(second, first[shuffled], rtol=1e-9, atol=1e-6)


def test_a_constant_shift_of_the_rerank_scores_changes_nothing() -> None:
    near, far = (combine([2, 1], shifted, [True, False], DEFAULT_RERANK) for shifted in ([0, 1], [-50, -49]))
    np.testing.assert_allclose(near, far)


def test_nothing_to_order() -> None:
    assert permutation(combine([], [], [], DEFAULT_RERANK)) == []


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_a_score_that_is_no_number_is_refused(bad: float) -> None:
    with pytest.raises(CompendiaError, match="cards 1 are not finite") as caught:
        check_scores(np.array([0.0, bad]), 2)
    assert caught.value.code is ErrorCode.RERANKER_FAILED


def test_a_missing_score_is_refused() -> None:
    with pytest.raises(CompendiaError, match="for 3 cards"):
        check_scores(np.array([0.0, 1.0]), 3)
