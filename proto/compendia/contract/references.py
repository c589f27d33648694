"""References of records to shared schema definitions: `$ref` in JSON values, and `schema_ref` of a field."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

from pydantic import BaseModel

from .signature import signatures


def json_refs(made: BaseModel, path: str) -> Iterator[tuple[str, str]]:
    """Every `$ref` and `schema_ref` of a record: (where, target)."""
    for name in _referring(type(made)):
        value = getattr(made, name)
        if not value:
            continue
        if name == "schema_ref":
            yield f"{path}.{name}", value
        elif isinstance(value, tuple):
            for index, child in enumerate(value):
                if isinstance(child, BaseModel):
                    yield from json_refs(child, f"{path}.{name}[{index}]")
        elif isinstance(value, dict | list):
            yield from _refs_in(value, f"{path}.{name}")


def _refs_in(node: Any, where: str) -> Iterator[tuple[str, str]]:
    if isinstance(node, dict):
        for key, child in node.items():
            if key == "$ref" and isinstance(child, str):
                yield where, child
            else:
                yield from _refs_in(child, where)
    elif isinstance(node, list):
        for child in node:
            yield from _refs_in(child, where)


@cache
def _referring(record: type[BaseModel]) -> tuple[str, ...]:
    """The fields in which a reference to a definition can stand."""
    elements = {f.name: f.element for f in signatures(record)}
    return tuple(
        name
        for name, field in record.model_fields.items()
        if name == "schema_ref"
        or "JsonValue" in str(field.annotation)
        or ((element := elements[name]) is not None and _referring(element))
    )
