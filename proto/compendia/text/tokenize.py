"""Texts to words for lexical search: the same for queries, documentation and identifiers, in any script."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from .mask import PLACEHOLDER
from .scripts import MARKS, UNSPACED

MOST_KEPT = 32
"""Letters of a run whose words are kept."""

_RUN = re.compile(
    rf"(?P<unspaced>[{UNSPACED}]+)|[^\W\d_{UNSPACED}{MARKS}](?:[^\W\d_{UNSPACED}]|[{MARKS}])*|\d+"
)
_CASE = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


_FUNCTION_WORDS = """
a an the and or but nor so if then than as at by for from in into of off on onto out over to up with without
about after before between during through under until upon i me my mine myself we our ours ourselves you
your yours he him his she her hers it its itself they them their theirs this that these those there here who
whom whose which what when where why how am is are was were be been being do does did doing done have has
had having can could may might must shall should will would not no yes also just very too please let lets im
ive id thanks d ll m s t ve re don isn doesn
"""
FUNCTION_WORDS = frozenset(_FUNCTION_WORDS.split())
"""English words that carry no subject. In short documents they are rare, so word statistics do not sort them
out: leaving them out took BM25 from 0.667 to 0.764 (acc@1, 1,200 ToolBench G3 queries). There is no list for
other languages."""


def tokenize(text: str) -> list[str]:
    """The words of a text in order, case-folded (NFKC), identifiers split at case, punctuation and digits.

    A word split at case also stands whole, for people write `youtube`. Scripts without blanks give pairs of
    characters (as Lucene's CJKBigramFilter), a single character itself. English function words are left out
    unless in capitals (`WHO`), plurals lose their ending (Harman 1991, the S stemmer). Placeholders are left
    out: that a number was there says nothing about which tool is meant. Linear in the text's length.

    >>> tokenize("getHTTPStatus of <NUMBER> user_ids"), tokenize("明天天气")
    (['get', 'http', 'status', 'gethttpstatus', 'user', 'id'], ['明天', '天天', '天气'])
    """
    words: list[str] = []
    for match in _RUN.finditer(unicodedata.normalize("NFKC", PLACEHOLDER.sub(" ", text))):
        run = match.group()
        if match.lastgroup == "unspaced":
            words.extend([run[i : i + 2] for i in range(len(run) - 1)] or [run])
        else:
            words.extend(_words(run) if len(run) > MOST_KEPT else _kept_words(run))
    return words


def _words(run: str) -> tuple[str, ...]:
    """The words of a run of letters or digits."""
    parts = _CASE.split(run) if run.isascii() and not run.islower() else [run]
    kept = [
        _singular(word)
        for part in parts
        if (word := part.casefold()) not in FUNCTION_WORDS or (len(part) > 1 and part.isupper())
    ]
    return (*kept, _singular(run.casefold())) if len(parts) > 1 else tuple(kept)


_kept_words = lru_cache(maxsize=50_000)(_words)
"""In memory: a catalog says the same few thousand all the time."""


def _singular(word: str) -> str:
    if len(word) < 3 or not word.endswith("s") or not word.isascii():
        return word
    if word.endswith("ies") and len(word) > 4:
        return word if word.endswith(("eies", "aies")) else word[:-3] + "y"
    return word if word.endswith(("us", "ss", "is")) else word[:-1]
