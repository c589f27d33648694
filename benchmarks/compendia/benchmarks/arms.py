"""Plain baselines to compare the router with, pure but for the encoder that is passed in.

Each scores every tool of a corpus for every query. They are textbook pieces on purpose: if the router does
not beat them, its own machinery is not worth having.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from .datasets import ToolCorpus

Scores = NDArray[np.float64]
"""(queries, tools), higher is better."""

RRF_K = 60  # Cormack, Clarke & Buettcher, SIGIR 2009
_WORD = re.compile(r"\w\w+")
_PIECE = re.compile(r"[a-z0-9]+")
_CASE = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


class TextEncoder(Protocol):
    """What an arm needs of an encoder: (n, d) L2-normalised rows."""

    def encode_queries(self, texts: Sequence[str]) -> NDArray[np.float32]: ...

    def encode_documents(self, texts: Sequence[str]) -> NDArray[np.float32]: ...


def document(name: str, apis: Sequence[dict[str, Any]]) -> str:
    """A tool as one text: title, category, then name and description of each API.

    >>> api = {"tool_name": "X", "category_name": "Data", "api_name": "Get", "api_description": "gets"}
    >>> document("x", [api])
    'X. Data. Get: gets'
    """
    title, category = (apis[0]["tool_name"], apis[0]["category_name"]) if apis else (name, "")
    lines = " ".join(f"{api['api_name']}: {api['api_description']}" for api in apis)
    return f"{title}. {category}. {lines}"


def words(text: str) -> list[str]:
    """Lower-case words of two characters and more, English stop words left out."""
    return [word for word in _WORD.findall(text.lower()) if word not in _stop_words()]


def pieces(text: str) -> list[str]:
    """The same with identifiers split at case and punctuation.

    >>> pieces("getUserProfile by_id")
    ['get', 'user', 'profile', 'id']
    """
    return [piece for piece in _PIECE.findall(_CASE.sub(" ", text).lower()) if piece not in _stop_words()]


def dense(documents: Sequence[str], queries: Sequence[str], encoder: TextEncoder) -> Scores:
    """Cosine of query and document."""
    scores = encoder.encode_queries(queries) @ encoder.encode_documents(documents).T
    return scores.astype(np.float64)


def bm25(documents: Sequence[str], queries: Sequence[str], tokenize: Callable[[str], list[str]]) -> Scores:
    """BM25 (Lucene's form, k1 1.5, b 0.75, as bm25s has it)."""
    import bm25s

    index = bm25s.BM25()
    index.index([tokenize(text) for text in documents], show_progress=False)
    rows = []
    for query in queries:
        known = tokenize(query)
        rows.append(index.get_scores(known) if known else np.zeros(len(documents)))
    return np.asarray(rows, dtype=np.float64)


def reciprocal_rank_fusion(*parts: Scores) -> Scores:
    """Sum of 1 / (60 + rank) over the parts."""
    return np.asarray(sum(1.0 / (RRF_K + ranks(part)) for part in parts))


def z_sum(*parts: Scores) -> Scores:
    """Sum of the parts, each standardized per query over all tools."""
    return np.asarray(
        sum((p - p.mean(axis=1, keepdims=True)) / (p.std(axis=1, keepdims=True) + 1e-9) for p in parts)
    )


def ranks(scores: Scores) -> Scores:
    """Rank of each tool per query, from 1; ties in order of the corpus."""
    order = np.argsort(-scores, axis=1, kind="stable")
    found = np.empty_like(order)
    np.put_along_axis(found, order, np.arange(1, scores.shape[1] + 1)[None, :], axis=1)
    return found.astype(np.float64)


ARMS: dict[str, Callable[[Sequence[str], Sequence[str], TextEncoder], Scores]] = {
    "dense": dense,
    "bm25": lambda documents, queries, _: bm25(documents, queries, words),
    "fusion": lambda documents, queries, encoder: reciprocal_rank_fusion(
        dense(documents, queries, encoder), bm25(documents, queries, words)
    ),
    "bm25_split": lambda documents, queries, _: bm25(documents, queries, pieces),
    "z_sum": lambda documents, queries, encoder: z_sum(
        dense(documents, queries, encoder), bm25(documents, queries, pieces)
    ),
}
"""Name to scorer: documents, queries, encoder."""


def rank_all(
    name: str, corpus: ToolCorpus, queries: Sequence[str], encoder: TextEncoder, k: int
) -> list[list[str]]:
    """The first k tools of each query under one arm."""
    names = list(corpus.tools)
    documents = [document(tool, apis) for tool, apis in corpus.tools.items()]
    scores = ARMS[name](documents, queries, encoder)
    order = np.argsort(-scores, axis=1, kind="stable")[:, :k]
    return [[names[index] for index in row] for row in order]


@cache
def _stop_words() -> frozenset[str]:
    from bm25s.stopwords import STOPWORDS_EN

    return frozenset(STOPWORDS_EN)
