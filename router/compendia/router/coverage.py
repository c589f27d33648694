"""How much of a request a tool's documentation speaks of, and how much of a tool's name the request says.

Words of parameters and their values count as well: a request tells what it has to give. Only `abstain` reads
these shares. They are of no use for ranking, for a long documentation has more words by chance, but a request
whose words stand nowhere in a tool's documentation is rarely for that tool.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from compendia.contract import Endpoint, ToolMetadata
from compendia.text.tokenize import FUNCTION_WORDS, tokenize

from .documents import endpoint_title, tool_document, tool_title
from .vectors import Rows

READ_CHARACTERS = 20_000
"""How much of a tool's documentation is read for its words."""

ENGLISH = 0.15
"""Share of English function words above which a text counts as English: prose has 0.3 to 0.5, other
languages, in which some of these words occur by chance (Spanish `a`, German `in`), up to about 0.1."""

_WORD = re.compile(r"[^\W\d_]+")

Shares = NDArray[np.float64]


@dataclass(frozen=True)
class Coverage:
    """For each tool asked about, (m,): said, the share of the request's words in its documentation; named, of
    the words of its name and an endpoint's those in the request, for the best endpoint; comparable, whether
    documentation and request are both English, so that having no word in common means something."""

    said: Shares
    named: Shares
    comparable: NDArray[np.bool_]


class WordCoverage:
    """The words of each tool, in the order of `tools`. Fixed once made."""

    def __init__(self, tools: Sequence[ToolMetadata]) -> None:
        self._documents = _Postings([_letters(tokenize(_all_words(tool))) for tool in tools])
        names = [[_letters(tokenize(name)) for name in _names(tool)] for tool in tools]
        self._names = _Postings([words for of_tool in names for words in of_tool])
        self._first_name = np.cumsum([0, *(len(of_tool) for of_tool in names)])[:-1]
        self._english = np.asarray([is_english(tool_document(tool)) for tool in tools], bool)

    def of(self, text: str, tokens: Sequence[str], rows: Rows) -> Coverage:
        """The coverage of a request, whose words are `tokens`, by the tools in `rows` (m,)."""
        words = _letters(tokens)
        said = self._documents.counts(words)[rows] / max(1, len(words))
        shares = self._names.counts(words) / self._names.sizes
        named = np.maximum.reduceat(shares, self._first_name)[rows] if len(rows) else said
        return Coverage(said, named, self._english[rows] & is_english(text))


class _Postings:
    """For each word the numbers of the texts that hold it."""

    def __init__(self, texts: Sequence[frozenset[str]]) -> None:
        self.sizes = np.asarray([max(1, len(words)) for words in texts], np.float64)
        holders: dict[str, list[int]] = {}
        for number, words in enumerate(texts):
            for word in words:
                holders.setdefault(word, []).append(number)
        self._holders = {word: np.asarray(numbers, np.int64) for word, numbers in holders.items()}

    def counts(self, words: Iterable[str]) -> NDArray[np.float64]:
        """How many of the words each text holds, (texts,)."""
        found = [self._holders[word] for word in words if word in self._holders]
        if not found:
            return np.zeros(len(self.sizes))
        return np.bincount(np.concatenate(found), minlength=len(self.sizes)).astype(np.float64)


def is_english(text: str) -> bool:
    """Whether enough of a text's words are English function words.

    >>> is_english("What is the weather in Oslo?"), is_english("¿Qué tiempo hace en Oslo?"), is_english("天")
    (True, False, False)
    """
    words = _WORD.findall(text.casefold())
    return sum(word in FUNCTION_WORDS for word in words) > ENGLISH * len(words)


def _letters(words: Iterable[str]) -> frozenset[str]:
    return frozenset(word for word in words if not word.isdecimal())


def _names(tool: ToolMetadata) -> Iterable[str]:
    """The tool's name with each endpoint's, or alone."""
    title = tool_title(tool)
    return [f"{title} {endpoint_title(endpoint)}" for endpoint in tool.endpoints] or [title]


def _all_words(tool: ToolMetadata) -> str:
    taken = (word for endpoint in tool.endpoints for word in _parameter_words(endpoint))
    return " ".join((tool_document(tool), *taken))[:READ_CHARACTERS]


def _parameter_words(endpoint: Endpoint) -> Iterable[str]:
    for parameter in endpoint.parameters:
        yield f"{parameter.name} {parameter.description}"
        yield from (str(value) for value in parameter.enum)
