"""When nothing fits: the best evidence for a query against a threshold that each snapshot sets for itself.

The evidence is the largest relative similarity (see `calibrate`) of the query to any tool's documentation or
to any scenario. The rule for the threshold, deterministic for a snapshot and an encoder:

1. *null*: the evidence of each probe, all of them requests that a catalog should not answer; their median
   plus 2.5 robust standard deviations (1.4826 x median absolute deviation), about the highest in forty.
   Median and MAD, because a broad catalog does answer a few probes.
2. *floor*: not below 1.25 standard deviations of how probes resemble each other, so that a tiny catalog,
   which resembles nothing, does not take every sentence for its own.
3. *cap*: where there are scenarios enough to ask, not above the evidence that nineteen of twenty scenarios
   find when they are asked as queries with themselves left out; the floor still holds.

On MetaTool and ToolBench G3 cut to small catalogs this keeps 83 to 100 % of the queries in scope and refuses
93 to 100 % of the probes under MiniLM; requests for a neighbouring domain are refused only half the time.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .calibrate import Background
from .index import HybridIndex, Matches

NULL_DEVIATIONS = 2.5
FLOOR_DEVIATIONS = 1.25
ENOUGH_SCENARIOS = 20
MOST_SCENARIOS = 128
_MAD_TO_DEVIATION = 1.4826


def best_evidence(matches: Matches, background: Background) -> float:
    """The evidence that any tool fits the query; 0 where there is no tool."""
    if len(matches.tools) == 0:
        return 0.0
    cosines = np.maximum(matches.similarity, matches.scenario.cosine)
    return round(float(background.relative(cosines).max()), 5)


def threshold(index: HybridIndex, background: Background) -> float:
    """The evidence below which a query is refused, by the rule above."""
    null = np.asarray([best_evidence(index.search(probe)[0], background) for probe in background.probes])
    middle = float(np.median(null))
    deviation = _MAD_TO_DEVIATION * float(np.median(np.abs(null - middle)))
    level = middle + NULL_DEVIATIONS * deviation
    positives = _scenarios_as_queries(index, background)
    if len(positives) >= ENOUGH_SCENARIOS:
        level = min(level, float(np.quantile(positives, 0.05)))
    return round(max(level, FLOOR_DEVIATIONS * background.spread), 5)


def _scenarios_as_queries(index: HybridIndex, background: Background) -> NDArray[np.float64]:
    """Evidence that scenarios, evenly chosen, find for themselves without themselves."""
    count = min(len(index.scenarios), MOST_SCENARIOS)
    if count < ENOUGH_SCENARIOS:
        return np.zeros(0)
    vectors = index.scenarios.vectors.vectors()[np.linspace(0, len(index.scenarios) - 1, count).astype(int)]
    documented = [index.documents.search(vector, 1)[0][0] for vector in vectors]
    # The first hit is the scenario itself, or its equal.
    others = [index.scenarios.vectors.search(vector, 2)[0][1] for vector in vectors]
    return background.relative(np.maximum(documented, others))
