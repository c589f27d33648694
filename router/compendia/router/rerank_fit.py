"""How much a reranker's scores count, fitted on the snapshot's own requests as the ranker is (`worlds`).

In worlds where whole topics look unused, the reranker is shown the best candidates by retrieval, with the
requests that are experience there, but without warnings. Conditional logit with the retrieval scores as they
are, and a penalty on the distance to the defaults. Scores that are kept (`score_cache`) are found again as
long as the same tools have been used; another one draws other topics.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import logsumexp

from compendia.contract import CompendiaError, ErrorCode
from compendia.text.encode import Encoder

from .fit import NEW_SHARE
from .metric import ENOUGH_TOOLS
from .mixture import Array, bonus, log_shares, total
from .render import Card, render_card
from .rerank import DEFAULT_RERANK, DIGITS, Reranker, RerankWeights, check_scores
from .retrieve import Revision
from .score_cache import digest
from .typical import typical
from .vectors import Rows
from .worlds import Sample, World

CANDIDATES, NEAREST = 5, 3
REQUESTS = 48
"""Of either kind, for used and for unused tools: a minute or two of a small model, the first time."""

WORLDS = 2
MOST_FAILED = 5
"""Answers of a reranker that may fail: one bad one in a hundred says nothing of the others."""
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
    made: list[Decision] = []
    failed = 0
    for asked in (asked for seed in range(WORLDS) for asked in _drawn(sample, seed, revision)):
        try:
            made.append(_decision(sample, asked, revision, reranker))
        except CompendiaError as fault:
            failed += 1
            if fault.code is not ErrorCode.RERANKER_FAILED or failed > MOST_FAILED:
                raise
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
            value -= share[each.new] * float(logsumexp(log_shares(scores[None])[0, each.gold]))
        return float(value)

    start = np.asarray([DEFAULT_RERANK.model, DEFAULT_RERANK.used])
    found = minimize(loss, start, method="L-BFGS-B", bounds=[(0.0, None), (None, None)])
    return RerankWeights(*(round(float(value), DIGITS) for value in found.x))


@dataclass(frozen=True)
class _Asked:
    """A request (its place in the sample) of a world, with its candidates (rows of tools) and their scores,
    (k,) each."""

    world: World
    at: int
    candidates: Rows
    scores: Array


def _drawn(sample: Sample, seed: int, revision: Revision) -> Iterator[_Asked]:
    """Of one world: requests with right and wrong tools among the candidates, as many of either kind."""
    world = sample.world(seed, learned=True, topics=True)
    weights = revision.weights
    scores = total(world.documentation, weights.documentation) - weights.unlike * world.used
    scores = np.round(scores + bonus(world.documentation, world.experience, world.used, weights), 5)
    candidates = np.argsort(-scores, axis=1, kind="stable")[:, :CANDIDATES]
    right = np.take_along_axis(world.gold, candidates, axis=1)
    mixed = np.any(right, axis=1) & ~np.all(right, axis=1)
    drawn = sorted(range(len(sample.texts)), key=lambda at: digest(sample.texts[at]))
    for kind in (world.hidden, world.shown):
        for at in [at for at in drawn if mixed[at] and kind[at]][: REQUESTS // WORLDS]:
            yield _Asked(world, at, candidates[at], scores[at, candidates[at]])


def _decision(sample: Sample, asked: _Asked, revision: Revision, reranker: Reranker) -> Decision:
    world, at, tools = asked.world, asked.at, asked.candidates
    cards = [_card(sample, world, revision, at, int(tool)) for tool in tools]
    found = check_scores(reranker.score(sample.texts[at], cards), len(cards))
    return Decision(
        asked.scores - asked.scores.mean(),
        found - found.mean(),
        world.used[tools],
        world.gold[at, tools],
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
