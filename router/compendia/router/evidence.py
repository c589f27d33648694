"""The evidence for every tool of a catalog, as columns: what documentation says and what experience says.

Each column is (queries, tools). The same code makes the columns of a query that is answered and of requests
that the ranker is fitted on (`fit`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from .lexical import LexicalIndex
from .metric import Metric, prototypes
from .reading import Reading
from .terms import TermIndex
from .vectors import Rows, Scores, Vectors, inner_products

Columns = Mapping[str, NDArray[np.float64]]
ALL = slice(None)

DOCUMENTATION = (
    "description_meaning",
    "adapted_meaning",
    "description_words",
    "description_phrases",
    "title_words",
)
"""Columns of documentation: cosine to the description, the same under the learned metric, BM25 as far as a
tool is documented in detail or a title is said (BRIEF), TF-IDF cosine of words and pairs (these four
`standardized`), and which share of a tool's title, weighted by rarity, the query says."""

BRIEF, FULL = 12, 28
"""Words of documentation up to which BM25 says nothing of a tool, and from which it counts in full; between
them by their logarithm. They are the medians of the two catalogs of the default weights, where it was worth
nothing and most: in a line of text a rare word matches by chance, and the shorter the line the more BM25
makes of it. Chosen on requests of MetaTool, ToolBench G3 and Seal-Tools among 30,000 tools.

In a catalog whose median tool is brief, no tool is favoured by its brevity: there BM25 counts for every
tool at least by the square of the greatest share of a title that the request says, less as the median tool
is documented in more detail. On 700 requests of Seal-Tools' dev file, which say titles, acc@1 of
documentation went from .907 to .933; MetaTool's, which seldom do, lost 0.4 points. Among long descriptions
it would favour brief ones: ToolBench G3's requests among 30,000 tools went from .738 to .696."""

SHORTLIST = 64
"""How many tools each kind of score brings up, and how many of its best set its scale. With 128 acc@1 of
`dev-mixed` was lower by 0.2 to 1.0 points from documentation alone and the same with experience, recall@5
higher by 0.1 to 0.5, and a plan took 6 % longer on one thread (mean of two pairs of runs)."""

OF_WORDS = frozenset({"description_words", "description_phrases", "title_words"})
"""The columns in which only words speak, none of meaning."""

EXPERIENCE = ("nearest_scenario", "prototype", "scenario_words")
"""Columns of experience: relative similarity to the nearest scenario, cosine to the mean of all under the
learned metric, and TF-IDF cosine to the words of all."""


@dataclass(frozen=True)
class Asked:
    """Queries in a batch: their words in order and their vectors (n, d), as asked and as masked, and whether
    each is in English as far as one can tell, (n,)."""

    words: Sequence[Sequence[str]]
    masked_words: Sequence[Sequence[str]]
    vectors: Vectors
    masked_vectors: Vectors
    english: NDArray[np.bool_]


