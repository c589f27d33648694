"""Plain baselines to compare the router with, pure but for the encoder that is passed in.

Each scores every tool of a corpus for every query. They are textbook pieces on purpose: if the router does
not beat them, its own machinery is not worth having.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from compendia.contract import ErrorCode, ToolMetadata, error

from .splits import Split

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


@dataclass(frozen=True)
class Material:
    """What an arm may read: judged names, a document for each, and experience as (request, place of its
    tool)."""

    names: tuple[str, ...]
    documents: tuple[str, ...]
    experience: tuple[tuple[str, int], ...] = ()


def material(split: Split) -> Material:
    """A split for the arms: tools that are judged as one are one, in order of the catalog."""
    tools: dict[str, list[ToolMetadata]] = {}
    for tool in split.documentation.tools:
        tools.setdefault(split.names[tool.id], []).append(tool)
    names = tuple(tools)
    place = {name: at for at, name in enumerate(names)}
    experience = tuple((item.query, place[split.names[item.tool]]) for item in split.experience)
    return Material(names, tuple(document(found) for found in tools.values()), experience)


def document(tools: Sequence[ToolMetadata]) -> str:
    """The tools as one text: title, category, description, then name and description of each endpoint.

    >>> from compendia.contract import Endpoint
    >>> get = Endpoint(name="get", title="Get", description="gets")
    >>> document([ToolMetadata(id="a/b/c", title="X", category="Data", endpoints=(get,))])
    'X. Data. Get: gets'
    """
    first = tools[0]
    head = [f"{part}." for part in (first.title, first.category) if part]
    described = [tool.description for tool in tools if tool.description]
    lines = [
        f"{endpoint.title}: {endpoint.description}"
        for tool in tools
        for endpoint in tool.endpoints
        if (endpoint.title, endpoint.description) != (tool.title, "")
    ]
    return " ".join([*head, *described, *lines])


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


def paper(material: Material, queries: Sequence[str], encoder: TextEncoder) -> Scores:
    """The Synapse paper's router: cosine to the description or to the nearest scenario, whichever is best."""
    scores = dense(material.documents, queries, encoder)
    if material.experience:
        nearest = dense([text for text, _ in material.experience], queries, encoder)
        for place in {place for _, place in material.experience}:
            own = [row for row, (_, at) in enumerate(material.experience) if at == place]
            scores[:, place] = np.maximum(scores[:, place], nearest[:, own].max(axis=1))
    return scores


def svm(material: Material, queries: Sequence[str], seed: int = 0) -> Scores:
    """The paper's control: TF-IDF (1-2-grams) and a linear SVM on the same labels, one class a used tool.

    A tool without experience is no class: it comes after all others. Raises USAGE without experience.
    """
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.svm import LinearSVC

    labels = np.array([place for _, place in material.experience])
    if len(set(labels.tolist())) < 3:
        raise error(ErrorCode.USAGE, "a classifier needs experience of three tools", "--arm", "leave svm out")
    vectorizer = TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True)
    known = vectorizer.fit_transform([text for text, _ in material.experience])
    classifier = LinearSVC(C=1.0, random_state=seed)
    with warnings.catch_warnings():
        # Seal-Tools has 1.3 requests a tool, and scikit-learn takes that many classes for a regression.
        warnings.filterwarnings("ignore", "The number of unique classes", UserWarning)
        classifier.fit(known, labels)
    margins = classifier.decision_function(vectorizer.transform(list(queries)))
    scores = np.full((len(queries), len(material.names)), margins.min() - 1.0)
    scores[:, classifier.classes_] = margins
    return scores


ARMS: dict[str, Callable[[Material, Sequence[str], TextEncoder], Scores]] = {
    "dense": lambda material, queries, encoder: dense(material.documents, queries, encoder),
    "bm25": lambda material, queries, _: bm25(material.documents, queries, words),
    "fusion": lambda material, queries, encoder: reciprocal_rank_fusion(
        dense(material.documents, queries, encoder), bm25(material.documents, queries, words)
    ),
    "bm25_split": lambda material, queries, _: bm25(material.documents, queries, pieces),
    "z_sum": lambda material, queries, encoder: z_sum(
        dense(material.documents, queries, encoder), bm25(material.documents, queries, pieces)
    ),
    "paper": paper,
    "svm": lambda material, queries, _: svm(material, queries),
}
"""Name to scorer. The first five read documentation alone."""

DOCUMENTATION_ARMS = ("dense", "bm25", "fusion", "bm25_split", "z_sum")


def rank_all(
    name: str, material: Material, queries: Sequence[str], encoder: TextEncoder, k: int
) -> list[list[str]]:
    """The first k tools of each query under one arm."""
    scores = ARMS[name](material, queries, encoder)
    order = np.argsort(-scores, axis=1, kind="stable")[:, :k]
    return [[material.names[index] for index in row] for row in order]


@cache
def _stop_words() -> frozenset[str]:
    from bm25s.stopwords import STOPWORDS_EN

    return frozenset(STOPWORDS_EN)
