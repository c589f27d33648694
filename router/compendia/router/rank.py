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

from compendia.contract import Candidate, Usage

from .calibrate import Background, relative
from .demands import Offers
from .evidence import Columns
from .index import Matches, Nearness
from .mixture import bonus, total
from .query import EncodedQuery
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
    """What one query says about some tools, (m,) a column: documentation, experience, and other signs."""

    documentation: Columns
    experience: Columns
    signs: Columns


def features(
    query: EncodedQuery,
    matches: Matches,
    background: Background,
    offered: Offers,
    reliabilities: NDArray[np.float64],
) -> Features:
    """The features of a query; `reliabilities` (n,) is per tool row."""
    level = background.level(query.masked_vector, query.masked)
    precaution = _above(matches.precaution, level)
    # A precaution that is disputed as well counts once.
    dispute = np.where(precaution > 0, 0.0, _above(matches.dispute, level))
    nearest = np.maximum(0.0, relative(matches.scenario.cosine, level))
    return Features(
        matches.documentation,
        {**matches.experience, "nearest_scenario": nearest},
        {
            "demands": offered.met(query.text, matches.tools),
            "precaution": precaution,
            "dispute": dispute,
            "reliability": reliabilities[matches.tools],
        },
    )


def score_weights(weights: Weights) -> dict[str, float]:
    """What each feature of a candidate is multiplied with; the products add up to its score."""
    return {**weights.documentation, "used": -weights.unlike, **SIGNS}


def candidates(
    tools: NDArray[np.object_],
    used: NDArray[np.bool_],
    whole: Features,
    sentences: Sequence[Features],
    k: int,
    weights: Weights,
) -> tuple[Candidate, ...]:
    """The k best of `tools` (their ids, ascending), best first; equal scores in the order of the ids.

    With sentences, documentation and signs of a tool are the mean of the whole query's and of its best
    sentence's. Scores are rounded, for the last bits of an inner product depend on where its row stands.
    """
    if len(tools) == 0:
        return ()
    documentation, signs = dict(whole.documentation), dict(whole.signs)
    if sentences:
        spoken = [total(part.documentation, weights.documentation) for part in sentences]
        best, rows = np.argmax(spoken, axis=0), np.arange(len(tools))
        for columns, kind in ((documentation, "documentation"), (signs, "signs")):
            for name in columns:
                said = np.stack([getattr(part, kind)[name] for part in sentences])[best, rows]
                columns[name] = (columns[name] + said) / 2
    added = bonus(_row(documentation), _row(whole.experience), used, weights)[0]
    columns = {**documentation, **signs, "used": used.astype(np.float64), "experience": added}
    columns = {name: np.round(column, 5) for name, column in columns.items()}
    score = np.round(total(columns, score_weights(weights)), 5)
    order = np.argsort(-score, kind="stable")[:k]
    shown = columns | {name: np.round(column, 5) for name, column in whole.experience.items()}
    return tuple(
        Candidate(
            tool=tools[at],
            score=float(score[at]),
            features={name: float(column[at]) for name, column in shown.items()},
        )
        for at in order
    )


def _row(columns: Columns) -> Columns:
    return {name: column[None, :] for name, column in columns.items()}


def _above(near: Nearness, level: float) -> NDArray[np.float64]:
    return np.maximum(0.0, relative(near.cosine, level) - NEAR) * near.weight
