"""How much of a request a tool's documentation speaks of, and how much of a tool's name the request says.

Words of parameters and their values count as well: a request tells what it has to give. Only `abstain` reads
these shares. They are of no use for ranking, for a long documentation has more words by chance, but a request
whose words stand nowhere in a tool's documentation is rarely for that tool.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from .reading import Reading, is_foreign, letters
from .vectors import Rows

Shares = NDArray[np.float64]


@dataclass(frozen=True)
class Coverage:
    """For each tool asked about, (m,): said, the share of the request's words in its documentation; named, of
    the words of its name and an endpoint's those in the request, for the best endpoint; comparable, whether
    neither documentation nor request is foreign, so that having no word in common means something."""

    said: Shares
    named: Shares
    comparable: NDArray[np.bool_]


class WordCoverage:
    """The words of each tool, in the order they were read in. Fixed once made."""

    def __init__(self, read: Sequence[Reading]) -> None:
        self._documents = _Postings([tool.said for tool in read])
        self._names = _Postings([words for tool in read for words in tool.names])
        self._first_name = np.cumsum([0, *(len(tool.names) for tool in read)])[:-1]
        self._foreign = np.asarray([tool.foreign for tool in read], bool)

    def of(self, text: str, tokens: Sequence[str], rows: Rows) -> Coverage:
        """The coverage of a request, whose words are `tokens`, by the tools in `rows` (m,)."""
        words = letters(tokens)
        said = self._documents.counts(words)[rows] / max(1, len(words))
        shares = self._names.counts(words) / self._names.sizes
        named = np.maximum.reduceat(shares, self._first_name)[rows] if len(rows) else said
        return Coverage(said, named, ~self._foreign[rows] & (not is_foreign(text)))


class _Postings:
    """For each word the numbers of the texts that hold it."""

    def __init__(self, texts: Sequence[frozenset[str]]) -> None:
        sizes = np.fromiter(map(len, texts), np.int64, len(texts))
        self.sizes = np.maximum(1, sizes).astype(np.float64)
        number = {word: at for at, word in enumerate(set(chain.from_iterable(texts)))}
        words = np.fromiter(map(number.__getitem__, chain.from_iterable(texts)), np.int64, sizes.sum())
        holders = np.repeat(np.arange(len(texts)), sizes)[np.argsort(words, kind="stable")]
        ends = np.cumsum(np.bincount(words, minlength=len(number)))
        self._holders = dict(zip(number, np.split(holders, ends[:-1]), strict=True)) if number else {}

    def counts(self, words: Iterable[str]) -> NDArray[np.float64]:
        """How many of the words each text holds, (texts,)."""
        found = [self._holders[word] for word in words if word in self._holders]
        if not found:
            return np.zeros(len(self.sizes))
        return np.bincount(np.concatenate(found), minlength=len(self.sizes)).astype(np.float64)
