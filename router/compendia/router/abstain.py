"""When nothing fits: the best evidence for a query against a threshold that each snapshot sets for itself.

The evidence is the largest relative similarity (see `calibrate`) of the query to any tool's documentation or
to any scenario. The rule for the threshold, deterministic for a snapshot and an encoder:

1. *null*: the evidence of each probe, all of them requests that a catalog should not answer; their median
   plus 2.5 robust standard deviations (1.4826 x median absolute deviation), about the highest in forty.
   Median and MAD, because a broad catalog does answer a few probes.
2. *cap*: where there are scenarios enough to ask, not above the evidence that nineteen of twenty scenarios
   find when they are asked as queries with themselves left out.
3. *floor*: never below 0.1.

On MetaTool and ToolBench G3 cut to catalogs of 1 to 104 tools this keeps 97 % of the queries in scope and
refuses 97 % of the probes under MiniLM (92 and 98 % under e5); of requests for other tools of the same
collections, often close neighbours, it refuses half.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .calibrate import Background
from .index import HybridIndex, Matches
from .query import EncodedQuery

NULL_DEVIATIONS = 2.5
FLOOR = 0.1
ENOUGH_SCENARIOS = 20
MOST_SCENARIOS = 128
_MAD_TO_DEVIATION = 1.4826


def best_evidence(query: EncodedQuery, matches: Matches, background: Background) -> float:
    """The evidence that any tool fits the query; 0 where there is no tool."""
    if len(matches.tools) == 0:
        return 0.0
    best = float(max(matches.similarity.max(), matches.scenario.cosine.max()))
    return round(float(background.relative(best, query.vector, query.text)), 5)


def threshold(index: HybridIndex, background: Background) -> float:
    """The evidence below which a query is refused, by the rule above."""
    null = np.asarray(
        [best_evidence(probe, index.search(probe)[0], background) for probe in background.probes]
    )
    middle = float(np.median(null))
    deviation = _MAD_TO_DEVIATION * float(np.median(np.abs(null - middle)))
    level = middle + NULL_DEVIATIONS * deviation
    positives = _scenarios_as_queries(index, background)
    if len(positives) >= ENOUGH_SCENARIOS:
        level = min(level, float(np.quantile(positives, 0.05)))
    return round(max(level, FLOOR), 5)


def _scenarios_as_queries(index: HybridIndex, background: Background) -> NDArray[np.float64]:
    """Evidence that scenarios, evenly chosen, find for themselves without themselves."""
    count = min(len(index.scenarios), MOST_SCENARIOS)
    if count < ENOUGH_SCENARIOS:
        return np.zeros(0)
    found = []
    for row in np.linspace(0, len(index.scenarios) - 1, count).astype(int):
        text = index.scenarios.entries[row].text
        vector = index.scenarios.vectors.vector(int(row))
        documented = index.documents.search(vector, 1)[0][0]
        # The first hit is the scenario itself, or its equal.
        other = index.scenarios.vectors.search(vector, 2)[0][1]
        found.append(float(background.relative(float(max(documented, other)), vector, text)))
    return np.asarray(found)
