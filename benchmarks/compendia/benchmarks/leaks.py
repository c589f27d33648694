"""Leaks: experience that a test query repeats is taken out before anything is measured. Pure.

A request leaks when a test query equals it after normalization (NFKC, case, punctuation and blanks), or when
their cosine is 0.95 or more; from 0.90 it is reported. The thresholds are the Synapse paper's.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from compendia.contract import ErrorCode, error

from .splits import Split

REMOVED_FROM = 0.95
REPORTED_FROM = 0.90
BLOCK = 1_024  # requests compared at a time, to bound memory


class Comparing(Protocol):
    """What is needed of an encoder: (n, d) rows of length 1."""

    def encode_queries(self, texts: Sequence[str]) -> NDArray[np.float32]: ...

    def encode_documents(self, texts: Sequence[str]) -> NDArray[np.float32]: ...


@dataclass(frozen=True)
class Leaks:
    """Requests, each once: those equal to a test query, those removed for their cosine, those near one."""

    equal: tuple[str, ...]
    removed: tuple[str, ...]
    near: tuple[str, ...]

    def counts(self) -> dict[str, int]:
        """How many there are of each kind, for a manifest."""
        return {"equal": len(self.equal), "removed": len(self.removed), "near": len(self.near)}


def normalized(text: str) -> str:
    """NFKC, case-folded, every run of other characters than letters and digits one blank.

    >>> normalized("What's ON, at  5?")
    'what s on at 5'
    """
    return " ".join(re.findall(r"[^\W_]+", unicodedata.normalize("NFKC", text).casefold()))


def find_leaks(requests: Sequence[str], queries: Sequence[str], encoder: Comparing) -> Leaks:
    """Which requests leak into the queries. Requests are compared as the encoder's documents."""
    distinct = list(dict.fromkeys(requests))
    asked = {normalized(query) for query in queries}
    equal = tuple(text for text in distinct if normalized(text) in asked)
    nearest = nearest_cosines(distinct, queries, encoder)
    known = set(equal)
    removed = tuple(
        text
        for text, near in zip(distinct, nearest, strict=True)
        if near >= REMOVED_FROM and text not in known
    )
    reported = tuple(
        text for text, near in zip(distinct, nearest, strict=True) if REPORTED_FROM <= near < REMOVED_FROM
    )
    return Leaks(equal, removed, tuple(text for text in reported if text not in known))


def nearest_cosines(
    requests: Sequence[str], queries: Sequence[str], encoder: Comparing
) -> NDArray[np.float64]:
    """The cosine of each request to the query nearest to it; -1 where there are no queries."""
    nearest = np.full(len(requests), -1.0)
    if not requests or not queries:
        return nearest
    told = encoder.encode_documents(list(requests))
    asked = encoder.encode_queries(list(dict.fromkeys(queries)))
    for start in range(0, len(told), BLOCK):
        nearest[start : start + BLOCK] = (told[start : start + BLOCK] @ asked.T).max(axis=1)
    return nearest


def without_leaks(split: Split, encoder: Comparing) -> tuple[Split, Leaks]:
    """The split without experience that leaks, and what was found.

    What is left is searched again: INTERNAL is raised if anything there still leaks.
    """
    queries = [query.text for query in split.queries]
    found = find_leaks([item.query for item in split.experience], queries, encoder)
    leaking = {*found.equal, *found.removed}
    clean = replace(split, experience=tuple(item for item in split.experience if item.query not in leaking))
    left = find_leaks([item.query for item in clean.experience], queries, encoder)
    if left.equal or left.removed:
        raise error(
            ErrorCode.INTERNAL, f"{len(left.equal) + len(left.removed)} requests still leak", "experience"
        )
    return clean, found
