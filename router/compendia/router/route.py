"""The router: from a query to an executable plan, on one revision from start to end."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from compendia.contract import (
    CompendiaError,
    ErrorCode,
    PlannedStep,
    Ranking,
    Snapshot,
    StanceConflict,
    ToolPlan,
    check_plan,
)
from compendia.text.encode import Encoder
from compendia.text.spans import Span, Text

from .explain import explanation
from .query import EncodedQuery, encode_all, join, read_query, requests
from .rank import Ranked
from .render import Card, render_card
from .rerank import DEFAULT_RERANK, Reranker, RerankWeights, check_scores, combine
from .rerank_fit import fit_rerank
from .retrieve import Revision, load_revision
from .score_cache import CachedReranker
from .steps import near, plan_step
from .understand import clauses, sentences

_LOG = logging.getLogger(__name__)

SAME_TOPIC = 4
"""A part of a query becomes a step of its own only with a tool among the query's first four. With three, and
the ranker before it was fitted, that found 0.66 of ToolBench G3's tools at a precision of 0.73, and 6 % of
MetaTool's single-tool queries became several."""


class Router:
    """Answers queries from a snapshot. Every method may be called from many threads, `refresh` too."""

    def __init__(
        self,
        snapshot: Snapshot,
        encoder: Encoder,
        reranker: Reranker | None = None,
        *,
        scores: Path | None = None,
    ) -> None:
        """reranker: orders the k candidates by its scores beside retrieval's. scores: a file for its scores
        of the snapshot's own requests, by which its weight is fitted; of what people ask nothing is kept."""
        self.encoder = encoder
        self.reranker = reranker
        self._scores = scores
        self._refreshing = threading.Lock()
        self._revision = self._load(snapshot)

    @property
    def revision(self) -> Revision:
        """What queries that start now will see."""
        return self._revision

    def refresh(self, snapshot: Snapshot) -> int:
        """Swap in a snapshot; running queries end on the old one. Returns how many texts were encoded."""
        with self._refreshing:
            loaded = self._load(snapshot, self._revision)
            self._revision = loaded
        return loaded.index.encoded

    def _load(self, snapshot: Snapshot, previous: Revision | None = None) -> Revision:
        loaded = load_revision(snapshot, self.encoder, previous)
        if self.reranker is None:
            return loaded
        return replace(loaded, rerank=self._fitted(loaded, self.reranker))

    def _fitted(self, revision: Revision, reranker: Reranker) -> RerankWeights:
        """The default weights where the reranker fails, or its scores cannot be kept: queries go on."""
        try:
            asked = CachedReranker(reranker, self._scores) if self._scores else reranker
            return fit_rerank(revision, self.encoder, asked)
        except CompendiaError as fault:
            if fault.code not in (ErrorCode.RERANKER_FAILED, ErrorCode.SOURCE_UNREADABLE):
                raise
            _LOG.warning("until the next snapshot the reranker counts by default weights: %s", fault)
            return DEFAULT_RERANK

    def retrieve(self, query: str, k: int = 5) -> Ranking:
        """The k best tools, in the reranker's order if there is one. Raises EMPTY_QUERY, BAD_TEXT,
        RERANKER_FAILED."""
        revision = self._revision
        whole, (spoken,) = self._encoded(revision, read_query(query), sentences)
        return self._reranked(revision, whole, revision.rank(whole, k, spoken))

    def route(self, query: str, k: int = 5) -> ToolPlan:
        """An executable plan for the query, or an abstention that says why.

        Several steps where parts of the query point to different tools. A reranker that fails is left out,
        and the plan says so. Raises EMPTY_QUERY, BAD_TEXT.
        """
        revision = self._revision
        text = read_query(query)
        whole, (spoken, joined) = self._encoded(revision, text, sentences, clauses)
        ranked = revision.ranked(requests([[whole, *spoken], *([part] for part in joined)]))
        ranking = ranked.ranking(0, max(k, SAME_TOPIC))
        notes: list[str] = []
        made: list[tuple[PlannedStep, Ranking]] = []
        if refusal := _refusal(ranking):
            notes.append(refusal)
        else:
            parts = _parts(joined, ranked, ranking, k) or [(whole, _first(ranking, k))]
            ordered = [(part, self._noted(revision, part, found, notes)) for part, found in parts]
            made = self._steps(revision, ordered)
            notes.insert(0, _told([step for step, _ in made], ordered[0][1]))
        plan = ToolPlan(
            revision=revision.snapshot.revision,
            query=query,
            steps=tuple(step for step, _ in made),
            abstained=not made,
            why=" ".join(notes),
            rankings=tuple(found for _, found in made) or (_first(ranking, k),),
        )
        if problems := check_plan(plan, revision.excerpt(sorted({step.tool for step in plan.steps}))):
            raise CompendiaError(problems)
        return plan

    def explain(self, query: str, k: int = 5) -> dict[str, Any]:
        """Why `route` answers as it does (see `explanation`)."""
        return explanation(self.route(query, k))

    def _steps(
        self, revision: Revision, parts: list[tuple[EncodedQuery, Ranking]]
    ) -> list[tuple[PlannedStep, Ranking]]:
        """One step a part, by the first candidate of its ranking. Where the reranker brought two parts to one
        tool, it answers the first of them."""
        made: dict[str, tuple[PlannedStep, Ranking]] = {}
        for part, ranking in parts:
            tool = ranking.candidates[0].tool
            step = plan_step(revision, self.encoder, part, ranking, tool)
            if step is not None:
                made.setdefault(tool, (step, ranking))
        return list(made.values())

    def _encoded(
        self, revision: Revision, text: str, *splits: Callable[[str], tuple[Span, ...]]
    ) -> tuple[EncodedQuery, list[list[EncodedQuery]]]:
        """The text, and its parts for each way to split it; encoded in one batch."""
        parts = [split(text) for split in splits]
        distinct: list[Text] = list(dict.fromkeys([text, *(part for made in parts for part in made)]))
        alone = revision.index.documentation_alone
        known = dict(zip(distinct, encode_all(distinct, self.encoder, unmasked=alone), strict=True))
        return known[text], [[known[part] for part in made] for made in parts]

    def _reranked(self, revision: Revision, part: EncodedQuery, ranking: Ranking) -> Ranking:
        """The same candidates in the order of both scores together."""
        if self.reranker is None or len(ranking.candidates) < 2:
            return ranking
        cards = [_card(revision, part, candidate.tool) for candidate in ranking.candidates]
        scores = check_scores(self.reranker.score(part.text, cards), len(cards))
        used = [candidate.features["used"] > 0 for candidate in ranking.candidates]
        both = combine([c.score for c in ranking.candidates], scores, used, revision.rerank)
        ordered = sorted(range(len(cards)), key=lambda at: -both[at])
        chosen = [
            ranking.candidates[at].model_copy(update={"rerank_score": float(scores[at])}) for at in ordered
        ]
        weights = {**ranking.weights, **revision.rerank.flat()}
        return ranking.model_copy(update={"candidates": tuple(chosen), "weights": weights})

    def _noted(self, revision: Revision, part: EncodedQuery, ranking: Ranking, notes: list[str]) -> Ranking:
        try:
            return self._reranked(revision, part, ranking)
        except CompendiaError as fault:
            if fault.code is not ErrorCode.RERANKER_FAILED:
                raise
            notes.append(f"The reranker failed ({fault.problems[0].message}): order of retrieval.")
            return ranking


