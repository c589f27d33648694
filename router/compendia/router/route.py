"""The router: from a query to an executable plan, on one revision from start to end."""

from __future__ import annotations

import threading
from collections.abc import Callable

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

from .query import EncodedQuery, encode_all, read_query
from .render import Card, render_card
from .rerank import Reranker, check_scores, combine
from .retrieve import Revision, load_revision
from .steps import near, plan_step
from .understand import clauses, sentences

SAME_TOPIC = 3
"""A part of a query becomes a step of its own only with a tool among the query's first three. On ToolBench G3
that found 0.66 of the tools at a precision of 0.73; on MetaTool's single-tool queries 6 % became several."""

RERANK_WEIGHT = 1.0


class Router:
    """Answers queries from a snapshot. Every method may be called from many threads, `refresh` too."""

    def __init__(
        self,
        snapshot: Snapshot,
        encoder: Encoder,
        reranker: Reranker | None = None,
        *,
        rerank_weight: float = RERANK_WEIGHT,
    ) -> None:
        """reranker: orders the k candidates by its scores, times `rerank_weight`, beside retrieval's."""
        self.encoder = encoder
        self.reranker = reranker
        self._rerank_weight = rerank_weight
        self._refreshing = threading.Lock()
        self._revision = load_revision(snapshot, encoder)

    @property
    def revision(self) -> Revision:
        """What queries that start now will see."""
        return self._revision

    def refresh(self, snapshot: Snapshot) -> int:
        """Swap in a snapshot; running queries end on the old one. Returns how many texts were encoded."""
        with self._refreshing:
            loaded = load_revision(snapshot, self.encoder, self._revision)
            self._revision = loaded
        return loaded.index.encoded

    def retrieve(self, query: str, k: int = 5) -> Ranking:
        """The k best tools, in the reranker's order if there is one. Raises EMPTY_QUERY, BAD_TEXT,
        RERANKER_FAILED."""
        revision = self._revision
        whole, *spoken = self._encoded(read_query(query), sentences)
        return self._reranked(revision, whole, revision.rank(whole, k, spoken))

    def route(self, query: str, k: int = 5) -> ToolPlan:
        """An executable plan for the query, or an abstention that says why.

        Several steps where parts of the query point to different tools. A reranker that fails is left out,
        and the plan says so. Raises EMPTY_QUERY, BAD_TEXT.
        """
        revision = self._revision
        text = read_query(query)
        whole, *spoken = self._encoded(text, sentences)
        ranking = revision.rank(whole, max(k, SAME_TOPIC), spoken)
        if refusal := _refusal(ranking):
            return self._checked(revision, query, (), (_first(ranking, k),), refusal)
        made: list[tuple[EncodedQuery, Ranking]] = self._parts(revision, text, ranking, k)
        notes: list[str] = []
        ordered = [
            (part, self._reranked_or_noted(revision, part, found, notes))
            for part, found in made or [(whole, _first(ranking, k))]
        ]
        steps = [
            plan_step(revision, self.encoder, part, found, found.candidates[0].tool)
            for part, found in ordered
        ]
        planned = tuple(step for step in steps if step is not None)
        if not planned:
            notes.insert(
                0, f"{ordered[0][1].candidates[0].tool} fits best, but declares no endpoint to call."
            )
        else:
            notes.insert(0, _told(planned))
        return self._checked(revision, query, planned, tuple(found for _, found in ordered), " ".join(notes))

    def _encoded(self, text: str, split: Callable[[str], tuple[str, ...]]) -> list[EncodedQuery]:
        """The text, then its parts if there are several, encoded in one batch."""
        parts = split(text)
        return encode_all([text, *parts] if len(parts) > 1 else [text], self.encoder)

    def _parts(
        self, revision: Revision, text: str, ranking: Ranking, k: int
    ) -> list[tuple[EncodedQuery, Ranking]]:
        """The parts of a query that ask for tools of their own, in order; empty unless there are two."""
        _, *parts = self._encoded(text, clauses)
        topic = [candidate.tool for candidate in ranking.candidates[:SAME_TOPIC]]
        found: dict[str, tuple[EncodedQuery, Ranking]] = {}
        for part in parts:
            own = revision.rank(part, k)
            best = own.candidates[0].tool
            if own.best_evidence >= own.threshold and best in topic:
                said = found[best][0].text + "; " + part.text if best in found else part.text
                found[best] = (part if best not in found else encode_all([said], self.encoder)[0], own)
        return list(found.values()) if len(found) > 1 else []

    def _reranked(self, revision: Revision, part: EncodedQuery, ranking: Ranking) -> Ranking:
        """The same candidates in the order of both scores together."""
        if self.reranker is None or len(ranking.candidates) < 2:
            return ranking
        cards = [_card(revision, part, candidate.tool) for candidate in ranking.candidates]
        scores = check_scores(self.reranker.score(part.text, cards), len(cards))
        both = combine([c.score for c in ranking.candidates], scores, self._rerank_weight)
        ordered = sorted(range(len(cards)), key=lambda at: -both[at])
        chosen = [
            ranking.candidates[at].model_copy(update={"rerank_score": float(scores[at])}) for at in ordered
        ]
        return ranking.model_copy(update={"candidates": tuple(chosen)})

    def _reranked_or_noted(
        self, revision: Revision, part: EncodedQuery, ranking: Ranking, notes: list[str]
    ) -> Ranking:
        try:
            return self._reranked(revision, part, ranking)
        except CompendiaError as fault:
            if fault.code is not ErrorCode.RERANKER_FAILED:
                raise
            notes.append(f"The reranker failed ({fault.problems[0].message}): order of retrieval.")
            return ranking

    @staticmethod
    def _checked(
        revision: Revision,
        query: str,
        steps: tuple[PlannedStep, ...],
        rankings: tuple[Ranking, ...],
        why: str,
    ) -> ToolPlan:
        """The plan, proved against its snapshot. Raises INVALID_PLAN, which is a fault of ours."""
        plan = ToolPlan(
            revision=revision.snapshot.revision,
            query=query,
            steps=steps,
            abstained=not steps,
            why=why,
            rankings=rankings,
        )
        if problems := check_plan(plan, revision.snapshot):
            raise CompendiaError(problems)
        return plan


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


def _told(steps: tuple[PlannedStep, ...]) -> str:
    missing = [
        f"{argument.name} of {step.tool}"
        for step in steps
        for argument in step.arguments
        if argument.required and argument.source == "missing"
    ]
    told = (
        "One tool answers the query." if len(steps) == 1 else f"{len(steps)} tools answer parts of the query."
    )
    return f"{told} Still to be given: {', '.join(missing)}." if missing else told


def _first(ranking: Ranking, k: int) -> Ranking:
    return ranking.model_copy(update={"candidates": ranking.candidates[:k]})


def _card(revision: Revision, part: EncodedQuery, tool_id: str) -> Card:
    tool = revision.tool(tool_id)
    scenarios, precautions, disputes = near(revision, part, tool)
    nearest = [entry.record for entry, _ in (*scenarios, *precautions)]
    return render_card(
        tool, nearest, [entry.record for entry, _ in disputes if isinstance(entry.record, StanceConflict)]
    )