class DocumentEvidence:
    """What the documentation of tools says. `vectors` (n, d) are those of their documents."""

    def __init__(self, read: Sequence[Reading], vectors: Vectors, lexical: LexicalIndex) -> None:
        texts = [tool.words for tool in read]
        lengths = np.asarray([len(text) for text in texts], np.float64)
        self.words = float(np.median(lengths)) if texts else 0.0
        self._detail = detail(lengths)
        self._brief = 1.0 - float(detail(np.asarray(self.words)))
        self._vectors = vectors
        self._lexical = lexical
        self._terms = TermIndex(texts)
        self._columns = self._terms.vectors.T.tocsr() if any(texts) else None
        self._titles = TitleWords([tool.title for tool in read], texts)

    def under(self, metric: Metric) -> Vectors:
        """The documents' vectors under a metric, (tools, d)."""
        return metric.project(self._vectors)

    def scores(self, asked: Asked) -> dict[str, Scores]:
        """The raw scores of all tools, (queries, tools), that become columns by `columns`."""
        cosines = inner_products(asked.vectors, self._vectors)
        words = np.zeros(cosines.shape, np.float32)
        for row, text in enumerate(asked.words):
            words[row] = self._lexical.owner_scores(sorted(set(text)))
        return {
            "description_meaning": cosines,
            "description_words": words,
            "description_phrases": self._terms.cosines(asked.words, self._columns, len(self._vectors)),
            "title_words": self._titles.said(asked.words),
        }

    def columns(self, asked: Asked, scores: Mapping[str, Scores], tools: Rows | slice = ALL) -> Columns:
        """The columns of some tools, the SHORTLIST best of each score among them, of the scores of all."""
        found = {
            name: raw[:, tools].astype(np.float64) if name == "title_words" else standardized(raw[:, tools])
            for name, raw in scores.items()
        }
        named = scores["title_words"].max(axis=1, initial=0.0, keepdims=True).astype(np.float64)
        found["description_words"] *= np.maximum(self._detail[tools], self._brief * named**2)
        known = self._known(asked)[:, None]
        return {name: found[name] * (known if name in OF_WORDS else 1.0) for name in found}

    def _known(self, asked: Asked) -> NDArray[np.float64]:
        """How much the words of each query count, (queries,): fully in English, and where the catalog knows
        half of them. Of a request in another language than the catalog's, the few that it happens to know
        point anywhere, so they count by the square of their share: over tools that are mostly documented in
        English this took acc@1 of Chinese requests from 0.40 to 0.72, of Spanish ones from 0.46 to 0.62."""
        distinct = [set(text) for text in asked.words]
        found = [sum(map(self._lexical.knows, words)) / max(1, len(words)) for words in distinct]
        share = np.asarray(found, np.float64)
        return np.where(asked.english | (share >= 0.5), 1.0, share**2)


def detail(words: NDArray[np.float64]) -> NDArray[np.float64]:
    """How far documentation of so many words is detailed, 0..1: see BRIEF and FULL.

    >>> detail(np.asarray([3.0, 12.0, 18.33, 28.0, 400.0])).round(2)
    array([0. , 0. , 0.5, 1. , 1. ])
    """
    return np.asarray(np.clip(np.log(np.maximum(words, 1) / BRIEF) / np.log(FULL / BRIEF), 0.0, 1.0))


class TitleWords:
    """The distinct words of each title, weighted by their inverse document frequency."""

    def __init__(self, titles: Sequence[Sequence[str]], texts: Sequence[Sequence[str]]) -> None:
        found: dict[str, int] = {}
        for text in texts:
            for word in set(text):
                found[word] = found.get(word, 0) + 1
        self._column = {word: at for at, word in enumerate(sorted({w for title in titles for w in title}))}
        weights = {
            word: float(np.log(1 + (len(texts) - found.get(word, 0) + 0.5) / (found.get(word, 0) + 0.5)))
            for word in self._column
        }
        rows, columns, values = [], [], []
        for row, title in enumerate(titles):
            distinct = sorted(set(title))
            total = sum(weights[word] for word in distinct)
            for word in distinct:
                rows.append(row)
                columns.append(self._column[word])
                values.append(weights[word] / total)
        shape = (len(self._column), len(titles))
        self._shares = scipy.sparse.csr_matrix((values, (columns, rows)), shape=shape)

    def said(self, texts: Sequence[Sequence[str]]) -> Scores:
        """The share of each title that each text says, (texts, titles), 0..1."""
        places = [[self._column[w] for w in sorted(set(text)) if w in self._column] for text in texts]
        starts = np.cumsum([0, *(len(found) for found in places)])
        columns = np.asarray([column for found in places for column in found], np.int64)
        said = scipy.sparse.csr_matrix(
            (np.ones(len(columns)), columns, starts), shape=(len(texts), len(self._column))
        )
        return np.asarray((said @ self._shares).toarray(), np.float32)


