"""The masker: what is particular in a request becomes a typed placeholder, what it asks for stays.

It runs on what organizations send *and* on queries, so that both read alike and masking costs little. Two
steps, each linear in the text: quoted spans, then values. Masking a masked text changes nothing. Names of
people and places are not its business: they need a model.
"""

from __future__ import annotations

import re

from .quotes import quoted_spans
from .scripts import UNSPACED
from .spans import Edit, Span, edited, moved

TYPES = ("NUMBER", "DATE", "TIME", "EMAIL", "URL", "PHONE", "ID", "TEXT")
PLACEHOLDERS = tuple(f"<{name}>" for name in TYPES)
PLACEHOLDER = re.compile("|".join(PLACEHOLDERS))

PUBLIC_WORDS = [
    "mp3",
    "mp4",
    "mpeg4",
    "h264",
    "h265",
    "utf8",
    "utf-8",
    "utf-16",
    "base32",
    "base64",
    "md5",
    "sha1",
    "sha256",
    "sha512",
    "sha-256",
    "oauth2",
    "ipv4",
    "ipv6",
    "http2",
    "html5",
    "css3",
    "s3",
    "ec2",
    "k8s",
    "i18n",
    "l10n",
    "x86",
    "x64",
    "web2",
    "web3",
    "2d",
    "3d",
    "4k",
    "8k",
    "2fa",
    "b2b",
    "b2c",
    "p2p",
    "h2o",
    "co2",
    "no2",
    "so2",
    "o3",
    "pm10",
    "f1",
    "g7",
    "g20",
    "covid19",
    "covid-19",
    "v2",
    "v3",
    "q1",
    "q2",
    "q3",
    "q4",
    "a4",
    "a5",
    "360p",
    "480p",
    "720p",
    "1080p",
    "log4j",
    "neo4j",
    "ps4",
    "ps5",
    "3g",
    "4g",
    "5g",
]
"""Words with digits that everybody knows: they say what is asked for, not by whom."""

UNITS = [
    "km",
    "cm",
    "mm",
    "nm",
    "m",
    "mi",
    "ft",
    "in",
    "yd",
    "kg",
    "mg",
    "g",
    "lb",
    "lbs",
    "oz",
    "l",
    "ml",
    "c",
    "f",
    "k",
    "w",
    "kw",
    "mw",
    "kwh",
    "v",
    "a",
    "tb",
    "gb",
    "mb",
    "kb",
    "hz",
    "khz",
    "mhz",
    "ghz",
    "s",
    "ms",
    "min",
    "mins",
    "h",
    "hr",
    "hrs",
    "d",
    "px",
    "pt",
    "mph",
    "kmh",
    "bpm",
    "usd",
    "eur",
    "gbp",
    "jpy",
    "cny",
    "inr",
    "bn",
    "x",
    "st",
    "nd",
    "rd",
    "th",
]
"""What may follow a number without a blank and stays; an ordinal's ending is one too."""


def _any(words: list[str]) -> str:
    return "|".join(sorted(map(re.escape, words), key=len, reverse=True))


_W = rf"[^\W{UNSPACED}]"  # a letter or digit of a script that sets blanks
_LETTER = rf"[^\W\d{UNSPACED}]"
_L = rf"(?<!{_W})(?<!{_W}-)(?<!(?-i:[A-Z])>)(?<!(?-i:[A-Z])>-)"  # no word on the left, and no placeholder
_R = rf"(?!{_W})(?!-{_W})(?!<(?-i:[A-Z]))"
_IN_URL = rf"[^\s<>\"'`“”‘’«»{UNSPACED}]"
_LOCAL = rf"[^\W{UNSPACED}]++(?:[.+%-]{_W}++)*+"
_DOMAIN = rf"{_W}++(?:[.-]{_W}++)*+"
_TOP = (
    "com|org|net|io|dev|app|edu|gov|info|biz|co|ai|me|uk|de|fr|es|it|nl|ch|at|eu|ru|cn|jp|kr|in|br|au|ca|us"
)
_MONTH = (
    "(?:january|february|april|june|july|august|september|october|november|december"
    r"|(?:jan|feb|apr|jun|jul|aug|sept|sep|oct|nov|dec)\.?|(?-i:M(?:ay|arch|ar\.?)|MAY|MARCH|MAR))"
)
_DAY = r"\d{1,2}(?:st|nd|rd|th)?"

