"""Arguments of a call: from the query, a template that worked, the declared default, else missing.

A value is taken only where the parameter's type allows it and something says that it is meant: an enum word,
the kind of value that the parameter's name asks for, a unit, a word nearby. Anything else stays missing, and
the caller is asked. Nothing is invented.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from pydantic import JsonValue

from compendia.contract import CallTemplate, Endpoint, Parameter, PlannedArgument
from compendia.contract.ids import slug
from compendia.text.mask import PLACEHOLDER
from compendia.text.tokenize import tokenize

from .understand import Value, iso_date


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_FROM = _words("from source origin base start since departure sender")
_TO = _words("to target destination end until arrival recipient")
_DATES = _words("date day when datetime checkin checkout since until")
_PLACES = _words(
    "city location place country region state address town destination origin port harbour airport "
    "station street area county province capital from to"
)
_CODES = _words("id number no code reference ref key isbn sku vin iban symbol ticker tracking")
_NAMED = _words(
    "name title person player team company artist author actor album song movie book brand vessel ship "
    "material compound substance drug product subject"
)
_SEARCHED = _words("q query search question prompt text message keyword term phrase")
_COUNTED = _words("limit page size offset count skip per max")
_OBJECT = re.compile(
    r"\b(?:of|for|about|on|named|called|like)\s+(?:the |a |an )?([\w-]+(?: [\w-]+){0,3}?)"
    r"(?=\s*(?:[?.!,;]|$)|\s(?:in|at|on|from|to|for|with|and|under|by|is|are)\b)",
    re.IGNORECASE,
)
_REACH = 24  # characters around a number in which a word of the parameter's name claims it


@dataclass(frozen=True)
class _Offer:
    """A value for a parameter, with how strongly something says so; `span` may serve one parameter only."""

    strength: int
    value: JsonValue
    span: tuple[int, int]


def fill_arguments(
    endpoint: Endpoint,
    text: str,
    found: Sequence[Value],
    templates: Sequence[CallTemplate] = (),
    aliases: Sequence[str] = (),
) -> tuple[PlannedArgument, ...]:
    """Every required parameter, and the optional ones that the text or a template gives a value.

    found: the text's `values`, which are the same for every endpoint. templates: those of this endpoint, best
    first. aliases: `concept=alias` entries of the tool.
    """
    # What day "tomorrow" is, only the caller knows.
    asked = _from_text(endpoint.parameters, text, [v for v in found if v.kind != "day"], aliases)
    shown = _from_templates(endpoint.parameters, templates)
    planned = []
    for parameter in endpoint.parameters:
        key = (parameter.name, parameter.location)
        if key in asked:
            planned.append(_planned(parameter, "query", asked[key]))
        elif parameter.name in shown:
            planned.append(_planned(parameter, "template", shown[parameter.name]))
        elif parameter.required and parameter.default is not None and _fits(parameter, parameter.default):
            planned.append(_planned(parameter, "default", parameter.default))
        elif parameter.required:
            planned.append(_planned(parameter, "missing", None))
    return tuple(planned)


def lacking(endpoints: Iterable[Endpoint], text: str, found: Sequence[Value]) -> int:
    """How many of the parameters that a call needs a text gives no value, for the endpoint that needs least.

    found: the text's `values`. What no text gives as such, a list or a flag, counts too, as in a plan, which
    has to ask for it. A placeholder is one value that was said, for any parameter, and "tomorrow" is a date.
    """
    hidden = [match.span() for match in PLACEHOLDER.finditer(text)]
    plain = [v for v in found if not any(v.start < end and start < v.end for start, end in hidden)]
    needs = ([p for p in endpoint.parameters if p.required and p.default is None] for endpoint in endpoints)
    missing = (max(0, len(n) - len(hidden) - len(_from_text(n, text, plain, ()))) for n in needs)
    return min(missing, default=0)


def _planned(parameter: Parameter, source: str, value: JsonValue) -> PlannedArgument:
    return PlannedArgument.model_validate(
        {
            "name": parameter.name,
            "location": parameter.location,
            "type": parameter.type,
            "required": parameter.required,
            "source": source,
            "value": value,
            "unit": parameter.unit,
        }
    )


def _from_text(
    parameters: Iterable[Parameter], text: str, found: Sequence[Value], aliases: Sequence[str]
) -> dict[tuple[str, str], JsonValue]:
    """Strongest claims first; a stretch of the text serves one parameter."""
    offers = [
        (-offer.strength, place, offer.span[0], parameter, offer)
        for place, parameter in enumerate(parameters)
        for offer in _offers(parameter, text, found, aliases)
        if _fits(parameter, offer.value)
    ]
    taken: dict[tuple[str, str], JsonValue] = {}
    spans: list[tuple[int, int]] = []
    for *_, parameter, offer in sorted(offers, key=lambda row: row[:3]):
        key = (parameter.name, parameter.location)
        if key in taken or any(offer.span[0] < end and start < offer.span[1] for start, end in spans):
            continue
        taken[key] = offer.value
        spans.append(offer.span)
    return taken


def _offers(
    parameter: Parameter, text: str, found: Sequence[Value], aliases: Sequence[str]
) -> Iterator[_Offer]:
    words = _name_words((parameter.name, *parameter.aliases))
    if parameter.enum:
        for value in parameter.enum:
            for start, end in _mentions(value, text, found, aliases):
                yield _Offer(10 + _direction(words, text, start), value, (start, end))
    elif parameter.type in {"integer", "number"}:
        for number in found:
            if number.kind == "number":
                yield from _number_offers(parameter, words, number, text)
    elif parameter.type in {"string", "any"}:
        for particular in found:
            strength = _string_strength(parameter, words, particular)
            if strength:
                strength += _direction(words, text, particular.start)
                yield _Offer(strength, _as_string(particular), (particular.start, particular.end))
        yield from _phrase_offers(parameter, words, text)


@lru_cache(maxsize=50_000)
def _name_words(names: tuple[str, ...]) -> frozenset[str]:
    """The words of a parameter's names, with the small ones that a tokenizer leaves out: from, to, by."""
    return frozenset(word for name in names for word in (*tokenize(name), *slug(name).split("_")))


