"""Reranking: a frozen LLM orders the candidates. It only orders; what a plan holds comes from the snapshot.

`Reranker` is the one seam: a local model (`likelihood`) or a server (`endpoint`) arrives behind it, and both
pass `tests/conformance/test_reranker.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from compendia.contract import ErrorCode, error

from .render import Card

Scores = NDArray[np.float64]


class Reranker(Protocol):
    """Scores the cards of a few candidates for one query. The order of the cards must not matter."""

    @property
    def fingerprint(self) -> str:
        """Changes whenever a score could: model weights, prompt, settings."""
        ...

    def score(self, query: str, cards: Sequence[Card]) -> Scores:
        """One finite score per card, shape (len(cards),), higher is better. Raises RERANKER_FAILED."""
        ...


def combine(retrieval: Sequence[float] | Scores, rerank: Sequence[float] | Scores, weight: float) -> Scores:
    """Add `weight` times the rerank scores, about their mean, to the retrieval scores; shape (k,).

    Both are taken as they are: the gaps of either carry how sure it is, and scaling each query's few
    candidates to one variance would throw that away.
    """
    first, second = np.asarray(retrieval, np.float64), np.asarray(rerank, np.float64)
    if first.shape != second.shape or first.ndim != 1:
        raise error(ErrorCode.INTERNAL, f"{first.shape} retrieval scores and {second.shape} rerank scores")
    if second.size == 0:
        return first
    combined: Scores = first + weight * (second - second.mean())
    return combined


def permutation(scores: Sequence[float] | Scores) -> list[int]:
    """Places of the candidates, best first; ties keep the order they came in. Always a permutation.

    Raises RERANKER_FAILED where a score is not finite.

    >>> permutation([0.1, 2.0, 0.1])
    [1, 0, 2]
    """
    checked = check_scores(np.asarray(scores, np.float64), len(scores))
    return [int(place) for place in np.argsort(-checked, kind="stable")]


def check_scores(scores: Scores, count: int) -> Scores:
    """The scores themselves, if there are `count` finite ones. Raises RERANKER_FAILED otherwise."""
    if scores.shape != (count,):
        raise error(ErrorCode.RERANKER_FAILED, f"{scores.shape} scores for {count} cards", "rerank")
    if not np.isfinite(scores).all():
        places = ", ".join(str(place) for place in np.flatnonzero(~np.isfinite(scores)))
        raise error(ErrorCode.RERANKER_FAILED, f"the scores of cards {places} are not finite", "rerank")
    return scores
