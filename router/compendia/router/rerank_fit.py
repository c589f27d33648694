"""How much a reranker's scores count, fitted on the snapshot's own requests as the ranker is (`worlds`).

In worlds where whole topics look unused, the reranker is shown what it would be shown: the best candidates by
retrieval, with the requests that are experience there. Conditional logit with the retrieval scores as they
are, and a penalty on the distance to the defaults. What is asked goes by digests, so the next revision asks
nearly the same, and scores that are kept (`score_cache`) are found again.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from compendia.text.encode import Encoder

from .fit import NEW_SHARE
from .metric import ENOUGH_TOOLS
from .mixture import Array, bonus, log_shares, total
from .render import Card, render_card
from .rerank import DEFAULT_RERANK, Reranker, RerankWeights, check_scores
from .retrieve import Revision
from .score_cache import digest
from .typical import typical
from .worlds import Sample, World

CANDIDATES, NEAREST = 5, 3
REQUESTS = 48
"""Of either kind, for used and for unused tools: a minute or two of a small model, the first time."""

WORLDS = 2
PRIOR_MODEL, PRIOR_USED = 0.2, 0.01
"""Weights of the squared distances to the defaults, of the model's weight as a share. So few requests say
little of the model's weight, for retrieval was fitted on them too and looks better than it is. Chosen, and
topics rather than single tools, on held-out train rows of MetaTool and of ToolBench G3."""


@dataclass(frozen=True)
class Decision:
    """One request's candidates, (k,) each: retrieval and rerank scores about their mean, which look used, and
    which are right. new: whether the right ones look unused."""

    retrieval: Array
    rerank: Array
    used: NDArray[np.bool_]
    gold: NDArray[np.bool_]
    new: bool


def fit_rerank(revision: Revision, encoder: Encoder, reranker: Reranker) -> RerankWeights:
    """The weights for a snapshot; the defaults where it has too little experience. Raises RERANKER_FAILED."""
    if len(np.unique(revision.index.scenarios.owners)) < ENOUGH_TOOLS:
        return DEFAULT_RERANK
    sample = Sample(revision.index, encoder, revision.background)
    made = [decision for seed in range(WORLDS) for decision in _decisions(sample, seed, revision, reranker)]
    return fitted(made)


def fitted(made: list[Decision]) -> RerankWeights:
    """The weights under which the right candidates have most of the probability. Requests for unused tools
    together count NEW_SHARE, however many there are; without either kind, the defaults."""
    count = {new: sum(decision.new == new for decision in made) for new in (True, False)}
    if not all(count.values()):
        return DEFAULT_RERANK
    share = {True: NEW_SHARE / count[True], False: (1 - NEW_SHARE) / count[False]}

    def loss(point: Array) -> float:
        model, used = point
        value = PRIOR_MODEL * (model / DEFAULT_RERANK.model - 1) ** 2 + PRIOR_USED * used**2
        for each in made:
            scores = each.retrieval + model * each.rerank + used * each.used
            value -= share[each.new] * float(np.log(np.exp(log_shares(scores[None]))[0, each.gold].sum()))
        return float(value)

    start = np.asarray([DEFAULT_RERANK.model, DEFAULT_RERANK.used])
    found = minimize(loss, start, method="L-BFGS-B", bounds=[(0.0, None), (None, None)])
    return RerankWeights(*(round(float(value), 4) for value in found.x))


def _decisions(sample: Sample, seed: int, revision: Revision, reranker: Reranker) -> Iterator[Decision]:
    """Of one world: requests with right and wrong tools among the candidates, as many of either kind."""
    world = sample.world(seed, learned=True, topics=True)
    weights = revision.weights
    scores = total(world.documentation, weights.documentation) - weights.unlike * world.used
    scores = np.round(scores + bonus(world.documentation, world.experience, world.used, weights), 5)
    candidates = np.argsort(-scores, axis=1, kind="stable")[:, :CANDIDATES]
    right = np.take_along_axis(world.gold, candidates, axis=1)
    mixed = np.any(right, axis=1) & ~np.all(right, axis=1)
    drawn = sorted(range(len(sample.texts)), key=lambda at: digest(sample.texts[at]))
    for asked in (world.hidden, world.shown):
        for at in [at for at in drawn if mixed[at] and asked[at]][: REQUESTS // WORLDS]:
            cards = [_card(sample, world, revision, at, int(tool)) for tool in candidates[at]]
            found = check_scores(reranker.score(sample.texts[at], cards), len(cards))
            own = scores[at, candidates[at]]
            yield Decision(
                own - own.mean(),
                found - found.mean(),
                world.used[candidates[at]],
                right[at],
                bool(world.hidden[at]),
            )


def _card(sample: Sample, world: World, revision: Revision, at: int, tool: int) -> Card:
    """The card of a tool (its row) as this world knows it, for the request at a place of the sample."""
    scenarios = revision.index.scenarios
    rows = world.rows[scenarios.owners[world.rows] == tool]
    vectors = scenarios.vectors.vectors()[rows]
    nearest = rows[np.argsort(-(vectors @ sample.vectors[at]), kind="stable")[:NEAREST]]
    return render_card(
        revision.index.tools[tool],
        [scenarios.entries[row].record for row in nearest],
        typical=[scenarios.entries[row].text for row in rows[typical(vectors)]],
    )
