"""Worlds to fit the ranker in, made from a snapshot alone: its scenarios become queries.

A fixed sample of the requests is held back and asked, whole and by sentences, as the router asks. In each of
a few worlds a quarter of the used tools lose all their experience besides, so that they look unused: drawn
one by one, or by topic, with every request that needed one of them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from compendia.text.encode import Encoder
from compendia.text.tokenize import tokenize

from .calibrate import Background
from .evidence import Asked, Columns, ScenarioEvidence, adapted_scores, standardized
from .experience import POOL
from .index import HybridIndex
from .metric import learn, plain, prototypes
from .understand import sentences
from .vectors import Rows, Scores

HIDDEN_TOOLS, HELD_REQUESTS, MOST_REQUESTS = 0.25, 0.25, 600
TOPICS = 4
"""Of how many topics the tools are that are hidden by topic."""


@dataclass(frozen=True)
class World:
    """Requests asked where some experience is hidden: columns (requests, tools) of documentation and of
    experience, and gold, the tools that served each.

    hidden, shown: requests all of whose tools look unused here, or used, (requests,). rows: the scenarios
    that are experience here, ascending.
    """

    documentation: Columns
    experience: Columns
    used: NDArray[np.bool_]
    gold: NDArray[np.bool_]
    hidden: NDArray[np.bool_]
    shown: NDArray[np.bool_]
    rows: Rows


class Sample:
    """The requests that are asked: `texts`, and their `vectors`. They are drawn by their digest, so that a
    revision which adds a few leaves the others as they were, and few sentences are new to the encoder's
    cache."""

    def __init__(self, index: HybridIndex, encoder: Encoder, background: Background) -> None:
        self._index = index
        texts, self._of_text = np.unique(
            np.asarray([entry.text for entry in index.scenarios.entries], object), return_inverse=True
        )
        most = min(MOST_REQUESTS, int(HELD_REQUESTS * len(texts)))
        chosen = sorted(range(len(texts)), key=lambda at: _digest(str(texts[at])))[:most]
        self._chosen = np.sort(np.asarray(chosen, np.int64))
        self._held = np.zeros(len(texts), bool)
        self._held[self._chosen] = True
        first = np.zeros(len(texts), np.int64)
        first[self._of_text[::-1]] = np.arange(len(self._of_text))[::-1]
        self.vectors = vectors = index.scenarios.vectors.vectors()[first[self._chosen]]
        self._levels = background.levels(vectors)[:, None]
        place = np.full(len(texts), -1, np.int64)
        place[self._chosen] = np.arange(most)
        asked_rows = np.flatnonzero(self._held[self._of_text])
        self._gold = np.zeros((most, len(index.tools)), bool)
        self._gold[place[self._of_text[asked_rows]], index.scenarios.owners[asked_rows]] = True
        self.texts = [str(texts[at]) for at in self._chosen]
        self._asked = _asked(self.texts, vectors)
        self._spoken = [sentences(text) for text in self.texts]
        flat = [part for parts in self._spoken for part in parts]
        self._parts = _asked([part.said for part in flat], encoder.encode_documents(flat))
        documented = index.documented
        self._documented = [documented.columns(a, documented.scores(a)) for a in (self._asked, self._parts)]

    def world(self, seed: int, *, learned: bool, topics: bool = False) -> World:
        """The world of a seed. learned: whether requests are compared under the metric of its experience.
        topics: whether whole topics are hidden."""
        owners, count = self._index.scenarios.owners, len(self._index.tools)
        hidden = self._hidden_topics(seed) if topics else self._hidden_tools(seed)
        silent = self._touching(hidden) if topics else hidden[owners]
        shown = np.flatnonzero(~silent & ~self._held[self._of_text])
        vectors = self._index.scenarios.vectors.vectors()[shown]
        metric = learn(vectors, owners[shown], count) if learned and len(shown) else plain(vectors.shape[1])
        spoken = ScenarioEvidence(vectors, owners[shown], shown, count, self._index.terms, metric)
        gold = self._gold
        documents = self._index.documented.under(metric)
        whole, parts = (
            {**columns, "adapted_meaning": standardized(adapted_scores(asked, metric, documents))}
            for asked, columns in zip((self._asked, self._parts), self._documented, strict=True)
        )
        cosines = _nearest(self._asked.masked_vectors @ vectors.T, owners[shown], count)
        nearest = (cosines - self._levels) / np.maximum(1e-6, 1 - self._levels)
        experience = {
            **spoken.columns(self._asked),
            "nearest_scenario": np.where(spoken.used, np.maximum(0.0, nearest), 0.0),
        }
        return World(
            self._heard(whole, parts),
            experience,
            spoken.used,
            gold,
            ~np.any(gold & ~hidden, axis=1),
            ~np.any(gold & hidden, axis=1),
            shown,
        )

    def _hidden_tools(self, seed: int) -> NDArray[np.bool_]:
        used = np.unique(self._index.scenarios.owners)
        hidden = np.zeros(len(self._index.tools), bool)
        hidden[np.random.default_rng(seed).permutation(used)[: int(len(used) * HIDDEN_TOOLS)]] = True
        return hidden

    def _hidden_topics(self, seed: int) -> NDArray[np.bool_]:
        """A topic is a tool that is drawn, and the tools whose requests are most like its own."""
        owners, vectors = self._index.scenarios.owners, self._index.scenarios.vectors.vectors()
        used = np.unique(owners)
        kinds = prototypes(vectors, owners, len(self._index.tools))[used]
        most = int(len(used) * HIDDEN_TOOLS)
        hidden = np.zeros(len(used), bool)
        for number, center in enumerate(np.random.default_rng(seed).permutation(len(used))[:TOPICS], start=1):
            likeness = np.where(hidden, -np.inf, kinds @ kinds[center])
            room = most * number // TOPICS - int(hidden.sum())
            hidden[np.argsort(-likeness, kind="stable")[:room]] = True
        return np.isin(np.arange(len(self._index.tools)), used[hidden])

    def _touching(self, hidden: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Which scenarios have the text of a request that a hidden tool served too, (scenarios,)."""
        touched = np.zeros(len(self._held), bool)
        touched[self._of_text[hidden[self._index.scenarios.owners]]] = True
        return touched[self._of_text]

    def _heard(self, whole: Columns, parts: Columns) -> Columns:
        """As in `rank.scored`: the mean of the whole request and of the sentence that speaks most. Here
        that goes by the plain sum of the columns in standard deviations, for there are no weights yet."""
        speaks = np.sum([column for name, column in parts.items() if name != "title_words"], axis=0)
        heard = {name: column.copy() for name, column in whole.items()}
        tools, start = np.arange(speaks.shape[1]), 0
        for row, spoken in enumerate(self._spoken):
            if spoken:
                best = start + np.argmax(speaks[start : start + len(spoken)], axis=0)
                for name, column in heard.items():
                    column[row] = (column[row] + parts[name][best, tools]) / 2
                start += len(spoken)
        return heard


def _asked(texts: Sequence[str], vectors: NDArray[np.float32]) -> Asked:
    words = [tokenize(text) for text in texts]
    return Asked(words, words, vectors, vectors, np.ones(len(words), bool))


def _digest(text: str) -> bytes:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()


def _nearest(cosines: Scores, owners: Rows, count: int) -> NDArray[np.float64]:
    """As `evidence.nearest_by_tool` over the POOL best hits, for many queries."""
    if cosines.shape[1] == 0:
        return np.full((len(cosines), count), -1.0)
    place = max(0, cosines.shape[1] - POOL)
    floor = np.partition(cosines, place, axis=1)[:, place : place + 1]
    starts = np.flatnonzero(np.diff(owners, prepend=-1))
    nearest = np.broadcast_to(floor, (len(cosines), count)).astype(np.float64)
    nearest[:, owners[starts]] = np.maximum(np.maximum.reduceat(cosines, starts, axis=1), floor)
    return nearest
