"""What a schema says about the meaning of a value: unit, concept, aliases, kind of source, licence.

Extensions that sources may use, on any schema, parameter or property:

- `x-unit`: the unit (`km/h`). Without it, a `unit` keyword, or a description of a number that ends in a
  unit of a small table: `Top speed (km/h)`, `Temperature in celsius`. Nothing else is guessed.
- `x-semantic-id`: the concept, such as an ontology's address.
- `x-aliases`: other names of the value, a list or one string.
- `x-source-type`: `calculated`, `experimental`, `literature`, `measured`, `curated` or `user`.
- `x-licence`: SPDX expression or name of a policy for this field, one or a list.

On an operation, tool, API list or document: `x-concept-aliases`, `{concept: [alias, ...]}`, for the annex.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, get_args

from compendia.contract import Annex
from compendia.contract.compendium import SourceType

from .origin import licence
from .texts import Notices, clean, clean_name, words

_SOURCE_TYPES = frozenset(get_args(SourceType))
_SYMBOLS = words(
    "km/h mph m/s km m cm mm µm nm mi ft kg g mg µg lb oz t K °C °F % s ms min h Hz kHz MHz GHz Pa hPa kPa "
    "MPa bar mbar psi W kW MW Wh kWh MWh J kJ MJ kcal V mV A mA Ω lx lm dB L mL m² m³ km² m2 m3 km2 ha "
    "mol/L mmol/L mg/dL mg/L µg/m³ µg/m3 g/mol kg/m³ kg/m3 ppm ppb B KB MB GB TB KiB MiB GiB bps kbps Mbps "
    "Gbps px dpi eV USD EUR GBP JPY CNY CHF BTC °"
)
_WORDS = {
    "kilometers per hour": "km/h", "kilometres per hour": "km/h", "miles per hour": "mph",
    "meters per second": "m/s", "metres per second": "m/s",
    "kilometers": "km", "kilometres": "km", "meters": "m", "metres": "m", "centimeters": "cm",
    "centimetres": "cm", "millimeters": "mm", "millimetres": "mm", "miles": "mi", "feet": "ft",
    "kilograms": "kg", "grams": "g", "milligrams": "mg", "pounds": "lb", "ounces": "oz", "tonnes": "t",
    "celsius": "°C", "degrees celsius": "°C", "fahrenheit": "°F", "degrees fahrenheit": "°F", "kelvin": "K",
    "percent": "%", "percentage": "%", "milliseconds": "ms", "seconds": "s", "minutes": "min", "hours": "h",
    "days": "d", "weeks": "wk", "months": "mo", "years": "a", "degrees": "°", "bytes": "B",
    "kilobytes": "KB", "megabytes": "MB", "gigabytes": "GB", "pixels": "px", "pascals": "Pa",
    "hectopascals": "hPa", "watts": "W", "kilowatts": "kW", "kilowatt hours": "kWh", "volts": "V",
    "hertz": "Hz", "liters": "L", "litres": "L", "calories": "cal", "us dollars": "USD", "euros": "EUR",
    "cents": "ct",
}  # fmt: skip
_UNITS = {symbol: symbol for symbol in _SYMBOLS} | _WORDS
_ENDS_IN_BRACKETS = re.compile(r"\((?:in )?([^()]{1,24})\)\.?$")
_ENDS_IN_UNIT = re.compile(r"\bin ([^\s()]{1,16}(?: [^\s()]{1,12}){0,2})\.?$")


def meaning(
    schema: Mapping[str, Any], description: str, numeric: bool, notices: Notices, place: str
) -> dict[str, Any]:
    """`unit`, `semantic_id` and `aliases` of a parameter or response field; absent ones left out."""
    aliases = schema.get("x-aliases")
    names = aliases if isinstance(aliases, list) else [aliases]
    found = {
        "unit": _unit(schema, description if numeric else "", notices, place),
        "semantic_id": clean(schema.get("x-semantic-id"), notices, place),
        "aliases": tuple(dict.fromkeys(n for n in (clean_name(a, notices, place) for a in names) if n)),
    }
    return {key: value for key, value in found.items() if value}


def source_type(schema: Mapping[str, Any], notices: Notices, place: str) -> SourceType:
    """The schema's `x-source-type`, else `unknown`."""
    found = schema.get("x-source-type", "unknown")
    if found not in _SOURCE_TYPES:
        notices.add(f"x-source-type {str(found)[:40]!r} is none of {', '.join(sorted(_SOURCE_TYPES))}", place)
        return "unknown"
    kind: SourceType = found
    return kind


def licences(schema: Mapping[str, Any]) -> tuple[str, ...]:
    """The schema's `x-licence` entries as licences of the contract."""
    found = schema.get("x-licence")
    entries = found if isinstance(found, list) else [found]
    return tuple(
        dict.fromkeys(licence(entry) for entry in entries if isinstance(entry, str) and entry.strip())
    )


def concept_aliases(node: Mapping[str, Any], tool: str, notices: Notices, place: str) -> list[Annex]:
    """`x-concept-aliases` as `concept_alias` annex entries of a tool."""
    found = node.get("x-concept-aliases")
    if found is None:
        return []
    if not isinstance(found, dict):
        notices.add("x-concept-aliases is not an object of concept to aliases and was left out", place)
        return []
    pairs = [
        f"{concept}={alias}"
        for concept, aliases in sorted(found.items())
        for alias in (aliases if isinstance(aliases, list) else [aliases])
        if isinstance(alias, str) and alias and concept
    ]
    return [Annex(tool=tool, key="concept_alias", value=pair) for pair in dict.fromkeys(pairs)]


def _unit(schema: Mapping[str, Any], description: str, notices: Notices, place: str) -> str:
    for key in ("x-unit", "unit"):
        declared = schema.get(key)
        if isinstance(declared, str) and 0 < len(declared.strip()) <= 40:
            return clean(declared, notices, place)
    for pattern in (_ENDS_IN_BRACKETS, _ENDS_IN_UNIT):
        if found := pattern.search(description):
            parts = found[1].split()
            # "the mean speed in the tunnel in km/h": the shortest ending that is a unit counts
            for start in range(len(parts)):
                ending = " ".join(parts[start:])
                unit = _UNITS.get(ending) or _UNITS.get(ending.lower().replace("-", " "), "")
                if unit and (start == 0 or parts[start - 1] == "in"):
                    return unit
    return ""