def _parts(
    parts: list[EncodedQuery], ranked: Ranked, ranking: Ranking, k: int
) -> list[tuple[EncodedQuery, Ranking]]:
    """The parts of a query that ask for tools of their own, in order; empty unless there are two.

    ranked: the whole query, whose ranking is given, then its parts.
    """
    topic = [candidate.tool for candidate in ranking.candidates[:SAME_TOPIC]]
    found: dict[str, list[int]] = {}
    for request in range(1, len(parts) + 1):
        best = ranked.first(request)
        if ranked.evidence[request] >= ranked.threshold and best in topic:
            found.setdefault(best, []).append(request)
    if len(found) < 2:
        return []
    # Of several parts for one tool, the last says how it ranks.
    return [(join([parts[at - 1] for at in asked]), ranked.ranking(asked[-1], k)) for asked in found.values()]


def _refusal(ranking: Ranking) -> str:
    """Why no tool should be called; empty where one fits."""
    if not ranking.candidates:
        return "Nothing fits: the snapshot holds no tool that can be compared with the query."
    if ranking.best_evidence >= ranking.threshold:
        return ""
    return (
        f"Nothing fits: the best evidence for any tool is {ranking.best_evidence:.2f}, "
        f"below the {ranking.threshold:.2f} that this catalog asks for. "
        f"The nearest tool is {ranking.candidates[0].tool}."
    )


def _told(steps: list[PlannedStep], ranking: Ranking) -> str:
    """What the plan comes to, and what its caller still has to give."""
    if not steps:
        return f"{ranking.candidates[0].tool} fits best, but declares no endpoint to call."
    missing = [
        f"{argument.name} of {step.tool}"
        for step in steps
        for argument in step.arguments
        if argument.required and argument.source == "missing"
    ]
    tools = (
        f"{len(steps)} tools answer parts of the query" if len(steps) > 1 else "One tool answers the query"
    )
    return f"{tools}. Still to be given: {', '.join(missing)}." if missing else f"{tools}."


def _first(ranking: Ranking, k: int) -> Ranking:
    return ranking.model_copy(update={"candidates": ranking.candidates[:k]})


def _card(revision: Revision, part: EncodedQuery, tool_id: str) -> Card:
    tool = revision.tool(tool_id)
    scenarios, precautions, disputes = near(revision, part, tool)
    nearest = [entry.record for entry, _ in (*scenarios, *precautions)]
    return render_card(
        tool,
        nearest,
        [entry.record for entry, _ in disputes if isinstance(entry.record, StanceConflict)],
        revision.index.scenarios.typical(revision.index.row[tool_id]),
    )
