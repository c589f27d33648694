"""Texts to words for lexical search: the same for queries, documentation and identifiers, in any script."""

from __future__ import annotations

import re
import unicodedata

from .mask import PLACEHOLDER
from .scripts import MARKS, UNSPACED

_RUN = re.compile(
    rf"(?P<unspaced>[{UNSPACED}]+)|[^\W\d_{UNSPACED}{MARKS}](?:[^\W\d_{UNSPACED}]|[{MARKS}])*|\d+"
)
_CASE = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


def tokenize(text: str) -> list[str]:
    """The words of a text in order, case-folded (NFKC), identifiers split at case, punctuation and digits.

    Scripts without blanks give character pairs (as Lucene's CJKBigramFilter), a single character itself.
    English plurals lose their ending (Harman 1991, the S stemmer). Placeholders are left out: that a number
    was there says nothing about which tool is meant. Linear in the text's length.

    >>> tokenize("getHTTPStatus of <NUMBER> user_ids"), tokenize("明天天气")
    (['get', 'http', 'status', 'of', 'user', 'id'], ['明天', '天天', '天气'])
    """
    words: list[str] = []
    for match in _RUN.finditer(unicodedata.normalize("NFKC", PLACEHOLDER.sub(" ", text))):
        run = match.group()
        if match.lastgroup == "unspaced":
            words.extend([run[i : i + 2] for i in range(len(run) - 1)] or [run])
        elif not run.isascii() or run.islower() or run.isdecimal():
            words.append(_singular(run.casefold()))
        else:
            words.extend(_singular(part.lower()) for part in _CASE.split(run))
    return words


def _singular(word: str) -> str:
    if len(word) < 4 or not word.endswith("s") or not word.isascii():
        return word
    if word.endswith("ies"):
        return word if word.endswith(("eies", "aies")) else word[:-3] + "y"
    return word if word.endswith(("us", "ss", "is")) else word[:-1]
