"""Ranking: experience adds evidence and never lends its absence.

The score of a tool is what its documentation says, what experience adds (`mixture`), and a few further signs:
a demand that it meets, how often it worked, and how near the query lies to what it should not be used for. A
precaution or dispute only takes away, from its own tool, and never vetoes. So what is known about other tools
cannot lower the score of a tool that nobody has used yet.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from compendia.contract import Candidate, Ranking, Usage

from .calibrate import Background, relative
from .demands import Offers
from .evidence import Columns
from .index import Matches, Nearness
from .mixture import bonus, total
from .query import EncodedQuery, Requests
from .weights import NEAR, Weights

SIGNS: Mapping[str, float] = {
    "experience": 1.0,
    "demands": 1.0,
    "precaution": -6.0,
    "dispute": -3.0,
    "reliability": 0.2,
}
"""Beside documentation, in nats: what experience adds; demands for a unit or licence that are met; how far
the nearest precaution (times severity) and dispute (times the share against) lie above NEAR; success rate
minus 1/2. But for the first, which is in nats, they are judgement."""


def reliability(usage: Usage | None) -> float:
    """Success rate of a tool minus one half, shrunk towards 0 by four imagined calls; 0 for no calls.

    Noised counts may be negative and count as 0.

    >>> reliability(None), round(reliability(Usage(tool="a/b/c", successes=96, failures=0)), 2)
    (0.0, 0.48)
    """
    if usage is None:
        return 0.0
    successes, failures = max(0, usage.successes), max(0, usage.failures)
    return (successes + 2) / (successes + failures + 4) - 0.5


@dataclass(frozen=True)
class Features:
    """What queries say about some tools, (queries, m) a column: documentation, experience, other signs."""

    documentation: Columns
    experience: Columns
    signs: Columns


@dataclass(frozen=True)
class Ranked:
    """Requests in a batch, each with the tools that its parts bring up.

    tools (m,): ids, ascending. scores (r, m): -inf for a tool that only other requests bring up. features:
    what makes the scores, (r, m) a column. evidence (r,): see `abstain`. weights: as a `Ranking` has them.
    """

    tools: NDArray[np.object_]
    scores: NDArray[np.float64]
    features: Columns
    evidence: NDArray[np.float64]
    threshold: float
    weights: Mapping[str, float]

    def first(self, request: int) -> str:
        """The best tool of a request that has any."""
        return str(self.tools[np.argmax(self.scores[request])])

    def ranking(self, request: int, k: int) -> Ranking:
        """The k best tools of a request, best first; equal scores in the order of the ids."""
        scores = self.scores[request]
        own = np.flatnonzero(scores > -np.inf)
        best = own[np.argsort(-scores[own], kind="stable")[:k]]
        shown = {name: np.round(column[request, best], 5) for name, column in self.features.items()}
        return Ranking(
            candidates=tuple(
                Candidate(
                    tool=self.tools[at],
                    score=float(scores[at]),
                    features={name: float(column[place]) for name, column in shown.items()},
                )
                for place, at in enumerate(best)
            ),
            best_evidence=float(self.evidence[request]),
            threshold=self.threshold,
            weights=dict(self.weights),
        )


def features(
    queries: Sequence[EncodedQuery],
    matches: Matches,
    background: Background,
    offered: Offers,
    reliabilities: NDArray[np.float64],
) -> Features:
    """The features of queries; `reliabilities` (n,) is per tool row."""
    level = background.masked_levels(queries)
    precaution = _above(matches.precaution, level)
    # A precaution that is disputed as well counts once.
    dispute = np.where(precaution > 0, 0.0, _above(matches.dispute, level))
    nearest = np.maximum(0.0, relative(matches.scenario, level))
    return Features(
        matches.documentation,
        {**matches.experience, "nearest_scenario": nearest},
        {
            "demands": np.stack([offered.met(query.text, matches.tools) for query in queries]),
            "precaution": precaution,
            "dispute": dispute,
            "reliability": np.broadcast_to(reliabilities[matches.tools], precaution.shape),
        },
    )


def score_weights(weights: Weights) -> dict[str, float]:
    """What each feature of a candidate is multiplied with; the products add up to its score."""
    return {**weights.documentation, "used": -weights.unlike, **SIGNS}


def scored(
    asked: Requests,
    found: Features,
    used: NDArray[np.bool_],
    among: NDArray[np.bool_],
    weights: Weights,
) -> tuple[NDArray[np.float64], Columns]:
    """The scores of tools, (r, m), and the features that make them. used (m,); among (r, m): the tools that
    each request is about.

    With sentences, documentation and signs of a tool are the mean of the whole query's and of its best
    sentence's. Scores are rounded, for the last bits of an inner product depend on where its row stands.
    """
    whole = asked.wholes
    documentation, signs, experience = (
        {name: column[whole] for name, column in said.items()}
        for said in (found.documentation, found.signs, found.experience)
    )
    for request, sentences in asked.spoken():
        spoken = total(
            {name: column[sentences] for name, column in found.documentation.items()}, weights.documentation
        )
        loudest = sentences[np.argmax(spoken, axis=0)], np.arange(len(used))
        for columns, said in ((documentation, found.documentation), (signs, found.signs)):
            for name, column in columns.items():
                column[request] = (column[request] + said[name][loudest]) / 2
    added = bonus(documentation, experience, used, weights, among)
    unlike = np.broadcast_to(used.astype(np.float64), added.shape)
    columns = {**documentation, **signs, "used": unlike, "experience": added}
    columns = {name: np.round(column, 5) for name, column in columns.items()}
    scores = np.round(total(columns, score_weights(weights)), 5)
    return np.where(among, scores, -np.inf), columns | experience


def _above(near: Nearness, level: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.maximum(0.0, relative(near.cosine, level) - NEAR) * near.weight
