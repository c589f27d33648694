"""The hybrid index over one snapshot: documentation by meaning and by words, experience by meaning.

`search` answers in *tools*: each tool once, whoever contributed to it. Rows stand in canonical order, so the
order in which entries arrived cannot change an answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from compendia.contract import Snapshot
from compendia.text.encode import Encoder

from .documents import lexical_documents, tool_document
from .experience import POOL, Entry, ExperienceIndex, disputes, precautions, scenarios
from .lexical import LexicalIndex
from .query import EncodedQuery
from .vectors import HalfIndex, Rows, Scores, Vectors


@dataclass(frozen=True)
class Nearness:
    """For each tool found, (m,): cosine to its nearest entry among the hits (-1: none), and its weight."""

    cosine: Scores
    weight: Scores


@dataclass(frozen=True)
class Matches:
    """Tools that a search found, by row, each once, ascending; all arrays are (m,).

    dense, lexical: similarity to documentation in standard deviations over all tools. similarity: the cosine.
    """

    tools: Rows
    dense: Scores
    lexical: Scores
    similarity: Scores
    scenario: Nearness
    precaution: Nearness
    dispute: Nearness


class HybridIndex:
    """Everything that is searched of one snapshot. Fixed once made; safe to search from many threads.

    previous: an index whose vectors are reused for texts that did not change. `encoded` counts the texts that
    went to the encoder all the same.
    """

    def __init__(self, snapshot: Snapshot, encoder: Encoder, previous: HybridIndex | None = None) -> None:
        compendium = snapshot.compendium
        self.tools = tuple(sorted(compendium.tools, key=lambda tool: tool.id))
        self.ids = np.asarray([tool.id for tool in self.tools], object)
        self.row = {tool.id: row for row, tool in enumerate(self.tools)}
        self.fingerprint = encoder.fingerprint
        known = previous if previous is not None and previous.fingerprint == encoder.fingerprint else None
        self.encoded = 0
        self._document_texts = [tool_document(tool) for tool in self.tools]
        self.documents = HalfIndex(self._encode_documents(encoder, known))
        texts = [(text, row) for row, tool in enumerate(self.tools) for text in lexical_documents(tool)]
        self.lexical = LexicalIndex([t for t, _ in texts], [row for _, row in texts], len(self.tools))
        lists = (scenarios(compendium), precautions(compendium), disputes(snapshot.conflicts, self.row))
        vectors = self._encode_experience(lists, encoder, known)
        self.scenarios, self.precautions, self.disputes = (
            self._experience(entries, vectors) for entries in lists
        )

    def __len__(self) -> int:
        """Entries: descriptions, scenarios, precautions, disputes."""
        return len(self.tools) + len(self.scenarios) + len(self.precautions) + len(self.disputes)

    def search(self, *queries: EncodedQuery) -> list[Matches]:
        """What each of the queries says about every tool that any of them brings up."""
        words = [self.lexical.owner_scores(query.tokens) for query in queries]
        parts = (self.scenarios, self.precautions, self.disputes)
        hits = [[part.hits(query.masked_vector) for part in parts] for query in queries]
        found = [self.documents.search(query.vector, POOL)[1] for query in queries]
        found += [_best(scores, POOL) for scores in words]
        found += [owners for of_query in hits for _, owners, _ in of_query]
        tools = np.unique(np.concatenate(found)).astype(np.int64)
        return [
            self._matches(query, tools, scores, of_query)
            for query, scores, of_query in zip(queries, words, hits, strict=True)
        ]

    def _matches(
        self, query: EncodedQuery, tools: Rows, words: Scores, hits: list[tuple[Scores, Rows, Scores]]
    ) -> Matches:
        similarity = self.documents.scores(query.vector, tools)
        mean, deviation = self.documents.moments(query.vector)
        return Matches(
            tools,
            _standardized(similarity, mean, deviation),
            _standardized(words[tools], float(words.mean()), float(words.std())) if len(words) else words,
            similarity,
            *(_nearness(tools, *hit) for hit in hits),
        )

    def _encode_documents(self, encoder: Encoder, known: HybridIndex | None) -> Vectors:
        reusable = dict(zip(known._document_texts, known.documents.vectors(), strict=True)) if known else {}
        made = self._missing(self._document_texts, reusable)
        if made:
            reusable.update(zip(made, encoder.encode_documents(made), strict=True))
        return _stacked([reusable[text] for text in self._document_texts], encoder.dimension)

    def _encode_experience(
        self, lists: Sequence[list[Entry]], encoder: Encoder, known: HybridIndex | None
    ) -> dict[str, Vectors]:
        # As documents, which an encoder's cache keeps for good; what people ask is kept nowhere.
        vectors: dict[str, Vectors] = {}
        for part in (known.scenarios, known.precautions, known.disputes) if known else ():
            vectors.update(zip((e.text for e in part.entries), part.vectors.vectors(), strict=True))
        made = self._missing([entry.text for entries in lists for entry in entries], vectors)
        if made:
            vectors.update(zip(made, encoder.encode_documents(made), strict=True))
        self._dimension = encoder.dimension
        return vectors

    def _missing(self, texts: Sequence[str], reusable: dict[str, Vectors]) -> list[str]:
        made = [text for text in dict.fromkeys(texts) if text not in reusable]
        self.encoded += len(made)
        return made

    def _experience(self, entries: list[Entry], vectors: dict[str, Vectors]) -> ExperienceIndex:
        owners = np.asarray([self.row[entry.tool] for entry in entries], np.int64)
        stacked = _stacked([vectors[entry.text] for entry in entries], self._dimension)
        return ExperienceIndex(entries, owners, HalfIndex(stacked))


def _best(scores: NDArray[np.float32], k: int) -> Rows:
    """Rows of the k highest positive scores."""
    rows = np.argpartition(-scores, k - 1)[:k] if len(scores) > k else np.arange(len(scores))
    return rows[scores[rows] > 0].astype(np.int64)


def _standardized(scores: Scores, mean: float, deviation: float) -> Scores:
    # All equal (one tool, or no word matches): the scores say nothing, and rounding must not blow them up.
    if deviation < 1e-6:
        return np.zeros_like(scores)
    return np.asarray((scores - mean) / deviation, np.float32)


def _nearness(tools: Rows, scores: Scores, owners: Rows, weights: Scores) -> Nearness:
    places = np.searchsorted(tools, owners)
    cosine = np.full(len(tools), -1.0, np.float32)
    weight = np.zeros(len(tools), np.float32)
    # From the farthest to the nearest, so that the nearest is written last.
    cosine[places[::-1]], weight[places[::-1]] = scores[::-1], weights[::-1]
    return Nearness(cosine, weight)


def _stacked(vectors: list[Vectors], dimension: int) -> Vectors:
    return np.stack(vectors) if vectors else np.zeros((0, dimension), np.float32)
