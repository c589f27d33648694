"""Arguments of a call to the skeleton that may be shared: values become typed placeholders.

Nothing that a user typed passes. What stays is public already: words of the documented enum, true, false
and null, and the names of documented parameters and properties.
"""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import JsonValue

from compendia.contract import Endpoint, Parameter
from compendia.contract.strict_json import canonical
from compendia.text.mask import PLACEHOLDER, mask

NUMERIC = frozenset({"number", "integer"})


def skeleton(arguments: Mapping[str, JsonValue], endpoint: Endpoint | None) -> dict[str, JsonValue]:
    """The arguments with their values hidden; those the endpoint does not document are left out.

    endpoint: None where the documentation is not at hand (a tool of a pinned snapshot): names are kept then.

    >>> skeleton({"to": "ann@example.org", "copies": 3, "urgent": True}, None)
    {'copies': '<NUMBER>', 'to': '<EMAIL>', 'urgent': True}
    """
    documented = {p.name: p for p in endpoint.parameters} if endpoint else {}
    return {
        name: _hidden(value, documented.get(name))
        for name, value in sorted(arguments.items())
        if endpoint is None or name in documented
    }


def _hidden(value: JsonValue, parameter: Parameter | None) -> JsonValue:
    if parameter is not None:
        if canonical(value) in {canonical(word) for word in parameter.enum}:
            return value
        if parameter.type in NUMERIC and value is not None:
            return "<NUMBER>"
    return _hidden_value(value, parameter.json_schema if parameter else None)


def _hidden_value(value: JsonValue, schema: JsonValue) -> JsonValue:
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int | float):
        return "<NUMBER>"
    if isinstance(value, str):
        masked = mask(value.strip())
        return masked if PLACEHOLDER.fullmatch(masked) else "<TEXT>"
    properties = _inside(schema, "properties")
    if isinstance(value, list):
        hidden = {
            canonical(made): made for made in (_hidden_value(v, _inside(schema, "items")) for v in value)
        }
        return [hidden[key] for key in sorted(hidden)]
    if not isinstance(properties, dict):
        # Without documentation the keys are data as well.
        return "<TEXT>"
    return {key: _hidden_value(value[key], properties[key]) for key in sorted(value) if key in properties}


def _inside(schema: JsonValue, key: str) -> JsonValue:
    return schema.get(key) if isinstance(schema, dict) else None