def _number_offers(parameter: Parameter, words: frozenset[str], number: Value, text: str) -> Iterator[_Offer]:
    amount = float(number.text.replace(",", ""))
    if parameter.type == "integer" and not amount.is_integer():
        return
    if number.unit and parameter.unit and number.unit != parameter.unit:
        return
    around = text[max(0, number.start - _REACH) : number.start] + " " + text[number.end : number.end + _REACH]
    near = bool(words & frozenset(tokenize(around)))
    if words & _COUNTED and not near:
        return
    same_unit = bool(number.unit) and number.unit == parameter.unit
    if not (near or same_unit or parameter.required):
        return
    value: JsonValue = int(amount) if amount.is_integer() else amount
    yield _Offer(3 + 2 * near + 3 * same_unit, value, (number.start, number.end))


def _string_strength(parameter: Parameter, words: frozenset[str], value: Value) -> int:
    """How much speaks for giving a string parameter this value; 0 for nothing."""
    shape = parameter.json_schema if isinstance(parameter.json_schema, dict) else {}
    is_date = bool(words & _DATES) or str(shape.get("format", "")).startswith("date")
    is_mail, is_link = bool(words & {"email", "mail"}), bool(words & {"url", "uri", "link", "website"})
    is_code = bool(words & _CODES)
    if value.kind in {"date", "day"}:
        return 6 if is_date else 0
    if value.kind == "email":
        return 6 if is_mail else 0
    if value.kind == "url":
        return 6 if is_link else 0
    if is_date or is_mail or is_link:
        return 0
    if value.kind == "quoted":
        return 5 if not words & _PLACES else 3
    if value.kind == "identifier":
        return 5 if is_code else 0
    if value.kind == "number":
        return 3 if is_code and parameter.required else 0
    if value.kind == "name":
        if words & _PLACES:
            return 4
        return 3 if words & _NAMED and not is_code else 0
    return 0


def _as_string(particular: Value) -> str:
    written = iso_date(particular.text) if particular.kind == "date" else None
    return written or particular.text


def _phrase_offers(parameter: Parameter, words: frozenset[str], text: str) -> Iterator[_Offer]:
    """Weakest of all, for required parameters: what is searched for, or what the request is about."""
    if not parameter.required:
        return
    if words & _SEARCHED:
        yield _Offer(1, text, (0, len(text)))
    elif words & _NAMED:
        for match in _OBJECT.finditer(text):
            yield _Offer(2, match.group(1), match.span(1))


def _mentions(
    value: JsonValue, text: str, found: Sequence[Value], aliases: Sequence[str]
) -> Iterator[tuple[int, int]]:
    """Where the text names an enum value, by its own word or by an alias of it."""
    if isinstance(value, bool) or value is None:
        return
    if isinstance(value, int | float):
        for number in found:
            if number.kind == "number" and float(number.text.replace(",", "")) == value:
                yield number.start, number.end
        return
    names = [str(value), str(value).replace("_", " ").replace("-", " ")]
    for entry in aliases:
        concept, _, alias = entry.partition("=")
        if concept.casefold() == str(value).casefold():
            names.append(alias)
    for name in dict.fromkeys(names):
        if name:
            edges = (r"(?<!\w)", r"(?!\w)") if name.isascii() else ("", "")
            pattern = edges[0] + re.escape(name) + edges[1]
            yield from (match.span() for match in re.finditer(pattern, text, re.IGNORECASE))


def _direction(words: frozenset[str], text: str, start: int) -> int:
    """2 where the word before a value says which of two ends it is, and the parameter is that end."""
    before = text[max(0, start - 12) : start].split()
    word = before[-1].lower() if before else ""
    if words & _TO and not words & _FROM:
        return 2 if word in {"to", "into", "in", "until"} else 0
    return 2 if words & _FROM and word in {"from", "since"} else 0


def _from_templates(
    parameters: Iterable[Parameter], templates: Sequence[CallTemplate]
) -> dict[str, JsonValue]:
    """Values that stand as words, not as placeholders, in the first template that has the parameter."""
    known = {parameter.name: parameter for parameter in parameters}
    shown: dict[str, JsonValue] = {}
    for template in templates:
        for name, value in template.arguments.items():
            parameter = known.get(name)
            held = isinstance(value, str) and PLACEHOLDER.search(value)
            plain = isinstance(value, str | int | float | bool)
            if parameter is not None and plain and not held and _fits(parameter, value):
                shown.setdefault(name, value)
    return shown


def _fits(parameter: Parameter, value: JsonValue) -> bool:
    """Whether the declared enum and bounds allow the value."""
    if parameter.enum:
        return value in parameter.enum
    shape = parameter.json_schema if isinstance(parameter.json_schema, dict) else {}
    if isinstance(value, int | float) and not isinstance(value, bool):
        low, high = shape.get("minimum"), shape.get("maximum")
        if isinstance(low, int | float) and value < low:
            return False
        return not (isinstance(high, int | float) and value > high)
    return True