class ScenarioTerms:
    """The TF-IDF vectors of scenario texts, given as their words; `by_tool` sums those of each tool."""

    def __init__(self, texts: Sequence[Sequence[str]]) -> None:
        self.index = TermIndex(texts)

    def by_tool(self, rows: Rows, owners: Rows, count: int) -> scipy.sparse.csr_matrix:
        """(terms, count): the mean direction of the rows that each tool owns."""
        if self.index.vectors is None:
            return scipy.sparse.csr_matrix((0, count), dtype=np.float32)
        shape = (count, len(rows))
        member = scipy.sparse.csr_matrix(
            (np.ones(len(rows), np.float32), (owners, np.arange(len(rows)))), shape=shape
        )
        sums = member @ self.index.vectors[rows]
        lengths = np.sqrt(np.asarray(sums.multiply(sums).sum(axis=1)).ravel())
        scale = scipy.sparse.diags(1 / np.maximum(lengths, 1e-9)).astype(np.float32)
        return (scale @ sums).T.tocsr()


class ScenarioEvidence:
    """What scenarios say about tools 0..count-1; `owners` (n,) are ascending, `rows` those of `terms`."""

    def __init__(
        self, vectors: Vectors, owners: Rows, rows: Rows, count: int, terms: ScenarioTerms, metric: Metric
    ) -> None:
        self.metric = metric
        self.used = np.zeros(count, bool)
        self.used[owners] = True
        self._count = count
        self._terms = terms
        self._prototypes = prototypes(metric.project(vectors), owners, count)[self.used]
        self._columns = terms.by_tool(rows, owners, count)

    def scores(self, asked: Asked) -> dict[str, Scores]:
        """The raw scores of all tools, (queries, tools): EXPERIENCE but for the nearest scenario."""
        prototype = np.zeros((len(asked.masked_vectors), self._count), np.float32)
        prototype[:, self.used] = inner_products(self.metric.project(asked.masked_vectors), self._prototypes)
        return {
            "prototype": prototype,
            "scenario_words": self._terms.index.cosines(asked.masked_words, self._columns, self._count),
        }

    def columns(self, asked: Asked) -> Columns:
        """The scores as columns."""
        return {name: raw.astype(np.float64) for name, raw in self.scores(asked).items()}


def adapted_scores(asked: Asked, metric: Metric, documents: Vectors) -> Scores:
    """Cosines to the documents under a metric, (queries, tools); documents: their vectors under it."""
    return inner_products(metric.project(asked.vectors), documents)


def nearest_by_tool(hits: Scores, owners: Rows, count: int) -> Scores:
    """(queries, count): for each tool the best of the hits, (queries, hits), that it owns. A tool without a
    hit lies no nearer than the farthest of them, which is its value."""
    farthest = hits.min(axis=1, initial=1.0, keepdims=True) if hits.size else np.full((len(hits), 1), -1.0)
    nearest = np.repeat(farthest.astype(np.float32), count)
    np.maximum.at(nearest, flat_places(owners, count), hits.ravel())
    return nearest.reshape(len(hits), count)


def flat_places(columns: Rows, count: int) -> Rows:
    """Where entries of a matrix with `count` columns stand when it is flat; `columns` (rows, ...), by row."""
    return (columns + count * np.arange(len(columns))[:, None]).ravel()


def standardized(scores: Scores) -> NDArray[np.float64]:
    """Each row in standard deviations of its SHORTLIST best scores around their mean.

    The scale of what competes: most of a large catalog shares no word with a request, and the fewer do, the
    farther a single match would lie from the mean of all. Zeros where the best are all equal (one tool, or no
    word matches): such scores say nothing, and rounding must not blow them up.
    """
    if scores.shape[1] == 0:
        return scores.astype(np.float64)
    most = min(SHORTLIST, scores.shape[1])
    best = -np.partition(-scores, most - 1, axis=1)[:, :most]
    mean = best.mean(axis=1, keepdims=True, dtype=np.float64)
    deviation = best.std(axis=1, keepdims=True, dtype=np.float64)
    return np.where(deviation < 1e-6, 0.0, (scores - mean) / np.maximum(deviation, 1e-6))
