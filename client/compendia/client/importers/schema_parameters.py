"""Schemas as the parameters of a call: one schema as one parameter, an object's properties as many."""

from __future__ import annotations

import math
import re
from typing import Any, Literal

from compendia.contract import CompendiaError, Parameter, strict_json

from . import meanings as notes
from .schema_shape import Shape, schema_shape
from .schema_space import SchemaSpace, names_ref
from .texts import clean, clean_name, words

Location = Literal["path", "query", "header", "cookie", "body", "form", "argument"]
MAX_ENUM = 1000
_SAID_ELSEWHERE = frozenset(
    words("title description default nullable readOnly writeOnly deprecated x-unit x-semantic-id x-aliases")
)
_INTEGER = re.compile(r"[-+]?\d{1,18}")
_NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d{1,3})?")


def parameter(
    space: SchemaSpace,
    name: str,
    schema: Any,
    *,
    location: Location,
    required: bool,
    place: str,
    described_by: dict[str, Any] | None = None,
) -> Parameter | None:
    """One parameter, or None (with a notice) when its name is unusable.

    described_by: the object around the schema, whose description and extensions come first.
    """
    where = f"{place} {name}".strip()
    called = clean_name(name, space.notices, where)
    if not called:
        space.notices.add("a parameter without a usable name was left out", place)
        return None
    shape = schema_shape(space, schema, place=where)
    said = shape.annotations | (described_by or {})
    description = clean(said.get("description") or said.get("title"), space.notices, where)
    kept = space.kept(schema, where)
    kind: Any = shape.type
    return Parameter(
        name=called,
        location=location,
        type=kind,
        nullable=shape.nullable,
        required=required,
        description=description,
        enum=_enum(space, shape, where),
        default=_default(space, shape, said, where),
        json_schema=_beyond_type(kept, shape),
        **notes.meaning(said, description, shape.type in {"number", "integer"}, space.notices, where),
    )


def properties_as_parameters(
    space: SchemaSpace, schema: Any, *, location: Location, required: bool, place: str, whole: str = ""
) -> list[Parameter]:
    """The properties of an object schema as parameters; a schema without properties as one named `whole`.

    required: whether the object itself must be sent; if not, none of its properties must. Read-only
    properties are for responses. Without `whole`, or without a schema, nothing is taken.
    """
    shape = schema_shape(space, schema, place=place)
    if not shape.properties:
        # An array or scalar body, or an object of free keys.
        if not whole or schema is None:
            return []
        single = parameter(space, whole, schema, location=location, required=required, place=place)
        return [single] if single else []
    for name in sorted(shape.required - shape.properties.keys()):
        space.notices.add(
            "a required name is not among the properties and was left out", f"{place} {name}".strip()
        )
    if whole and (shape.items is not None or set(shape.types) - {"object"}):
        space.notices.add("a body may also be no object; only the properties of the object are listed", place)
    made: dict[str, Parameter] = {}
    for name, child in shape.properties.items():
        if isinstance(child, dict) and child.get("readOnly") is True:
            continue
        found = parameter(
            space, name, child, location=location, required=required and name in shape.required, place=place
        )
        if found and found.name in made:
            space.notices.add("two parameters differ only in invisible characters; the first counts", place)
        elif found:
            made[found.name] = found
    return list(made.values())


def _beyond_type(kept: Any, shape: Shape) -> Any:
    """What of a kept schema the parameter's own fields do not say; null if nothing."""
    if not isinstance(kept, dict):
        return None
    rest = {key: value for key, value in kept.items() if key not in _SAID_ELSEWHERE}
    if shape.enum and len(shape.enum) <= MAX_ENUM:
        rest.pop("enum", None)
    declared = rest.get("type")
    plain = declared == shape.type or declared in ([shape.type, "null"], None)
    return rest if set(rest) - {"type"} or not plain else None


def _enum(space: SchemaSpace, shape: Shape, place: str) -> tuple[Any, ...]:
    values = tuple(value for value in shape.enum if not names_ref(value))
    if len(values) > MAX_ENUM:
        space.notices.add(f"more than {MAX_ENUM} allowed values are kept in the schema only", place)
        return ()
    distinct = {strict_json.canonical(value): value for value in values}
    return tuple(distinct.values())


def _default(space: SchemaSpace, shape: Shape, said: dict[str, Any], place: str) -> Any:
    value = said.get("default")
    if value is None or names_ref(value):
        return None
    fitting, ok = coerced(value, shape.type)
    if not ok:
        space.notices.add("a default does not have the parameter's type and was left out", place)
    elif type(fitting) is not type(value):
        space.notices.add("a default was written as another type and was converted", place)
    return fitting


def coerced(value: Any, kind: str) -> tuple[Any, bool]:
    """A default in its parameter's type where that is plain (`"10"`, `"true"`), and whether it fits."""
    if kind == "any" or _fits(value, kind):
        return value, True
    if isinstance(value, str):
        text = value.strip()
        if kind == "integer" and _INTEGER.fullmatch(text):
            return int(text), True
        if kind == "number" and _NUMBER.fullmatch(text) and math.isfinite(float(text)):
            return (int(text) if _INTEGER.fullmatch(text) else float(text)), True
        if kind == "boolean" and text.lower() in {"true", "false"}:
            return text.lower() == "true", True
        if kind in {"array", "object"} and text[:1] in {"[", "{"}:
            try:
                parsed = strict_json.loads(text)
            except CompendiaError:
                return None, False
            return (parsed, True) if _fits(parsed, kind) and not names_ref(parsed) else (None, False)
    if kind == "integer" and isinstance(value, float) and value.is_integer():
        return int(value), True
    if kind == "string" and isinstance(value, int | float):
        return str(value).lower() if isinstance(value, bool) else str(value), True
    return None, False


def _fits(value: Any, kind: str) -> bool:
    if isinstance(value, bool):
        return kind == "boolean"
    expected: dict[str, Any] = {
        "string": str, "integer": int, "number": (int, float), "array": list, "object": dict,
    }  # fmt: skip
    return kind in expected and isinstance(value, expected[kind])
