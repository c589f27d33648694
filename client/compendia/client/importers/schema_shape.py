"""What a schema amounts to once its `$ref`, `allOf`, `oneOf` and `anyOf` are read together.

`allOf` parts add up; of `oneOf` and `anyOf` branches every property counts, and only what all of them
require is required. Recursion is not followed: a `$ref` that an ancestor already stands for is reported as
`folded`, by its name.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

from .schema_space import TYPE_NAMES, SchemaSpace, declared_types
from .texts import words

MAX_PARTS = 400
MAX_VARIANTS = 8
_ANNOTATIONS = words(
    "description title unit format default readOnly writeOnly x-unit x-semantic-id x-aliases x-source-type "
    "x-licence"
)
_PYTHON_TYPES = {
    str: "string",
    bool: "boolean",
    int: "integer",
    float: "number",
    list: "array",
    dict: "object",
}


@dataclass(frozen=True)
class Shape:
    """types: empty means any. refs: the `$ref`s that this very schema stands for. folded: those cut."""

    types: tuple[str, ...] = ()
    nullable: bool = False
    properties: dict[str, Any] = field(default_factory=dict)
    required: frozenset[str] = frozenset()
    items: Any = None
    values: Any = None
    enum: tuple[Any, ...] = ()
    refs: frozenset[str] = frozenset()
    folded: tuple[str, ...] = ()
    annotations: dict[str, Any] = field(default_factory=dict)

    @property
    def type(self) -> str:
        """The one JSON type, `number` for both kinds of number, `any` for none or several."""
        if set(self.types) == {"integer", "number"}:
            return "number"
        return self.types[0] if len(self.types) == 1 else "any"


class _Reader:
    """Reads one schema; `parts` bounds the work on hostile or heavily composed schemas."""

    def __init__(self, space: SchemaSpace, trail: frozenset[str], place: str) -> None:
        self.space, self.trail, self.place = space, trail, place
        self.parts = 0

    def read(self, schema: Any, seen: frozenset[str], exact: bool) -> Shape:
        """exact: the schema is the thing itself, not a base that an `allOf` adds to it."""
        self.parts += 1
        if not isinstance(schema, dict) or self.parts > MAX_PARTS:
            if self.parts > MAX_PARTS:
                self.space.notices.add("a schema combines too many others; the rest was not read", self.place)
            return Shape()
        shape = _own(schema)
        if isinstance(ref := schema.get("$ref"), str):
            shape = _both(shape, self._referred(ref, seen, exact))
        parts = schema.get("allOf")
        if isinstance(parts, list):
            alone = exact and len(parts) == 1 and not shape.properties
            for part in parts:
                shape = _both(shape, self.read(part, seen, alone))
        for key in ("oneOf", "anyOf"):
            branches = schema.get(key)
            if isinstance(branches, list) and branches:
                shape = _both(shape, _either([self.read(branch, seen, exact) for branch in branches]))
        return shape

    def _referred(self, ref: str, seen: frozenset[str], exact: bool) -> Shape:
        if exact and ref in self.trail:
            own = _own(self.space.target(ref, self.place))
            return replace(own, properties={}, items=None, values=None, folded=(ref,))
        if ref in seen:
            return Shape()
        target = self.space.target(ref, self.place)
        shape = self.read(target, seen | {ref}, exact)
        if not exact:
            return shape
        shape = replace(shape, refs=shape.refs | {ref})
        if "discriminator" in target and not ("oneOf" in target or "anyOf" in target):
            shape = self._with_variants(shape, ref, target, seen | {ref})
        return shape

    def _with_variants(self, base: Shape, ref: str, target: dict[str, Any], seen: frozenset[str]) -> Shape:
        variants = [v for v in self.space.variants(ref, target) if v not in seen and v not in self.trail]
        if len(variants) > MAX_VARIANTS:
            self.space.notices.add(
                f"a base schema has over {MAX_VARIANTS} variants; only what they share is listed", ref
            )
            return base
        shapes = [self.read({"$ref": variant}, seen, True) for variant in variants]
        merged = _either([base, *shapes]) if shapes else base
        return replace(merged, annotations=base.annotations | merged.annotations)


def schema_shape(
    space: SchemaSpace, schema: Any, *, place: str, trail: frozenset[str] = frozenset()
) -> Shape:
    """Read a schema. trail: the `$ref`s of its ancestors, at which recursion is cut."""
    only_ref = isinstance(schema, dict) and len(schema) == 1 and isinstance(schema.get("$ref"), str)
    if not only_ref:
        return _Reader(space, trail, place).read(schema, frozenset(), True)
    ref = schema["$ref"]
    if ref not in space.shapes:
        space.shapes[ref] = _Reader(space, frozenset(), place).read(schema, frozenset(), True)
    shape: Shape = space.shapes[ref]
    # Read without ancestors it is the same, unless it stands for one of them.
    return (
        shape
        if trail.isdisjoint(shape.refs)
        else _Reader(space, trail, place).read(schema, frozenset(), True)
    )


def _own(schema: dict[str, Any]) -> Shape:
    """What the schema's own keywords say."""
    types, nullable = declared_types(schema)
    properties = schema.get("properties")
    properties = properties if isinstance(properties, dict) else {}
    required = schema.get("required")
    items = schema.get("items")
    values = schema.get("additionalProperties")
    enum = [schema["const"]] if "const" in schema else schema.get("enum")
    enum = enum if isinstance(enum, list) else []
    if isinstance(items, list):  # a tuple: what any of its places may hold
        items = {"anyOf": items} if items else {}
    elif isinstance(prefix := schema.get("prefixItems"), list) and prefix:
        items = {"anyOf": [*prefix, *([items] if isinstance(items, dict) else [])]}
    return Shape(
        types=tuple(types or _inferred(schema, properties, enum)),
        nullable=nullable or None in enum,
        properties=properties,
        required=frozenset(n for n in required if isinstance(n, str))
        if isinstance(required, list)
        else frozenset(),
        items=items if isinstance(items, dict) else None,
        values=values if isinstance(values, dict) and values else None,
        enum=tuple(value for value in enum if value is not None),
        annotations={key: schema[key] for key in _ANNOTATIONS if key in schema},
    )


