"""When nothing fits: the evidence that any tool fits a query, against a threshold that each snapshot sets.

What speaks for a tool are `Signs`: how near the query is to its documentation and to its scenarios in
meaning (relative, see `calibrate`), and how many words query and tool, query and the tool's name have in
common (`coverage`). How near it is to tools of its field anywhere counts against it: one that fits must be
nearer. So do arguments that the tool requires and the request does not give. A logistic function with fitted
weights makes one number of them. Words may refuse a request only where they could have matched: if either
text is foreign, meaning alone may carry the evidence.

The weights come from `compendia bench run abstain --only 'weight/*'`: requests over small catalogs with
their tool present or hidden (ToolBench G3, MetaTool's train rows, Seal-Tools' dev file; no test query among
them). On catalogs of 1 to 10 of those tools, without experience, DEFAULT refuses 4 % of the requests whose
tool is there (MetaTool, described in a line, 8 %; Seal-Tools hardly any), and 41 % of those whose tool is
hidden: what is left is often a close neighbour. Where scenarios set the threshold, it is to refuse 5 %.

With each collection, and NESTFUL, left out of the fit in turn, 60 % are declined at 5 % false rejects;
without nearness to the tools of the field 56 %, without missing arguments 61 % (means of two draws). Those
tell where a request gives what its one call needs: on the half of BFCL's `multiple` that sets the threshold
there, with the right function taken away, they declined about ten points more. On BFCL, which no weight was
fitted on (but on that half the signs were chosen), it declines 72 % where the best cosine declines 60.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit

from compendia.contract import ToolMetadata
from compendia.text.tokenize import tokenize

from .arguments import lacking
from .calibrate import Background, relative
from .coverage import WordCoverage
from .index import HybridIndex, Matches
from .query import EncodedQuery, Requests, requests

Column = NDArray[np.float64]

MEANING, SCENARIO, SAID, NAMED, SENTENCE, USUAL, BIAS = 6.86, 2.04, 4.26, 1.86, -1.23, -7.42, -0.92
LACKING = -1.31
MEANING_ALONE, SCENARIO_ALONE, SENTENCE_ALONE, USUAL_ALONE, BIAS_ALONE = 10.49, 1.92, -0.51, -7.82, -1.04
FALSE_REJECTS = 0.05
SAME = 0.9999
"""Cosine from which on a scenario may be the text itself."""
ENOUGH_SCENARIOS = 20
MOST_SCENARIOS = 128
NULL_DEVIATIONS = 2.5
EXAMINED = 32
"""Of how many tools at most it is asked what a request lacks: a bound on time that few requests reach."""
DEFAULT = 0.14
"""Evidence that 5 % of those requests with their tool present fall short of."""
FLOOR = 0.05
_MAD_TO_DEVIATION = 1.4826


@dataclass(frozen=True)
class Signs:
    """For each part of a request and each tool, (p, m): relative similarity to its documentation and to its
    nearest scenario (0: none), its word coverage; and of the part, (p, 1), whether it is only a sentence of
    the request, for what is short is easily covered, and how near it lies to tools of its field anywhere
    (`Background.usual`). lacking: see `lacked`; `signs` leaves it at 0, for only the best tools are asked."""

    meaning: Column
    scenario: Column
    said: Column
    named: Column
    comparable: NDArray[np.bool_]
    sentence: Column
    usual: Column
    lacking: Column

    def of_tool(self, parts: slice, tool: int, lacking: float) -> Signs:
        """What some of the parts say about one tool that lacks so many arguments; every column (parts,)."""
        return Signs(
            self.meaning[parts, tool],
            self.scenario[parts, tool],
            self.said[parts, tool],
            self.named[parts, tool],
            self.comparable[parts, tool],
            self.sentence[parts, 0],
            self.usual[parts, 0],
            np.full(1, lacking),
        )


def signs(asked: Requests, matches: Matches, background: Background, words: WordCoverage) -> Signs:
    """What speaks for each of the tools that were found for `asked.queries`."""
    queries, parts = asked.queries, asked.parts
    covered = [words.of(query.text, query.tokens, matches.tools) for query in queries]
    return Signs(
        relative(matches.similarity, background.asked_levels(queries))[parts],
        np.maximum(0.0, relative(matches.scenario, background.masked_levels(queries)))[parts],
        np.stack([each.said for each in covered])[parts],
        np.stack([each.named for each in covered])[parts],
        np.stack([each.comparable for each in covered])[parts],
        asked.sentence[:, None].astype(np.float64),
        np.asarray([[background.usual(query)] for query in queries])[parts],
        np.zeros((1, 1)),
    )


def lacked(request: EncodedQuery, tool: ToolMetadata) -> float:
    """How many arguments that a tool requires a request does not give, by clause; none of what a part lacks.
    Of several calls that a request asks for, each may get them from another."""
    if request.part:
        return 0.0
    return lacking(tool.endpoints, request.text, request.values) / request.clauses


def evidence(found: Signs) -> Column:
    """The evidence for each tool, (p, m), between 0 and 1: the chance that it fits, where half of the
    requests have a tool that does."""
    # What holds for a whole part is added up first: it is one number where the rest is one a tool.
    both = BIAS + SENTENCE * found.sentence + USUAL * found.usual
    both = (
        both + MEANING * found.meaning + SCENARIO * found.scenario + SAID * found.said + NAMED * found.named
    )
    both = both + LACKING * found.lacking
    alone = BIAS_ALONE + SENTENCE_ALONE * found.sentence + USUAL_ALONE * found.usual
    alone = alone + MEANING_ALONE * found.meaning + SCENARIO_ALONE * found.scenario
    return np.asarray(expit(np.where(found.comparable, both, np.maximum(both, alone))), np.float64)


def best_evidence(
    asked: Requests,
    matches: Matches,
    background: Background,
    words: WordCoverage,
    tools: Sequence[ToolMetadata],
) -> Column:
    """The evidence for the best-supported tool of each request, (r,); 0 where there is no tool.

    tools: all of the index. What a tool lacks only takes evidence away, so they are asked from the best on.
    """
    found = signs(asked, matches, background, words)
    hoped = np.maximum.reduceat(evidence(found), asked.starts, axis=0)
    hoped = np.where(asked.of_any(matches.brought), hoped, 0.0)
    ends = [*asked.starts[1:], len(asked.parts)]
    best = np.zeros(len(ends))
    for request, (start, end) in enumerate(zip(asked.starts, ends, strict=True)):
        whole = asked.queries[asked.wholes[request]]
        for at in np.argsort(-hoped[request], kind="stable")[:EXAMINED]:
            if hoped[request, at] <= best[request]:
                break
            lacks = lacked(whole, tools[matches.tools[at]])
            told = (
                evidence(found.of_tool(slice(start, end), at, lacks)).max() if lacks else hoped[request, at]
            )
            best[request] = max(best[request], told)
    return np.asarray(best.round(5), np.float64)


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
    probes = requests([[probe] for probe in background.probes])
    found = best_evidence(probes, index.search(*probes.queries), background, words, index.tools)
    null = logit(np.clip(found, 1e-5, 1 - 1e-5))
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
    queries = []
    for row in np.linspace(0, len(index.scenarios) - 1, count).astype(int):
        text, vector = index.scenarios.entries[row].text, index.scenarios.vectors.vector(int(row))
        queries.append(EncodedQuery(text, text, vector, vector, tokenize(text)))
    asked = requests([[query] for query in queries])
    matches = index.search(*asked.queries)
    nearest = matches.scenario.copy()
    for row, place in np.argwhere(matches.brought & (nearest >= SAME)):
        query = asked.queries[row]
        others = index.scenarios.of_tool(query.vector, int(matches.tools[place]), 2)
        nearest[row, place] = max((near for entry, near in others if entry.text != query.text), default=-1.0)
    return best_evidence(asked, replace(matches, scenario=nearest), background, words, index.tools)
