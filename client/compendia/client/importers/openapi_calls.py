"""What an OpenAPI operation takes and returns."""

from __future__ import annotations

import re
from typing import Any

from compendia.contract import Parameter, ResponseField

from .schema_fields import response_fields
from .schema_parameters import Location, parameter, properties_as_parameters
from .schema_space import SchemaSpace
from .texts import words

_LOCATIONS: dict[str, Location] = {
    "path": "path", "query": "query", "header": "header", "cookie": "cookie", "formData": "form",
}  # fmt: skip
_FORMS = ("application/x-www-form-urlencoded", "multipart/form-data")
_VARIABLE = re.compile(r"\{\+?([^{}]+)\}")
_ITEM_KEYWORDS = words(
    "type format items enum default minimum maximum exclusiveMinimum exclusiveMaximum minLength maxLength "
    "pattern minItems maxItems uniqueItems multipleOf nullable x-nullable allOf oneOf anyOf properties"
)


def operation_parameters(
    space: SchemaSpace, path: str, item: dict[str, Any], node: dict[str, Any], place: str
) -> tuple[Parameter, ...]:
    """All parameters: the path item's, overridden by the operation's, then the body's, then undeclared ones.

    One name in two locations is two parameters.
    """
    declared: dict[tuple[str, str], dict[str, Any]] = {}
    for entry in [*_list(item.get("parameters")), *_list(node.get("parameters"))]:
        found = _declared(space, entry, path, place)
        if found:
            declared[found["name"], found["in"]] = found
    made = [
        p
        for (name, where), entry in declared.items()
        for p in (
            _body_2(space, entry, place)
            if where == "body"
            else [_simple(space, name, _LOCATIONS[where], entry, place)]
        )
    ]
    made += _body_3(space, node.get("requestBody"), place)
    result = {(p.name, p.location): p for p in made if p}
    for variable in dict.fromkeys(_VARIABLE.findall(path)):
        if (variable, "path") not in result:
            space.notices.add(
                "a variable of the path is not declared; it is taken as a required string", place
            )
            found_variable = parameter(
                space, variable, {"type": "string"}, location="path", required=True, place=place
            )
            if found_variable:
                result[found_variable.name, "path"] = found_variable
    return tuple(result.values())


def operation_response(
    space: SchemaSpace, node: dict[str, Any], group: str, place: str
) -> tuple[ResponseField, ...]:
    """The fields of the lowest successful status that has a schema, else of the default response."""
    responses = node.get("responses")
    responses = responses if isinstance(responses, dict) else {}
    successful = sorted(status for status in responses if status[:1] == "2")
    for status in [*successful, "default"]:
        where = f"{place} {status}"
        response = space.follow(responses.get(status), where)
        schema = response.get("schema") or _media(response.get("content"))[1]
        if isinstance(schema, dict) and schema:
            return response_fields(space, schema, group=group, place=where)
    return ()


def _declared(space: SchemaSpace, entry: Any, path: str, place: str) -> dict[str, Any] | None:
    """A parameter object with a usable name and location."""
    found = space.follow(entry, place)
    ref = entry.get("$ref") if isinstance(entry, dict) else None
    if "name" not in found and isinstance(ref, str) and not space.target(ref, place):
        # The reference leads nowhere: its last word is the best name there is.
        name = re.split(r"[/#]", ref)[-1] or "unresolved"
        location = "path" if f"{{{name}}}" in path else "query"
        return {"name": name, "in": location, "required": location == "path"}
    where = str(found.get("in"))
    if where == "body":
        return {**found, "name": "body"}
    if not isinstance(found.get("name"), str) or where not in _LOCATIONS:
        space.notices.add("a parameter without a name or a known location was left out", place)
        return None
    return found


def _simple(
    space: SchemaSpace, name: str, location: Location, entry: dict[str, Any], place: str
) -> Parameter | None:
    schema = entry.get("schema")
    if not isinstance(schema, dict):
        schema = _media(entry.get("content"))[1]
    if not isinstance(schema, dict):  # Swagger 2.0 writes the keywords into the parameter itself
        schema = {key: entry[key] for key in _ITEM_KEYWORDS if key in entry}
    described = {k: v for k, v in entry.items() if k in {"description", "unit"} or k.startswith("x-")}
    required = entry.get("required") is True or location == "path"
    return parameter(
        space, name, schema, location=location, required=required, place=place, described_by=described
    )


def _body_2(space: SchemaSpace, entry: dict[str, Any], place: str) -> list[Parameter]:
    return properties_as_parameters(
        space,
        entry.get("schema", {}),
        location="body",
        required=_must(entry),
        place=f"{place} body",
        whole="body",
    )


def _body_3(space: SchemaSpace, node: Any, place: str) -> list[Parameter]:
    body = space.follow(node, f"{place} body")
    media, schema = _media(body.get("content"))
    location: Location = "form" if media in _FORMS else "body"
    return properties_as_parameters(
        space, schema, location=location, required=_must(body), place=f"{place} body", whole="body"
    )


def _must(body: dict[str, Any]) -> bool:
    # The default is false, but authors who mean it say so: without a word the properties' own `required`
    # stands, since a call without them fails.
    return body.get("required") is not False


def _media(content: Any) -> tuple[str, Any]:
    """Media type and schema of the content that a program prefers: JSON, then forms, then the first."""
    if not isinstance(content, dict) or not content:
        return "", None

    def rank(media: str) -> int:
        bare = media.split(";")[0].strip().lower()
        if bare == "application/json":
            return 0
        if bare.endswith("+json") or bare.endswith("/json"):
            return 1
        return 2 if bare in _FORMS else 3

    best = min(content, key=rank)  # the first of equal ones
    entry = content[best]
    return best.split(";")[0].strip().lower(), entry.get("schema", {}) if isinstance(entry, dict) else {}


def _list(node: Any) -> list[Any]:
    return node if isinstance(node, list) else []
