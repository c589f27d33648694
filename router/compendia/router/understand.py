"""What a query says, without a model: its parts, the values in it, the units it names. Pure and linear."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date
from typing import Literal

from compendia.text.quotes import quoted_spans

MOST_PARTS = 8

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
_URL = re.compile(r"\bhttps?://[^\s<>\"'，。）)]{1,500}")
_EMAIL = re.compile(r"(?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63})+")
_IDENTIFIER = re.compile(
    r"(?<![\w-])(?=[\w-]{0,40}\d)(?=[\w-]{0,40}[A-Z])[A-Z0-9][A-Za-z0-9_-]{2,40}(?![\w-])", re.ASCII
)
_NUMBER = re.compile(r"(?<![\w.,-])-?(?:\d{1,3}(?:,\d{3})+|\d{1,15})(?:\.\d{1,15})?(?![\d])(?!-\d)", re.ASCII)
_NAME = re.compile(
    r"(?<!\w)[^\W\d_a-z][\w'’-]*(?: (?:de|la|of|the|am|upon) (?=[^\W\d_a-z])| (?=[^\W\d_a-z])[\w'’-]+){0,4}"
)

Kind = Literal["quoted", "date", "url", "email", "identifier", "number", "name"]


@dataclass(frozen=True)
class Value:
    """Something particular in a text, which stands at [start, end); `unit` after a number, canonical."""

    kind: Kind
    text: str
    start: int
    end: int
    unit: str = ""


def sentences(text: str) -> tuple[str, ...]:
    """The sentences of a query, at most MOST_PARTS; a single one is the query itself.

    >>> sentences("Find a hotel. What is the weather; any alerts?")
    ('Find a hotel.', 'What is the weather;', 'any alerts?')
    """
    return _spoken(_SENTENCE_END.split(text)) or (text,)


def clauses(text: str) -> tuple[str, ...]:
    """The sentences, cut further where a word such as "and", "then" or "然后" joins two requests.

    That a clause is a request of its own is for its evidence to say, not for its grammar.

    >>> clauses("Get the rate of EUR and then book a flight to Oslo"), clauses("查询上海天气然后翻译成英文")
    (('Get the rate of EUR', 'book a flight to Oslo'), ('查询上海天气', '翻译成英文'))
    """
    return _spoken([part for sentence in sentences(text) for part in _CONNECTIVE.split(sentence)]) or (text,)


def values(text: str) -> tuple[Value, ...]:
    """Everything particular in the text, in order, not overlapping.

    >>> [(v.kind, v.text, v.unit) for v in values("Convert 12.5 km on 2026-12-03 for 'Ann Lee' in Oslo")]
    [('number', '12.5', 'km'), ('date', '2026-12-03', ''), ('quoted', 'Ann Lee', ''), ('name', 'Oslo', '')]
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


def _spoken(parts: list[str]) -> tuple[str, ...]:
    """The parts that say something: two words, or four letters without blanks between. At most MOST_PARTS."""
    stripped = (part.strip(" ,，、") for part in parts)
    told = (part for part in stripped if " " in part or (not part.isascii() and len(part) > 3))
    return tuple(told)[:MOST_PARTS]


def _starts_sentence(text: str, place: int) -> bool:
    at = place - 1
    while at >= 0 and text[at] in " \"'“‘(":
        at -= 1
    return at < 0 or text[at] in ".!?:;。！？；"
