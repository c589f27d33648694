"""Scores kept on disk: a long evaluation can stop and go on, and a router that starts again need not ask for
what it fits a reranker's weight by."""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path

import numpy as np

from compendia.contract import CompendiaError, ErrorCode, error

from .render import Card
from .rerank import Reranker, Scores

_SCHEMA = """CREATE TABLE IF NOT EXISTS scores (
    reranker TEXT NOT NULL, card TEXT NOT NULL, query TEXT NOT NULL, score REAL NOT NULL,
    PRIMARY KEY (reranker, card, query)) WITHOUT ROWID"""


class CachedReranker:
    """A reranker that asks `inner` only for what the SQLite file at `path` does not know.

    Keyed by (fingerprint, card, query), for a listwise reranker by all the cards too. `scored` counts the
    cards that `inner` was asked for.
    """

    def __init__(self, inner: Reranker, path: Path) -> None:
        self._inner = inner
        self._path = path
        self.listwise = inner.listwise
        self.scored = 0
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as fault:
            raise _unusable(path, fault) from None
        with self._opened() as database:
            database.execute("PRAGMA journal_mode=WAL")
            database.execute(_SCHEMA)

    @contextmanager
    def _opened(self) -> Iterator[sqlite3.Connection]:
        try:
            with closing(sqlite3.connect(self._path, timeout=60)) as database, database:
                yield database
        except sqlite3.Error as fault:
            raise _unusable(self._path, fault) from None

    @property
    def fingerprint(self) -> str:
        """That of the reranker within."""
        return self._inner.fingerprint

    def score(self, query: str, cards: Sequence[Card]) -> Scores:
        """One score per card, durable before it is returned. Raises what the reranker within raises, and
        SOURCE_UNREADABLE where the file cannot be used."""
        own = [digest(f"{card.text}\0{card.brief}") for card in cards]
        others = " ".join(sorted(own)) if self.listwise else ""
        keys = [(self.fingerprint, digest(card + others) if others else card, digest(query)) for card in own]
        with self._opened() as database:
            known = {key: self._find(database, key) for key in keys}
            missing = {key: card for key, card in zip(keys, cards, strict=True) if known[key] is None}
            if missing:
                missing = dict(zip(keys, cards, strict=True)) if self.listwise else missing
                found = self._inner.score(query, list(missing.values()))
                self.scored += len(missing)
                rows = [(*key, float(score)) for key, score in zip(missing, found, strict=True)]
                database.executemany("INSERT OR REPLACE INTO scores VALUES (?, ?, ?, ?)", rows)
                known |= {(reranker, card, text): score for reranker, card, text, score in rows}
        return np.array([known[key] for key in keys], np.float64)

    @staticmethod
    def _find(database: sqlite3.Connection, key: tuple[str, str, str]) -> float | None:
        row = database.execute(
            "SELECT score FROM scores WHERE reranker = ? AND card = ? AND query = ?", key
        ).fetchone()
        return None if row is None else float(row[0])


def _unusable(path: Path, fault: Exception) -> CompendiaError:
    return error(
        ErrorCode.SOURCE_UNREADABLE,
        f"scores cannot be kept in {path}: {fault}",
        "scores",
        "remove the file, or name a directory that can be written in $COMPENDIA_CACHE",
    )


def digest(text: str) -> str:
    """SHA-256 of a text, 32 hex digits; lone surrogates have one too."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]
