"""Texts as weighted words and pairs of words: TF-IDF vectors (Salton and Buckley 1988).

Weights are those of scikit-learn's `TfidfVectorizer` with `sublinear_tf`. Terms are numbers here, for tens of
thousands of requests are weighed anew at every load.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import chain, pairwise
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

Words = Sequence[str]


class TermIndex:
    """A vocabulary over texts, given as their words in order, and the texts' vectors (n, terms), length 1.

    Columns are sorted: a word, then its pairs with the words that follow it. A term's number is its word's
    place among all words times their count plus one, plus the place of its second word, from 1 on.
    """

    def __init__(self, texts: Sequence[Words]) -> None:
        words = sorted(set(chain.from_iterable(texts)))
        self._place = {word: place for place, word in enumerate(words)}
        self._base = len(words) + 1
        lengths = np.fromiter(map(len, texts), np.int64, len(texts))
        said = np.fromiter(map(self._place.__getitem__, chain.from_iterable(texts)), np.int64, lengths.sum())
        of_text = np.repeat(np.arange(len(texts)), lengths)
        follows = np.flatnonzero(of_text[1:] == of_text[:-1])
        terms = np.concatenate([said * self._base, said[follows] * self._base + said[follows + 1] + 1])
        rows = np.concatenate([of_text, of_text[follows]])
        known, columns = np.unique(terms, return_inverse=True)
        self._column = dict(zip(known.tolist(), range(len(known)), strict=True))
        counts = (np.ones(len(rows), np.float32), (rows, columns))
        vectors = scipy.sparse.csr_matrix(counts, shape=(len(texts), len(known)))
        vectors.sort_indices()
        holders = np.bincount(vectors.indices, minlength=len(known)).astype(np.float32)
        self._rarity = np.log(np.float32(len(texts) + 1) / (holders + np.float32(1))) + np.float32(1)
        vectors.data = (np.log(vectors.data) + 1) * self._rarity[vectors.indices]
        self.vectors: Any = _unit_rows(vectors) if len(known) else None

    def weigh(self, texts: Sequence[Words]) -> Any:
        """Vectors of other texts over the same vocabulary; zeros for words that it lacks. Not for an empty
        vocabulary.

        Built by hand, for the checks of a library take longer than a query's few words.
        """
        columns: list[int] = []
        values: list[NDArray[np.float32]] = []
        starts = [0]
        for text in texts:
            counts = Counter(self._columns_of(text))
            found = np.asarray(sorted(counts), np.int64)
            often = np.asarray([counts[int(term)] for term in found], np.float32)
            weights = np.asarray((np.log(often) + 1) * self._rarity[found], np.float32)
            columns.extend(found)
            values.append(np.asarray(weights / max(float(np.linalg.norm(weights)), 1e-12), np.float32))
            starts.append(len(columns))
        data = np.concatenate(values) if values else np.zeros(0, np.float32)
        return scipy.sparse.csr_matrix((data, columns, starts), shape=(len(texts), len(self._column)))

    def cosines(self, texts: Sequence[Words], columns: Any, count: int) -> NDArray[np.float32]:
        """Inner products of texts with `columns` (terms, count), sparse; zeros for an empty vocabulary."""
        if self.vectors is None or not texts:
            return np.zeros((len(texts), count), np.float32)
        return np.asarray((self.weigh(texts) @ columns).toarray(), np.float32)

    def _columns_of(self, text: Words) -> list[int]:
        """The columns of a text's words and pairs, as often as it says them, as far as they are known."""
        places = [self._place.get(word, -1) for word in text]
        terms = [place * self._base for place in places if place >= 0]
        terms += [a * self._base + b + 1 for a, b in pairwise(places) if a >= 0 and b >= 0]
        return [self._column[term] for term in terms if term in self._column]


def _unit_rows(vectors: scipy.sparse.csr_matrix) -> scipy.sparse.csr_matrix:
    """Rows of length 1, lengths summed in double precision; rows of zeros stay."""
    squares = (vectors.data**2).astype(np.float64)
    rows = np.repeat(np.arange(vectors.shape[0]), np.diff(vectors.indptr))
    lengths = np.sqrt(np.bincount(rows, weights=squares, minlength=vectors.shape[0]))
    vectors.data = (vectors.data / lengths[rows]).astype(np.float32)
    return vectors
