"""The signature: what every field of the compendium declares, and everything else in the system reads.

Validation reads type, bounds and references; privatization reads the role; merge reads the law; the typed
card reads heading and order; `compendia schema` prints the whole table. No other module knows a field by
name in order to decide how it is validated, masked, merged or shown.
"""

from __future__ import annotations

import builtins
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from typing import Any, Literal, get_args, get_origin

from pydantic import BaseModel

from .strict_json import canonical


class Role(StrEnum):
    """What a field is, and with it what privacy it needs."""

    IDENTITY = "identity"  # names something; passes as it is
    DOCUMENTATION = "documentation"  # public description; passes as it is
    STATISTIC = "statistic"  # counted from private traffic; clipped and noised
    TEXT = "text"  # written by users; masked
    POLICY = "policy"  # licence, provenance; never changed, never voted away
    COMPUTED = "computed"  # made by the merge; refused in a contribution


PRIVACY: dict[Role, str] = {
    Role.IDENTITY: "pass",
    Role.DOCUMENTATION: "pass",
    Role.STATISTIC: "clip and noise",
    Role.TEXT: "mask",
    Role.POLICY: "pass",
    Role.COMPUTED: "never sent",
}


class Law(StrEnum):
    """How claims of several organizations about one field become one value (DESIGN section 4).

    All laws are commutative, associative and idempotent over the *set* of contributions, for the
    view sorts them first.
    """

    KEY = "key"  # names the entry; equal keys are one entry (a TEXT key is equal by meaning, cosine >= 0.85)
    OWNER = "owner"  # the granted publisher's word; without a grant, majority
    MAJORITY = "majority"  # one organization, one vote; ties break by digest
    SUM = "sum"  # disjoint counts add up
    UNION = "union"  # every distinct value, sorted
    KEEP_ALL = "keep_all"  # like union, and a disagreement is flagged
    MAX = "max"  # the largest
    MIN = "min"  # the smallest
    COMPUTED = "computed"  # derived by the merge itself


@dataclass(frozen=True)
class Signature:
    """One field's declaration. Attach it with `Annotated[type, Signature(...)]`.

    bounds: inclusive range of a raw number; `wire_bounds`: of the same number after noise (signed).
    refers_to: the field names a registered tool, or an endpoint of the tool that its record names.
    heading, order: where the field stands on the typed card; no heading, not on the card.
    """

    role: Role
    law: Law
    bounds: tuple[int, int] | None = None
    wire_bounds: tuple[int, int] | None = None
    refers_to: Literal["tool", "endpoint"] | None = None
    heading: str = ""
    order: int = 0


@dataclass(frozen=True)
class FieldSignature:
    """A field with its signature. `element` is the record type where the field holds a tuple of records."""

    name: str
    type: str
    signature: Signature
    element: builtins.type[BaseModel] | None


@cache
def signatures(record: type[BaseModel]) -> tuple[FieldSignature, ...]:
    """The fields of a record type in order. Raises TypeError if one has no signature."""
    rows = []
    for name, info in record.model_fields.items():
        found = [m for m in info.metadata if isinstance(m, Signature)]
        if len(found) != 1:
            raise TypeError(f"{record.__name__}.{name} needs exactly one Signature, has {len(found)}")
        rows.append(FieldSignature(name, _type_name(info.annotation), found[0], _element(info.annotation)))
    return tuple(rows)


@cache
def key_fields(record: type[BaseModel]) -> tuple[str, ...]:
    """Names of the fields that make up the record's key."""
    return tuple(f.name for f in signatures(record) if f.signature.law is Law.KEY)


def record_key(record: BaseModel) -> tuple[Any, ...]:
    """The record's key as a sortable tuple; structured values as canonical JSON."""
    values = [getattr(record, name) for name in key_fields(type(record))]
    return tuple([value if isinstance(value, str) else canonical(value) for value in values])


@dataclass(frozen=True)
class SchemaRow:
    """One line of `compendia schema`."""

    field: str
    type: str
    role: str
    merge: str
    privacy: str
    range: str
    range_on_wire: str
    refers_to: str
    card: str


def schema_table(root: type[BaseModel]) -> Iterator[SchemaRow]:
    """The signature table of a record type and of all records nested in it, depth first."""
    for name, info in root.model_fields.items():
        element = _element(info.annotation)
        if element is not None and not any(isinstance(m, Signature) for m in info.metadata):
            yield from _rows(element, f"{name}[]")


def _rows(record: type[BaseModel], prefix: str) -> Iterator[SchemaRow]:
    for field in signatures(record):
        s = field.signature
        yield SchemaRow(
            field=f"{prefix}.{field.name}",
            type=field.type,
            role=s.role,
            merge=s.law,
            privacy=PRIVACY[s.role],
            range=_range(s.bounds),
            range_on_wire=_range(s.wire_bounds or s.bounds),
            refers_to=s.refers_to or "",
            card=s.heading,
        )
        if field.element is not None:
            yield from _rows(field.element, f"{prefix}.{field.name}[]")


def _range(bounds: tuple[int, int] | None) -> str:
    return f"{bounds[0]}..{bounds[1]}" if bounds else ""


def _element(annotation: Any) -> type[BaseModel] | None:
    if get_origin(annotation) is tuple:
        inner = get_args(annotation)[0]
        if isinstance(inner, type) and issubclass(inner, BaseModel):
            return inner
    return None


def _type_name(annotation: Any) -> str:
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is tuple:
        return f"list of {_type_name(arguments[0])}"
    if origin is Literal:
        return " | ".join(str(a) for a in arguments)
    if arguments and type(None) in arguments:
        return f"{_type_name(next(a for a in arguments if a is not type(None)))} or null"
    name = getattr(annotation, "__name__", str(annotation))
    return {"str": "text", "int": "integer", "bool": "boolean", "float": "number", "JsonValue": "JSON"}.get(
        name, name
    )
