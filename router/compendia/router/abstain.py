"""When nothing fits: the evidence that any tool fits a query, against a threshold that each snapshot sets.

What speaks for a tool are `Signs`: how near the query is to its documentation and to its scenarios in meaning
(relative, see `calibrate`), and how many words query and tool, query and the tool's name have in common
(`coverage`). How near it is to tools of its field anywhere counts against it: one that fits must be nearer. A
logistic function with fitted weights makes one number of them. Words may refuse a request only where
they could have matched: if either text is foreign, meaning alone may carry the evidence.

The weights come from `compendia bench run abstain --only 'weight/*'`: requests over small catalogs with their
tool present or hidden (ToolBench G3, MetaTool's train rows, Seal-Tools' dev file; no test query among them).
On catalogs of 1 to 10 of those tools, without experience, DEFAULT refuses 5 % of the requests whose tool is
there (MetaTool, described in a line, 10 %; Seal-Tools none), and 42 % of those whose tool is hidden: what is
left is often a close neighbour. Where scenarios set the threshold, it is to refuse 5 %. What nearness to the
tools of the field adds depends on what is drawn: with each collection, and NESTFUL, left out of the fit in
turn, 60 % are declined at 5 % false rejects with it and 57 % without (mean of two draws; of two others, one
gained six points and one hardly any; when a catalog in which a tool fits had two tools at least).
On BFCL, which no weight was fitted on (earlier forms were seen there), it declines 63 % where the best cosine
declines 60.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit

from compendia.text.tokenize import tokenize

from .calibrate import Background, relative
from .coverage import WordCoverage
from .index import HybridIndex, Matches
from .query import EncodedQuery

Column = NDArray[np.float64]

MEANING, SCENARIO, SAID, NAMED, SENTENCE, USUAL, BIAS = 6.76, 2.05, 3.97, 1.77, -1.10, -7.11, -1.01
MEANING_ALONE, SCENARIO_ALONE, SENTENCE_ALONE, USUAL_ALONE, BIAS_ALONE = 10.49, 1.92, -0.51, -7.82, -1.04
FALSE_REJECTS = 0.05
SAME = 0.9999
"""Cosine from which on a scenario may be the text itself."""
ENOUGH_SCENARIOS = 20
MOST_SCENARIOS = 128
NULL_DEVIATIONS = 2.5
DEFAULT = 0.15
"""Evidence that 5 % of those requests with their tool present fall short of."""
FLOOR = 0.05
_MAD_TO_DEVIATION = 1.4826


@dataclass(frozen=True)
class Signs:
    """For each tool found, (m,): relative similarity to its documentation and to its nearest scenario (0:
    none), its word coverage; and of the query, whether it is only a sentence of the request, for what is
    short is easily covered, and how near it lies to tools of its field anywhere (`Background.usual`)."""

    meaning: Column
    scenario: Column
    said: Column
    named: Column
    comparable: NDArray[np.bool_]
    sentence: Column
    usual: Column


def signs(
    query: EncodedQuery,
    matches: Matches,
    background: Background,
    words: WordCoverage,
    *,
    sentence: bool = False,
) -> Signs:
    """What speaks for each tool that the query found. sentence: the query is one of several in a request."""
    covered = words.of(query.text, query.tokens, matches.tools)
    level = background.level(query.masked_vector, query.masked)
    return Signs(
        background.relative(matches.similarity, query.vector, query.text),
        np.maximum(0.0, relative(matches.scenario.cosine, level)),
        covered.said,
        covered.named,
        covered.comparable,
        np.full(len(matches.tools), float(sentence)),
        np.full(len(matches.tools), background.usual(query)),
    )


def evidence(found: Signs) -> Column:
    """The evidence for each tool, (m,), between 0 and 1: the chance that it fits, where half of the requests
    have a tool that does."""
    both = (
        BIAS
        + MEANING * found.meaning
        + SCENARIO * found.scenario
        + SAID * found.said
        + NAMED * found.named
        + SENTENCE * found.sentence
        + USUAL * found.usual
    )
    alone = (
        BIAS_ALONE
        + MEANING_ALONE * found.meaning
        + SCENARIO_ALONE * found.scenario
        + SENTENCE_ALONE * found.sentence
        + USUAL_ALONE * found.usual
    )
    return np.asarray(expit(np.where(found.comparable, both, np.maximum(both, alone))), np.float64)


def best_evidence(
    query: EncodedQuery,
    matches: Matches,
    background: Background,
    words: WordCoverage,
    *,
    sentence: bool = False,
) -> float:
    """The evidence for the best-supported tool; 0 where there is no tool. sentence: see `signs`."""
    found = signs(query, matches, background, words, sentence=sentence)
    return float(evidence(found).max(initial=0.0).round(5))


def threshold(index: HybridIndex, background: Background, words: WordCoverage) -> float:
    """The evidence below which a query is refused.

    Where there are scenarios enough to ask as queries, each without itself, 5 % of them find less than this:
    the false rejects to expect. Where there are not, DEFAULT, or as much as all but about one in forty of the
    probes find, if that is more: everyday requests that no catalog should answer (median plus 2.5 robust
    standard deviations, in logits; median and MAD, because a broad catalog does answer a few).
    """
    present = _scenarios_as_queries(index, background, words)
    if len(present) >= ENOUGH_SCENARIOS:
        return round(max(FLOOR, float(np.quantile(present, FALSE_REJECTS))), 5)
    found = [best_evidence(probe, index.search(probe)[0], background, words) for probe in background.probes]
    null = logit(np.clip(np.asarray(found, np.float64), 1e-5, 1 - 1e-5))
    middle = float(np.median(null))
    deviation = _MAD_TO_DEVIATION * float(np.median(np.abs(null - middle)))
    return round(max(DEFAULT, float(expit(middle + NULL_DEVIATIONS * deviation))), 5)


def _scenarios_as_queries(
    index: HybridIndex, background: Background, words: WordCoverage
) -> NDArray[np.float64]:
    """The evidence that scenarios, evenly chosen, find without themselves and their equals."""
    count = min(len(index.scenarios), MOST_SCENARIOS)
    if count < ENOUGH_SCENARIOS:
        return np.zeros(0)
    queries, found = [], []
    for row in np.linspace(0, len(index.scenarios) - 1, count).astype(int):
        text, vector = index.scenarios.entries[row].text, index.scenarios.vectors.vector(int(row))
        queries.append(EncodedQuery(text, text, vector, vector, tokenize(text)))
    scan = index.scan(queries)
    for query in queries:
        text, vector = query.text, query.vector
        matches = index.matches(scan, [query])[0]
        nearest = matches.scenario.cosine.copy()
        for place in np.flatnonzero(nearest >= SAME):
            others = index.scenarios.of_tool(vector, int(matches.tools[place]), 2)
            nearest[place] = max((cosine for entry, cosine in others if entry.text != text), default=-1.0)
        without = replace(matches, scenario=replace(matches.scenario, cosine=nearest))
        found.append(best_evidence(query, without, background, words))
    return np.asarray(found)
