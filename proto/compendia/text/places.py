"""Where the programs of a machine keep what can be made again: unpacked models, vectors and scores."""

from __future__ import annotations

import os
from pathlib import Path

CACHE_VARIABLE = "COMPENDIA_CACHE"


def cache_directory() -> Path:
    """$COMPENDIA_CACHE, else `compendia` in the user's cache directory (XDG base directories)."""
    if chosen := os.environ.get(CACHE_VARIABLE):
        return Path(chosen)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "compendia"


def vectors_file() -> Path:
    """One file for all programs, so that a text which several of them read is encoded once on a machine.

    Safe to share: it holds vectors and digests of documents, never a text and nothing of queries.
    """
    return cache_directory() / "vectors.sqlite"


def scores_file(vectors: Path | None = None) -> Path:
    """A reranker's scores of the requests that snapshots hold, by digests; nothing of what people ask. Beside
    the file of vectors."""
    return (vectors or vectors_file()).with_name("scores.sqlite")