def _inferred(schema: dict[str, Any], properties: dict[str, Any], enum: list[Any]) -> list[str]:
    declared = schema.get("type")
    if isinstance(declared, str) and declared.lower() in TYPE_NAMES:
        return []  # an explicit "any"
    if properties or isinstance(schema.get("additionalProperties"), dict):
        return ["object"]
    if "items" in schema or "prefixItems" in schema:
        return ["array"]
    return sorted({_PYTHON_TYPES[type(v)] for v in enum if type(v) in _PYTHON_TYPES})


def _both(first: Shape, second: Shape) -> Shape:
    """The shape of what obeys both schemas; the first one's annotations win."""
    properties = dict(first.properties)
    for name, schema in second.properties.items():
        same = name not in properties or properties[name] == schema
        properties[name] = schema if same else {"allOf": [properties[name], schema]}
    shared = tuple(t for t in first.types if t in second.types)
    return Shape(
        types=shared or first.types or second.types,
        nullable=first.nullable or second.nullable,
        properties=properties,
        required=first.required | second.required,
        items=_joined("allOf", [first.items, second.items]),
        values=_joined("allOf", [first.values, second.values]),
        enum=first.enum or second.enum,
        refs=first.refs | second.refs,
        folded=first.folded + second.folded,
        annotations=second.annotations | first.annotations,
    )


def _either(branches: list[Shape]) -> Shape:
    """The shape of what obeys one of the schemas."""
    real = [branch for branch in branches if branch.types != ("null",)] or branches
    names = dict.fromkeys(name for branch in real for name in branch.properties)
    return Shape(
        types=tuple(dict.fromkeys(t for b in real for t in b.types)) if all(b.types for b in real) else (),
        nullable=len(real) < len(branches) or any(branch.nullable for branch in real),
        properties={n: _joined("anyOf", [b.properties.get(n) for b in real]) for n in names},
        required=frozenset.intersection(*(branch.required for branch in real)),
        items=_joined("anyOf", [branch.items for branch in real]),
        values=_joined("anyOf", [branch.values for branch in real]),
        enum=_distinct(v for b in real for v in b.enum) if all(b.enum for b in real) else (),
        refs=frozenset().union(*(branch.refs for branch in real)),
        folded=tuple(ref for branch in real for ref in branch.folded),
        annotations=real[0].annotations if len(real) == 1 else {},
    )


def _joined(key: str, schemas: list[Any]) -> Any:
    """The schemas that are there as one schema."""
    present = _distinct(schema for schema in schemas if schema is not None)
    return {key: list(present)} if len(present) > 1 else (present[0] if present else None)


def _distinct(values: Iterable[Any]) -> tuple[Any, ...]:
    kept: list[Any] = []
    for value in values:
        # True == 1 in Python, not in JSON
        if not any(value is other or (value == other and type(value) is type(other)) for other in kept):
            kept.append(value)
    return tuple(kept)
