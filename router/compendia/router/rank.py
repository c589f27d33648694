"""Ranking: experience adds evidence and never lends its absence.

score = sum of weight x feature. Documentation speaks through two standardized similarities, which every
tool has. A scenario near the query can only add; a precaution or dispute near it only takes away, from its
own tool, and never vetoes. So what is known about other tools cannot lower the score of a tool that nobody
has used yet.

The features are plain numbers by name and the weights a table over the same names, so that fitted weights
can take the place of these.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from compendia.contract import Candidate, Usage

from .calibrate import Background, relative
from .demands import Offers
from .index import Matches, Nearness
from .query import EncodedQuery

Columns = Mapping[str, NDArray[np.float64]]
"""Feature name to its values, one a tool, (m,)."""

NEAR = 0.58
"""From which relative similarity on a request counts as near (cosine 0.6 under MiniLM)."""

WEIGHTS: Mapping[str, float] = {
    "description_meaning": 1.0,
    "description_words": 1.0,
    "demands": 1.0,
    "scenario": 12.0,
    "precaution": -12.0,
    "dispute": -6.0,
    "reliability": 0.2,
}
"""The weight of scenarios was chosen on ToolBench G3 training queries with the experience of 40 % of the
tools hidden; those of demands, precautions, disputes and reliability are judgement until they are fitted.
In order: two similarities to the documentation, in standard deviations over the catalog; demands for a unit
or licence that are met; how far the nearest scenario, precaution (times severity) and dispute (times the
share against) lie above NEAR; success rate minus 1/2."""


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


def features(
    query: EncodedQuery,
    matches: Matches,
    background: Background,
    offered: Offers,
    reliabilities: NDArray[np.float64],
) -> Columns:
    """One column (m,) per name of WEIGHTS for the tools found; `reliabilities` (n,) is per tool row."""
    level = background.level(query.masked_vector, query.masked)
    precaution = _above(matches.precaution, level)
    # A precaution that is disputed as well counts once.
    dispute = np.where(precaution > 0, 0.0, _above(matches.dispute, level))
    return {
        "description_meaning": matches.dense.astype(np.float64),
        "description_words": matches.lexical.astype(np.float64),
        "demands": offered.met(query.text, matches.tools),
        "scenario": _above(matches.scenario, level),
        "precaution": precaution,
        "dispute": dispute,
        "reliability": reliabilities[matches.tools],
    }


def candidates(
    tools: NDArray[np.object_],
    whole: Columns,
    sentences: Sequence[Columns],
    k: int,
    weights: Mapping[str, float] = WEIGHTS,
) -> tuple[Candidate, ...]:
    """The k best of `tools` (their ids, ascending), best first; equal scores in the order of the ids.

    With sentences, each feature of a tool is the mean of the whole query's and of its best sentence's. Scores
    are rounded, for the last bits of an inner product depend on where its row stands.
    """
    if len(tools) == 0:
        return ()
    columns = dict(whole)
    if sentences:
        best = np.argmax([_total(part, weights) for part in sentences], axis=0)
        for name in columns:
            spoken = np.stack([part[name] for part in sentences])
            columns[name] = (whole[name] + spoken[best, np.arange(len(tools))]) / 2
    columns = {name: np.round(column, 5) for name, column in columns.items()}
    total = np.round(_total(columns, weights), 5)
    order = np.argsort(-total, kind="stable")[:k]
    return tuple(
        Candidate(
            tool=tools[at],
            score=float(total[at]),
            features={name: float(column[at]) for name, column in columns.items()},
        )
        for at in order
    )


def _total(columns: Columns, weights: Mapping[str, float]) -> NDArray[np.float64]:
    return np.asarray(sum(weights[name] * column for name, column in columns.items()), np.float64)


def _above(near: Nearness, level: float) -> NDArray[np.float64]:
    return np.maximum(0.0, relative(near.cosine, level) - NEAR) * near.weight
