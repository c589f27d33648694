"""Texts as weighted words and pairs of words: TF-IDF vectors (Salton and Buckley 1988), by scikit-learn."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray
from sklearn.feature_extraction.text import TfidfVectorizer

Words = Sequence[str]


class TermIndex:
    """A vocabulary over texts, given as their words in order, and the texts' vectors (n, terms), length 1."""

    def __init__(self, texts: Sequence[Words]) -> None:
        self._empty = not any(texts)
        self._vectorizer = TfidfVectorizer(analyzer=words_and_pairs, sublinear_tf=True, dtype=np.float32)
        self.vectors: Any = None if self._empty else self._vectorizer.fit_transform(texts)

    def weigh(self, texts: Sequence[Words]) -> Any:
        """Vectors of other texts over the same vocabulary; zeros for words that it lacks. Not for an empty
        vocabulary.

        As the vectorizer's own `transform`, whose checks take longer than a query's few words.
        """
        vocabulary, rarity = self._vectorizer.vocabulary_, self._vectorizer.idf_
        columns: list[int] = []
        values: list[NDArray[np.float32]] = []
        starts = [0]
        for text in texts:
            counts = Counter(vocabulary[term] for term in words_and_pairs(text) if term in vocabulary)
            found = np.asarray(sorted(counts), np.int64)
            often = np.asarray([counts[int(term)] for term in found], np.float32)
            weights = np.asarray((np.log(often) + 1) * rarity[found], np.float32)
            columns.extend(found)
            values.append(np.asarray(weights / max(float(np.linalg.norm(weights)), 1e-12), np.float32))
            starts.append(len(columns))
        data = np.concatenate(values) if values else np.zeros(0, np.float32)
        return scipy.sparse.csr_matrix((data, columns, starts), shape=(len(texts), len(vocabulary)))

    def cosines(self, texts: Sequence[Words], columns: Any, count: int) -> NDArray[np.float32]:
        """Inner products of texts with `columns` (terms, count), sparse; zeros for an empty vocabulary."""
        if self._empty or not texts:
            return np.zeros((len(texts), count), np.float32)
        return np.asarray((self.weigh(texts) @ columns).toarray(), np.float32)


def words_and_pairs(words: Words) -> list[str]:
    """
    >>> words_and_pairs(["tide", "at", "visby"])
    ['tide', 'at', 'visby', 'tide at', 'at visby']
    """
    return [*words, *(f"{first} {second}" for first, second in itertools.pairwise(words))]
