"""Retrieval on one revision: what is fixed when a snapshot is loaded, and the ranking of a query."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from compendia.contract import (
    CallTemplate,
    Conflict,
    LicenceConflict,
    Precaution,
    Ranking,
    Snapshot,
    ToolMetadata,
    Usage,
)
from compendia.text.encode import Encoder

from .abstain import best_evidence, threshold
from .calibrate import Background
from .contested import contested, lost, without
from .coverage import WordCoverage
from .demands import Offers, offers
from .fit import fit
from .index import HybridIndex
from .query import EncodedQuery, Requests, requests
from .rank import Ranked, features, reliability, score_weights, scored
from .rerank import DEFAULT_RERANK, RerankWeights
from .vectors import Vectors
from .weights import Weights, default_weights

T = TypeVar("T")


@dataclass(frozen=True)
class Revision:
    """A loaded snapshot. Fixed, so that a query which holds it sees one revision from start to end.

    rerank: what a reranker counts, if there is one. endpoint_vectors keeps what `endpoints` has encoded; it
    is a memo and changes no answer.
    """

    snapshot: Snapshot
    index: HybridIndex
    background: Background
    words: WordCoverage
    weights: Weights
    threshold: float
    reliabilities: NDArray[np.float64]
    offered: Offers
    usage: Mapping[str, Usage]
    templates: Mapping[str, list[CallTemplate]]
    precautions: Mapping[str, list[Precaution]]
    conflicts: Mapping[str, list[Conflict]]
    aliases: Mapping[str, list[str]]
    licence_disputes: Mapping[str, list[LicenceConflict]]
    rerank: RerankWeights = DEFAULT_RERANK
    endpoint_vectors: dict[str, Vectors] = field(default_factory=dict)

    def tool(self, tool_id: str) -> ToolMetadata:
        """The snapshot's own record of a tool."""
        return self.index.tools[self.index.row[tool_id]]

    def templates_of(self, tool_id: str, endpoint: str) -> list[CallTemplate]:
        """Call templates of an endpoint, those of most organizations first."""
        return [t for t in self.templates.get(tool_id, []) if t.endpoint == endpoint]

    def excerpt(self, tools: Collection[str]) -> Snapshot:
        """The snapshot with what it says about a few tools alone: to check a plan against, at their cost."""
        said = self.snapshot.compendium
        shown = said.model_copy(
            update={
                "tools": tuple(self.tool(tool) for tool in tools),
                "templates": tuple(t for tool in tools for t in self.templates.get(tool, ())),
                "precautions": tuple(p for tool in tools for p in self.precautions.get(tool, ())),
            }
        )
        conflicts = tuple(c for tool in tools for c in self.conflicts.get(tool, ()))
        return self.snapshot.model_copy(update={"compendium": shown, "conflicts": conflicts})

    def ranked(self, asked: Requests) -> Ranked:
        """Requests with the scores of the tools that each brings up, whatever the others ask.

        Every feature of a request that has several sentences is the mean of what the whole text says and what
        the sentence says that speaks most for the tool: of three requests, each hides the others. On
        ToolBench G3 (docs only) this took recall@5 from 0.803 to 0.828, acc@1 from 0.814 to 0.818.
        """
        matches = self.index.search(*asked.queries)
        found = features(asked.queries, matches, self.background, self.offered, self.reliabilities)
        used = self.index.experienced.used[matches.tools]
        return Ranked(
            self.index.ids[matches.tools],
            *scored(asked, found, used, asked.of_any(matches.brought), self.weights),
            best_evidence(asked, matches, self.background, self.words, self.index.tools),
            self.threshold,
            {**self.weights.flat(), **score_weights(self.weights)},
        )

    def rank(self, query: EncodedQuery, k: int, sentences: Sequence[EncodedQuery] = ()) -> Ranking:
        """The k best tools for the query, each once, best first. sentences: of a query that has several."""
        return self.ranked(requests([[query, *sentences]])).ranking(0, k)

    def rank_each(self, queries: Sequence[EncodedQuery], k: int) -> list[Ranking]:
        """`rank` of several queries without sentences, in one batch."""
        ranked = self.ranked(requests([[query] for query in queries]))
        return [ranked.ranking(at, k) for at in range(len(queries))]


def load_revision(snapshot: Snapshot, encoder: Encoder, previous: Revision | None = None) -> Revision:
    """Index a snapshot. What `previous` has encoded with the same encoder is not encoded again.

    Scenarios that are contested count as far as `contested` says; the weights are fitted without them.
    """
    index, level = load_index(snapshot, encoder, previous)
    found = contested(index)
    if not found.rows:
        return _limited(_revision(snapshot, index, encoder, level), index)
    clean = HybridIndex(without(snapshot, found.claims), encoder, index)
    settled = _revision(snapshot, clean, encoder, level)
    judged = without(snapshot, lost(index, found, settled.rank_each), scenarios_alone=True)
    return _limited(settled, index.judged(judged, encoder))


def _limited(revision: Revision, index: HybridIndex) -> Revision:
    """The revision over an index, with the threshold that this sets."""
    return replace(revision, index=index, threshold=threshold(index, revision.background, revision.words))


def _revision(snapshot: Snapshot, index: HybridIndex, encoder: Encoder, level: Background) -> Revision:
    """A revision that refuses nothing (see `_limited`)."""
    words = WordCoverage(index.read)
    compendium = snapshot.compendium
    usage = {entry.tool: entry for entry in compendium.usage}
    reliabilities = np.asarray([reliability(usage.get(tool.id)) for tool in index.tools], np.float64)
    ordered = sorted(compendium.templates, key=lambda t: (-(t.support or 0), -t.count))
    return Revision(
        snapshot,
        index,
        level,
        words,
        fit(index, encoder, level, default_weights(index.documented.words)),
        0.0,
        reliabilities,
        offers(index.tools),
        usage,
        _by_tool((t.tool, t) for t in ordered),
        _by_tool((p.tool, p) for p in compendium.precautions),
        _by_tool((c.tool, c) for c in snapshot.conflicts),
        _by_tool((a.tool, str(a.value)) for a in compendium.annex if a.key == "concept_alias"),
        _by_tool((c.tool, c) for c in snapshot.conflicts if isinstance(c, LicenceConflict)),
    )


def load_index(
    snapshot: Snapshot, encoder: Encoder, previous: Revision | None = None
) -> tuple[HybridIndex, Background]:
    """The index of a snapshot and the encoder's background, with what can be reused of a revision."""
    index = HybridIndex(snapshot, encoder, previous.index if previous else None)
    same = previous is not None and previous.index.fingerprint == encoder.fingerprint
    return index, previous.background if previous is not None and same else Background(encoder)


def _by_tool(pairs: Iterable[tuple[str, T]]) -> Mapping[str, list[T]]:
    made: dict[str, list[T]] = defaultdict(list)
    for tool, item in pairs:
        made[tool].append(item)
    return dict(made)