# Every repetition is possessive or bounded, and starts only where a word starts: no input backtracks far.
_AT_WORD_START = {
    "URL": rf"(?:https?|ftp|wss?)://{_IN_URL}++"
    rf"|(?<![.@])(?:[a-z0-9][a-z0-9-]{{0,62}}\.){{1,8}}(?:{_TOP})(?!{_W})(?:[/?]{_IN_URL}*+)?",
    "EMAIL": rf"(?<!{_W}[.+%])(?<!(?-i:[A-Z])>[.+%]){_LOCAL}@{_DOMAIN}",
    "DATE": r"(?:\d{4}(?P<a>[-/.])\d{1,2}(?P=a)\d{1,2}"
    r"(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:?\d\d)?)?"
    r"|\d{1,2}(?P<b>[-/.])\d{1,2}(?P=b)(?:\d{4}|\d\d)"
    rf"|{_DAY}(?:\sof)?\s{_MONTH}(?:,?\s\d{{4}})?|{_MONTH}\s{_DAY}(?:,?\s\d{{4}})?|{_MONTH}\s\d{{4}}){_R}",
    "TIME": r"(?:(?:[01]?\d|2[0-3]):[0-5]\d(?::[0-5]\d)?(?:\s?(?:[ap]m|[ap]\.m\.))?"
    rf"|(?:1[0-2]|0?[1-9])\s?(?:[ap]m|[ap]\.m\.)){_R}",
    "PHONE": r"(?:\+\d{1,3}(?:[ .()/-]{0,2}\d{1,4}){2,6}"
    rf"|(?:\(\d{{3}}\)\s?|\d{{3}}[ .-])\d{{3}}[ .-]\d{{4}}){_R}",
    "ADDRESS": r"(?:(?:\d{1,3}\.){3}\d{1,3}(?:[:/]\d{1,5})?"
    rf"|[0-9a-f]{{0,4}}(?::{{1,2}}[0-9a-f]{{1,4}}){{3,8}}){_R}",
    "HANDLE": rf"@{_LETTER}{_W}++",
    "NUMBER": r"[-+−]?\d{1,12}+(?:[.,:/'’]\d{1,12}+)*+(?:e[-+]?\d{1,4}+)?"
    rf"(?P<unit>(?:{_any(UNITS)})?+){_R}",
    "TOKEN": rf"(?={_LETTER}*+(?:-{_LETTER}++)*+-?\d){_W}++(?:-{_W}++)*+",
}
_ANYWHERE = {
    "KEEP": PLACEHOLDER.pattern,
    "PUBLIC": rf"(?<!{_W})(?:{_any(PUBLIC_WORDS)})(?!{_W})(?!-{_W})",
    "DAY": r"(?<!\d)(?:\d{2,4}年\d{1,2}月(?:\d{1,2}[日号])?|\d{1,2}月\d{1,2}[日号])",
}


def _group(kinds: dict[str, str]) -> str:
    return "|".join(f"(?P<{kind}>{pattern})" for kind, pattern in kinds.items())


_VALUE = re.compile(
    rf"{_group(_ANYWHERE)}|(?=[\w@:(+−-]){_L}(?:{_group(_AT_WORD_START)})|(?P<DIGITS>\d++)", re.IGNORECASE
)
_MAYBE = re.compile(r"[\d@:]|\.\w")
"""Without one of these there is no value to mask, and most requests have none."""

_PLACEHOLDER_OF = {"ADDRESS": "<ID>", "HANDLE": "<ID>", "DIGITS": "<NUMBER>", "DAY": "<DATE>"}


def mask(text: str) -> str:
    """The text with every number, date, address, identifier and quotation replaced by its placeholder.

    >>> mask("Convert 12.5 km for order AB-1234 and don't tell 'Ann Lee'")
    "Convert <NUMBER> km for order <ID> and don't tell <TEXT>"
    """
    return Masked(text).text


class Masked:
    """A text as `mask` makes it, in `text`, and where its parts stand in that."""

    def __init__(self, text: str) -> None:
        self._steps: list[list[Edit]] = []
        for find in (_quotations, _values):
            edits = find(text)
            text = edited(text, edits)
            self._steps.append(edits)
        self.text = text

    def span(self, part: Span) -> Span:
        """The same part of the masked text; of a value that it cuts it has the whole placeholder.

        >>> Masked("Say 'Hi. Bye' 3 times").span(Span("Say 'Hi. Bye' 3 times", 0, 8)).said
        'Say <TEXT>'
        """
        start, end = part.start, part.end
        for edits in self._steps:
            start, end = moved(start, edits, at_end=False), moved(end, edits, at_end=True)
        return Span(self.text, start, end)


def _quotations(text: str) -> list[Edit]:
    return [(start, end, "<TEXT>") for start, end in quoted_spans(text, PLACEHOLDERS)]


def _values(text: str) -> list[Edit]:
    if not _MAYBE.search(text):
        return []
    return [(*match.span(), _typed(match)) for match in _VALUE.finditer(text)]


def _typed(match: re.Match[str]) -> str:
    kind, found = str(match.lastgroup), match.group()
    if kind in {"KEEP", "PUBLIC"}:
        return found
    if kind == "URL":
        address = found.rstrip(".,;:!?)]}")
        return f"<URL>{found[len(address) :]}"
    if kind == "NUMBER":
        return f"<NUMBER>{match['unit']}"
    if kind == "TOKEN":
        return _mask_token(found)
    return _PLACEHOLDER_OF.get(kind, f"<{kind}>")


def _mask_token(token: str) -> str:
    """A word with digits: `top-10` keeps its word, `AB-1234` and `x9f3` are identifiers."""
    parts = token.split("-")
    digits = [part for part in parts if part.isdecimal()]
    words = [part for part in parts if not part.isdecimal()]
    plain = all(len(word) > 2 and word.isalpha() and (word.islower() or word.istitle()) for word in words)
    few = len(digits) == 1 if words else len(digits) <= 2
    if not (plain and few and all(len(part) <= 12 for part in digits)):
        return "<ID>"
    return "-".join("<NUMBER>" if part.isdecimal() else part for part in parts)
