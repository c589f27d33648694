"""What a query says, without a model: its parts, the values in it, the units it names. Pure and linear."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import date
from itertools import islice
from typing import Literal

from compendia.text.quotes import quoted_spans
from compendia.text.spans import Span

MOST_PARTS = 8

_AROUND = " ,，、"

_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|(?<=[;。！？；])\s*")
_CONNECTIVE = re.compile(
    r"[,，、]?\s*(?:并且|然后|以及|同时|另外|而且)\s*"
    r"|\s*[,，]?\s+(?:and then|and also|as well as|and|then|also|plus|und dann|und|et puis|et|y luego|y)\s+",
    re.IGNORECASE,
)

_MONTHS = (
    *("january", "february", "march", "april", "may", "june"),
    *("july", "august", "september", "october", "november", "december"),
)
_MONTH = "(?P<{0}>" + "|".join(f"{m[:3]}(?:{m[3:]})?" for m in _MONTHS) + ")"
_DATE = re.compile(
    r"(?<![\w-])(?P<y1>\d{4})-(?P<m1>\d{1,2})-(?P<d1>\d{1,2})(?![\w-])"
    r"|(?P<y2>\d{4})年(?P<m2>\d{1,2})月(?P<d2>\d{1,2})日"
    rf"|\b(?P<d3>\d{{1,2}})(?:st|nd|rd|th)?\.? (?:of )?{_MONTH.format('m3')},? (?P<y3>\d{{4}})\b"
    rf"|\b{_MONTH.format('m4')}\.? (?P<d4>\d{{1,2}})(?:st|nd|rd|th)?,? (?P<y4>\d{{4}})\b",
    re.IGNORECASE,
)
_DAY = re.compile(
    r"\b(?:today|tonight|tomorrow|yesterday)\b|今天|今晚|明天|后天|昨天"
    r"|\b(?:(?:this|next|last|coming) )?(?:monday|tuesday|wednesday|thursday|friday|saturday|sunday)\b"
    r"|\b(?:this|next|last|coming) (?:weekend|week|month|year)\b"
    rf"|\b\d{{1,2}}(?:st|nd|rd|th)? (?:of )?{_MONTH.format('m5')}\b"
    rf"|\b{_MONTH.format('m6')}\.? \d{{1,2}}(?:st|nd|rd|th)?(?!\w|[.,:]\d)",
    re.IGNORECASE,
)
_URL = re.compile(r"\bhttps?://[^\s<>\"'，。）)]{1,500}")
_EMAIL = re.compile(r"(?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63})+")
_IDENTIFIER = re.compile(
    r"(?<![\w-])(?=[\w-]{0,40}\d)(?=[\w-]{0,40}[A-Z])[A-Z0-9][A-Za-z0-9_-]{2,40}(?![\w-])", re.ASCII
)
_NUMBER = re.compile(r"(?<![\w.,-])-?(?:\d{1,3}(?:,\d{3})+|\d{1,15})(?:\.\d{1,15})?(?![\d])(?!-\d)", re.ASCII)
_NAME = re.compile(
    r"(?<!\w)[^\W\d_a-z][\w'’-]*(?: (?:de|la|of|the|am|upon) (?=[^\W\d_a-z])| (?=[^\W\d_a-z])[\w'’-]+){0,4}"
)

Kind = Literal["quoted", "date", "day", "url", "email", "identifier", "number", "name"]


@dataclass(frozen=True)
class Value:
    """Something particular in a text, which stands at [start, end); `unit` after a number, canonical. A "day"
    tells a date only to who knows what day it is."""

    kind: Kind
    text: str
    start: int
    end: int
    unit: str = ""


def sentences(text: str) -> tuple[Span, ...]:
    """The sentences of a query that has several, at most MOST_PARTS.

    >>> [part.said for part in sentences("Find a hotel. What is the weather; any alerts?")]
    ['Find a hotel.', 'What is the weather;', 'any alerts?']
    """
    return _several(_sentences(text))


def clauses(text: str) -> tuple[Span, ...]:
    """The sentences, cut further where a word such as "and", "then" or "然后" joins two requests.

    That a clause is a request of its own is for its evidence to say, not for its grammar.

    >>> [part.said for part in clauses("Get the rate of EUR and then book a flight to Oslo")]
    ['Get the rate of EUR', 'book a flight to Oslo']
    >>> [(part.start, part.end) for part in clauses("查询上海天气然后翻译成英文")]
    [(0, 6), (8, 13)]
    """
    whole = (Span(text, 0, len(text)),)
    return _several(_spoken(part for each in _sentences(text) or whole for part in _cut(each, _CONNECTIVE)))


def values(text: str) -> tuple[Value, ...]:
    """Everything particular in the text, in order, not overlapping.

    >>> [(v.kind, v.text, v.unit) for v in values("Convert 12.5 km on 2026-12-03 for 'Ann Lee' in Oslo")]
    [('number', '12.5', 'km'), ('date', '2026-12-03', ''), ('quoted', 'Ann Lee', ''), ('name', 'Oslo', '')]
    >>> [(v.kind, v.text) for v in values("Is it sunny in Oslo next Friday, or on 3 May?")]
    [('name', 'Oslo'), ('day', 'next Friday'), ('day', '3 May')]
    """
    taken = [False] * len(text)
    found: list[Value] = []

    def take(kind: Kind, start: int, end: int, *, marks: int = 0, unit: str = "") -> None:
        if not any(taken[start:end]):
            taken[start:end] = [True] * (end - start)
            found.append(Value(kind, text[start + marks : end - marks], start, end, unit))

    for start, end in quoted_spans(text, ()):
        take("quoted", start, end, marks=1)
    for match in _DATE.finditer(text):
        if iso_date(match.group()) is not None:
            take("date", *match.span())
    for kind, pattern in _PATTERNS:
        for match in pattern.finditer(text):
            take(kind, *match.span())
    for match in _NUMBER.finditer(text):
        take("number", *match.span(), unit=unit_after(text, match.end()))
    for match in _NAME.finditer(text):
        # A capital at the start of a sentence says nothing.
        if not _starts_sentence(text, match.start()):
            take("name", *match.span())
        elif (space := match.group().find(" ")) > 0:
            take("name", match.start() + space + 1, match.end())
    return tuple(sorted(found, key=lambda value: value.start))


_PATTERNS: tuple[tuple[Kind, re.Pattern[str]], ...] = (
    ("day", _DAY),
    ("url", _URL),
    ("email", _EMAIL),
    ("identifier", _IDENTIFIER),
)


def iso_date(text: str) -> str | None:
    """A date as YYYY-MM-DD, or None where the text is no date that exists.

    >>> iso_date("3 May 2026"), iso_date("2026年12月2日"), iso_date("2026-02-30")
    ('2026-05-03', '2026-12-02', None)
    """
    match = _DATE.fullmatch(text)
    if match is None:
        return None
    named = {key[0]: value for key, value in match.groupdict().items() if value is not None}
    month = named["m"]
    number = int(month) if month.isdecimal() else 1 + [m[:3] for m in _MONTHS].index(month[:3].lower())
    try:
        return date(int(named["y"]), number, int(named["d"])).isoformat()
    except ValueError:
        return None


UNIT_WORDS: dict[str, str] = {
    "°c": "°C", "celsius": "°C", "centigrade": "°C", "°f": "°F", "fahrenheit": "°F", "kelvin": "K",
    "km": "km", "kilometre": "km", "kilometer": "km", "公里": "km", "m": "m", "metre": "m", "meter": "m",
    "cm": "cm", "mm": "mm", "mile": "mi", "foot": "ft", "feet": "ft", "inch": "in",
    "kg": "kg", "kilogram": "kg", "公斤": "kg", "g": "g", "gram": "g", "lb": "lb", "pound": "lb",
    "tonne": "t", "s": "s", "second": "s",
    "min": "min", "minute": "min", "分钟": "min", "h": "h", "hour": "h", "小时": "h",
    "day": "d", "天": "d", "week": "wk", "litre": "L", "liter": "L", "pascal": "Pa", "pa": "Pa",
    "hpa": "hPa", "bar": "bar", "joule": "J", "kj": "kJ", "watt": "W", "kw": "kW", "volt": "V", "mol": "mol",
    "percent": "%", "%": "%", "knot": "kn", "km/h": "km/h", "m/s": "m/s", "mph": "mph",
}  # fmt: skip
"""Words for units, singular and lower-case, to the symbol that catalogs write (SI brochure, UCUM print)."""

_UNIT = re.compile(r"\s?(°[CF]|%|公里|公斤|分钟|小时|天|[A-Za-z]{1,12}(?:/[a-z]{1,3})?)")
_WANTED_UNIT = re.compile(
    r"\b(?:in|as|to|into) (°[CF]|[A-Za-z]{1,12}(?:/[a-z]{1,3})?)|(°[CF])", re.IGNORECASE
)


def unit_after(text: str, place: int) -> str:
    """The unit that stands at `place`, canonical; empty where none does."""
    match = _UNIT.match(text, place)
    return _unit(match.group(1)) if match else ""


def wanted_units(text: str) -> frozenset[str]:
    """Units in which an answer is asked for, canonical.

    >>> sorted(wanted_units("How warm is it in Oslo, in celsius?"))
    ['°C']
    """
    found = (_unit(match.group(1) or match.group(2)) for match in _WANTED_UNIT.finditer(text))
    return frozenset(unit for unit in found if unit)


def _unit(word: str) -> str:
    lower = word.lower()
    return UNIT_WORDS.get(lower) or UNIT_WORDS.get(lower.removesuffix("s")) or ""


def _sentences(text: str) -> tuple[Span, ...]:
    return _spoken(_cut(Span(text, 0, len(text)), _SENTENCE_END))


def _cut(span: Span, pattern: re.Pattern[str]) -> Iterator[Span]:
    """What lies between the matches of a pattern, without the commas and blanks around it."""
    said = span.said
    cuts = [match.span() for match in pattern.finditer(said)]
    begins, ends = [0, *(end for _, end in cuts)], [*(start for start, _ in cuts), len(said)]
    for start, end in zip(begins, ends, strict=True):
        first = end - len(said[start:end].lstrip(_AROUND))
        last = max(first, start + len(said[start:end].rstrip(_AROUND)))
        yield Span(span.text, span.start + first, span.start + last)


def _spoken(parts: Iterable[Span]) -> tuple[Span, ...]:
    """The parts that say something: two words, or four letters without blanks between. At most MOST_PARTS."""
    told = (part for part in parts if " " in (s := part.said) or (not s.isascii() and len(s) > 3))
    return tuple(islice(told, MOST_PARTS))


def _several(parts: tuple[Span, ...]) -> tuple[Span, ...]:
    return parts if len(parts) > 1 else ()


def _starts_sentence(text: str, place: int) -> bool:
    at = place - 1
    while at >= 0 and text[at] in " \"'“‘(":
        at -= 1
    return at < 0 or text[at] in ".!?:;。！？；"
