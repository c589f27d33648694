"""The hybrid index over one snapshot: documentation by meaning and by words, experience by meaning.

`search` answers in *tools*: each tool once, whoever contributed to it. Rows stand in canonical order, so the
order in which entries arrived cannot change an answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from compendia.contract import Snapshot
from compendia.text.encode import Encoder
from compendia.text.tokenize import tokenize

from .evidence import (
    SHORTLIST,
    Asked,
    Columns,
    DocumentEvidence,
    ScenarioEvidence,
    ScenarioTerms,
    adapted_scores,
    flat_places,
    nearest_by_tool,
)
from .experience import Entry, ExperienceIndex, disputes, precautions, scenarios
from .lexical import LexicalIndex
from .metric import ENOUGH_TOOLS, learn, plain
from .query import EncodedQuery
from .reading import Reading, is_english, read_tools
from .vectors import HalfIndex, Rows, Scores, Vectors


@dataclass(frozen=True)
class Nearness:
    """For each query and tool, (queries, m): cosine to its nearest entry among the hits (-1: none), and its
    weight."""

    cosine: Scores
    weight: Scores


@dataclass(frozen=True)
class Matches:
    """What queries say about each of the tools that any of them brings up, by row, ascending, (m,); all other
    arrays are (queries, m).

    brought: whether the query itself brings the tool up. documentation, experience: the columns of
    `evidence`, of experience all but the nearest scenario, which `scenario` holds as a cosine; a used tool
    without a hit has that of the farthest hit. similarity: the cosine to the documentation.
    What a query says about a tool that it brings up does not depend on the other queries.
    """

    tools: Rows
    brought: NDArray[np.bool_]
    documentation: Columns
    experience: Columns
    similarity: Scores
    scenario: Scores
    precaution: Nearness
    dispute: Nearness


class HybridIndex:
    """Everything that is searched of one snapshot. Fixed once made; safe to search from many threads.

    previous: an index whose vectors are reused for texts that did not change, and all that is made from
    documentation if that did not. `encoded` counts the texts that went to the encoder all the same.
    """

    read: list[Reading]
    documents: HalfIndex
    lexical: LexicalIndex
    documented: DocumentEvidence

    def __init__(self, snapshot: Snapshot, encoder: Encoder, previous: HybridIndex | None = None) -> None:
        compendium = snapshot.compendium
        self.tools = tuple(sorted(compendium.tools, key=lambda tool: tool.id))
        self.ids = np.asarray([tool.id for tool in self.tools], object)
        self.row = {tool.id: row for row, tool in enumerate(self.tools)}
        self.fingerprint = encoder.fingerprint
        known = previous if previous is not None and previous.fingerprint == encoder.fingerprint else None
        self.encoded = 0
        self.read = read_tools(self.tools, {tool.tool.id: tool for tool in known.read} if known else None)
        if known is not None and known.tools == self.tools:
            self.documents, self.lexical, self.documented = known.documents, known.lexical, known.documented
        else:
            self.documents = HalfIndex(self._encode_documents(encoder, known))
            texts = [(text, row) for row, tool in enumerate(self.read) for text in tool.lexical]
            self.lexical = LexicalIndex([t for t, _ in texts], [row for _, row in texts], len(self.tools))
            self.documented = DocumentEvidence(self.read, self.documents.vectors(), self.lexical)
        lists = (scenarios(compendium), precautions(compendium), disputes(snapshot.conflicts, self.row))
        vectors = self._encode_experience(lists, encoder, known)
        self.scenarios, self.precautions, self.disputes = (
            self._experience(entries, vectors) for entries in lists
        )
        self._words = _words(self.scenarios.entries, known)
        self.heard = self.scenarios

    def judged(self, snapshot: Snapshot, encoder: Encoder) -> HybridIndex:
        """The index of the same snapshot without some of its scenarios. Their vectors are kept, for the next
        revision may listen to them again."""
        made = HybridIndex(snapshot, encoder, self)
        made.encoded, made.heard = self.encoded, self.heard
        return made

    def __len__(self) -> int:
        """Entries that were heard: descriptions, scenarios, precautions, disputes."""
        return len(self.tools) + len(self.heard) + len(self.precautions) + len(self.disputes)

    @property
    def documentation_alone(self) -> bool:
        """Whether there is nothing that was masked."""
        return len(self) == len(self.tools)

    def search(self, *queries: EncodedQuery) -> Matches:
        """What each of the queries says about every tool that any of them brings up.

        Brought up are the SHORTLIST tools with the best score of each kind, and whatever has experience near.
        """
        asked, metric = ask(queries), self.experienced.metric
        scores = self.documented.scores(asked)
        kinds = [raw for name, raw in scores.items() if name != "title_words"]
        if metric.learned:
            kinds.append(adapted_scores(asked, metric, self._adapted))
        scores["adapted_meaning"] = kinds[-1] if metric.learned else kinds[0]
        spoken = self.experienced.scores(asked)
        hits = [part.hits(asked.masked_vectors) for part in (self.scenarios, self.precautions, self.disputes)]
        brought = np.zeros((len(queries), len(self.tools)), bool)
        for row, of_query in enumerate(zip(*kinds, strict=True)):
            brought[row, _shortlist(of_query)] = True
        for _, owners, _ in hits:
            np.put_along_axis(brought, owners, True, axis=1)
        tools = np.flatnonzero(brought.any(axis=0))
        near, owners, _ = hits[0]
        nearest = nearest_by_tool(near, np.searchsorted(tools, owners), len(tools))
        return Matches(
            tools,
            brought[:, tools],
            self.documented.columns(asked, scores, tools),
            {name: raw[:, tools].astype(np.float64) for name, raw in spoken.items()},
            scores["description_meaning"][:, tools],
            np.where(self.experienced.used[tools], nearest, np.float32(-1.0)),
            *(_nearness(tools, *found) for found in hits[1:]),
        )

    def _encode_documents(self, encoder: Encoder, known: HybridIndex | None) -> Vectors:
        texts = [tool.document for tool in self.read]
        before = (tool.document for tool in known.read) if known else ()
        reusable = dict(zip(before, known.documents.vectors() if known else (), strict=True))
        made = self._missing(texts, reusable)
        if made:
            reusable.update(zip(made, encoder.encode_documents(made), strict=True))
        return _stacked([reusable[text] for text in texts], encoder.dimension)

    def _encode_experience(
        self, lists: Sequence[list[Entry]], encoder: Encoder, known: HybridIndex | None
    ) -> dict[str, Vectors]:
        # As documents, which an encoder's cache keeps for good; what people ask is kept nowhere.
        vectors: dict[str, Vectors] = {}
        for part in (known.heard, known.precautions, known.disputes) if known else ():
            vectors.update(zip((e.text for e in part.entries), part.vectors.vectors(), strict=True))
        made = self._missing([entry.text for entries in lists for entry in entries], vectors)
        if made:
            vectors.update(zip(made, encoder.encode_documents(made), strict=True))
        self._dimension = encoder.dimension
        return vectors

    @cached_property
    def terms(self) -> ScenarioTerms:
        """The words of the scenarios."""
        return ScenarioTerms(self._words)

    @cached_property
    def experienced(self) -> ScenarioEvidence:
        """What scenarios say. Made when first asked: `contested` looks at an index without searching it."""
        owners, vectors = self.scenarios.owners, self.scenarios.vectors.vectors()
        count, rows = len(self.tools), np.arange(len(owners))
        enough = len(np.unique(owners)) >= ENOUGH_TOOLS
        metric = learn(vectors, owners, count) if enough else plain(self._dimension)
        return ScenarioEvidence(vectors, owners, rows, count, self.terms, metric)

    @cached_property
    def _adapted(self) -> Vectors:
        return self.documented.under(self.experienced.metric)

    def _missing(self, texts: Sequence[str], reusable: dict[str, Vectors]) -> list[str]:
        made = [text for text in dict.fromkeys(texts) if text not in reusable]
        self.encoded += len(made)
        return made

    def _experience(self, entries: list[Entry], vectors: dict[str, Vectors]) -> ExperienceIndex:
        owners = np.asarray([self.row[entry.tool] for entry in entries], np.int64)
        stacked = _stacked([vectors[entry.text] for entry in entries], self._dimension)
        return ExperienceIndex(entries, owners, HalfIndex(stacked))


def ask(queries: Sequence[EncodedQuery]) -> Asked:
    """Queries as a batch."""
    return Asked(
        [query.words for query in queries],
        [q.words if q.masked == q.text else tokenize(q.masked) for q in queries],
        np.stack([query.vector for query in queries]),
        np.stack([query.masked_vector for query in queries]),
        np.asarray([is_english(query.text) for query in queries]),
    )


def _shortlist(scores: Sequence[Scores]) -> Rows:
    """Rows of the tools to look at for one query, ascending. scores: of all tools, each (tools,), those by
    meaning first. The SHORTLIST best of each are among them, but for tools that no word speaks for."""
    kept = np.zeros(len(scores[0]), bool)
    if len(kept) <= SHORTLIST:
        return np.arange(len(kept))
    kept[np.argpartition(scores[0], -SHORTLIST)[-SHORTLIST:]] = True
    for of_tools in scores[1:]:
        # Words leave most tools at 0, and equal numbers take long to part.
        found = np.flatnonzero(of_tools > 0)
        if len(found) > SHORTLIST:
            found = found[np.argpartition(of_tools[found], -SHORTLIST)[-SHORTLIST:]]
        kept[found] = True
    return np.flatnonzero(kept)


def _nearness(tools: Rows, scores: Scores, owners: Rows, weights: Scores) -> Nearness:
    shape = len(scores), len(tools)
    cosine, weight = np.full(shape, -1.0, np.float32), np.zeros(shape, np.float32)
    # Ascending, so that the nearest entry of a tool is written last; of equal ones, the heavier.
    order = np.lexsort((weights.ravel(), scores.ravel()))
    places = flat_places(np.searchsorted(tools, owners), len(tools))[order]
    cosine.flat[places], weight.flat[places] = scores.ravel()[order], weights.ravel()[order]
    return Nearness(cosine, weight)


def _words(entries: Sequence[Entry], known: HybridIndex | None) -> list[list[str]]:
    """The words of each entry's text; of texts that `known` has, as it has them."""
    before = dict(zip((e.text for e in known.scenarios.entries), known._words, strict=True)) if known else {}
    return [before[entry.text] if entry.text in before else tokenize(entry.text) for entry in entries]


def _stacked(vectors: list[Vectors], dimension: int) -> Vectors:
    return np.stack(vectors) if vectors else np.zeros((0, dimension), np.float32)
