"""TF-IDF by numbers: the vectors of scikit-learn, and queries weighed as texts are."""

from __future__ import annotations

import itertools

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from sklearn.feature_extraction.text import TfidfVectorizer

from compendia.router.terms import TermIndex

WORDS = st.sampled_from(["tide", "tides", "at", "visby", "a", "潮汐", "7"])
TEXTS = st.lists(st.lists(WORDS, max_size=9), min_size=1, max_size=12)


def words_and_pairs(words: list[str]) -> list[str]:
    return [*words, *(f"{first} {second}" for first, second in itertools.pairwise(words))]


@given(TEXTS.filter(any))
def test_vectors_are_those_of_scikit_learn(texts: list[list[str]]) -> None:
    index = TermIndex(texts)
    other = TfidfVectorizer(analyzer=words_and_pairs, sublinear_tf=True, dtype=np.float32)
    expected = other.fit_transform(texts)
    np.testing.assert_array_equal(index.vectors.toarray(), expected.toarray())
    np.testing.assert_allclose(index.weigh(texts).toarray(), expected.toarray(), atol=1e-6)


def test_words_that_no_text_has_and_their_pairs_count_for_nothing() -> None:
    index = TermIndex([["high", "tide"], ["tide", "visby"]])
    known, mixed = index.weigh([["tide"], ["tide", "comet"]]).toarray()
    np.testing.assert_array_equal(known, mixed)
    assert not index.weigh([["comet"], []]).toarray().any()


def test_no_words_at_all_are_like_nothing() -> None:
    assert TermIndex([[], []]).cosines([["tide"]], None, 3).tolist() == [[0.0, 0.0, 0.0]]
    assert TermIndex([]).cosines([["tide"]], None, 0).shape == (1, 0)
