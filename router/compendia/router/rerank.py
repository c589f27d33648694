"""Reranking: a frozen LLM orders the candidates. It only orders; what a plan holds comes from the snapshot.

`Reranker` is the one seam: a local model (`likelihood`) or a server (`endpoint`) arrives behind it, and both
pass `tests/conformance/test_reranker.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from compendia.contract import ErrorCode, error

from .render import Card

Scores = NDArray[np.float64]


DIGITS = 4


@dataclass(frozen=True)
class RerankWeights:
    """What a reranker's scores count beside retrieval's (`rerank_fit`).

    model: how much one of the reranker's units counts, in nats, >= 0. used: what is added for a tool that has
    been used, in nats: its card shows requests, so a query reads likelier after it, right or wrong.
    """

    model: float
    used: float = 0.0

    def flat(self) -> dict[str, float]:
        """`{"rerank/model" | "rerank/used": weight}`, rounded."""
        return {"rerank/model": round(self.model, DIGITS), "rerank/used": round(self.used, DIGITS)}


DEFAULT_RERANK = RerankWeights(1.0)
"""For snapshots with too little experience to fit from: what is best for the local model (`likelihood`) where
ToolBench G3 is documented and nothing else is known."""


class Reranker(Protocol):
    """Scores the cards of a few candidates for one query. The order of the cards must not matter.

    listwise: whether the score of a card depends on which others it is shown with.
    """

    listwise: bool

    @property
    def fingerprint(self) -> str:
        """Changes whenever a score could: model weights, prompt, settings."""
        ...

    def score(self, query: str, cards: Sequence[Card]) -> Scores:
        """One finite score per card, shape (len(cards),), higher is better. Raises RERANKER_FAILED."""
        ...


def combine(
    retrieval: Sequence[float] | Scores,
    rerank: Sequence[float] | Scores,
    used: Sequence[bool] | NDArray[np.bool_],
    weights: RerankWeights,
) -> Scores:
    """The retrieval scores, and what the rerank scores add about their mean; shape (k,).

    Both are taken as they are: the gaps of either carry how sure it is, and scaling each query's few
    candidates to one variance would throw that away.
    """
    first, second = np.asarray(retrieval, np.float64), np.asarray(rerank, np.float64)
    shown = np.asarray(used, np.float64)
    if not first.shape == second.shape == shown.shape or first.ndim != 1:
        shapes = f"{first.shape} retrieval scores, {second.shape} rerank scores, {shown.shape} marks of use"
        raise error(ErrorCode.INTERNAL, shapes)
    if second.size == 0:
        return first
    combined: Scores = first + weights.model * (second - second.mean()) + weights.used * shown
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
