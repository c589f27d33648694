"""A response schema flattened to the dotted paths of its fields.

Leaves are listed (`data[].owner.id`), containers only where nothing is known below them or where they are
left folded: at recursion, at MAX_LEVELS, or when opening them would pass MAX_FIELDS. A folded field names
its definition, so nothing is lost. `a[]` is an item of the array a, `a.*` a value of the map a, `$` a root
that is no object; a key that holds one of `.[]*"` stands in brackets and quotes: `data["x.y"]`.
"""

from __future__ import annotations

import json
import re
from collections import deque
from dataclasses import dataclass
from typing import Any

from compendia.contract import ResponseField

from . import meanings as notes
from .schema_shape import Shape, schema_shape
from .schema_space import SchemaSpace
from .texts import MAX_NAME, clean

MAX_LEVELS = 6
MAX_FIELDS = 256
_IDENTIFIER = re.compile(
    r"(?:id|_id|uuid|guid|key)$|.*(?:_(?:id|uuid|guid)|[a-z0-9](?:Id|ID|Uuid|UUID|Guid|GUID))$"
)
_ODD_KEY = re.compile(r'[.\[\]*"\s]|^\$$')


@dataclass(frozen=True)
class _Node:
    path: str
    name: str  # the property's own name; empty at the root
    group: str
    schema: Any
    level: int
    trail: frozenset[str]
    outer: Shape | None = None  # the array whose items these are: its words count where theirs are missing


def response_fields(
    space: SchemaSpace, schema: Any, *, group: str = "", place: str = ""
) -> tuple[ResponseField, ...]:
    """The fields of a response, nearest to the root first.

    group: of the fields at the root; deeper ones belong to the name of their parent.
    """
    found: dict[str, ResponseField] = {}
    queue = deque([_Node("", "", group, schema, 0, frozenset())])
    while queue:
        node = queue.popleft()
        shape = schema_shape(space, node.schema, place=place, trail=node.trail)
        if shape.annotations.get("writeOnly") is True:
            continue
        children = _children(node, shape) if node.level < MAX_LEVELS else []
        if node.path and len(found) + len(queue) + len(children) > MAX_FIELDS:
            children = []
        children = _fitting(space, children, MAX_FIELDS, place)
        queue.extend(children)
        if shape.folded or not children:
            made = _field(space, node, shape, place)
            found.setdefault(made.path, made)
    return tuple(found.values())


def _children(node: _Node, shape: Shape) -> list[_Node]:
    trail = node.trail | shape.refs
    group = node.name or node.group
    below = [
        _Node(_joined(node.path, name), name, group, schema, node.level + 1, trail)
        for name, schema in shape.properties.items()
    ]
    if shape.items is not None:
        outer = shape if node.outer is None else node.outer
        below.append(_Node(f"{node.path}[]", node.name, node.group, shape.items, node.level, trail, outer))
    if shape.values is not None:
        below.append(_Node(_dotted(node.path, "*"), node.name, group, shape.values, node.level + 1, trail))
    return below


def _fitting(space: SchemaSpace, nodes: list[_Node], limit: int, place: str) -> list[_Node]:
    short = [node for node in nodes if len(node.path) <= MAX_NAME and "\x00" not in node.path]
    if len(short) < len(nodes):
        space.notices.add(f"a field's path is over {MAX_NAME} characters and was left out", place)
    if len(short) > limit:
        space.notices.add(f"a response has over {limit} fields side by side; the rest was left out", place)
    return short[:limit]


def _field(space: SchemaSpace, node: _Node, shape: Shape, place: str) -> ResponseField:
    words = dict(node.outer.annotations if node.outer else {}) | shape.annotations
    where = f"{place} {node.path}".strip()
    description = clean(words.get("description") or words.get("title"), space.notices, where)
    folded = shape.folded or (sorted(shape.refs) if shape.type in {"object", "array", "any"} else ())
    kind: Any = shape.type
    return ResponseField(
        path=node.path or "$",
        type=kind,
        nullable=shape.nullable,
        description=description,
        identifier=is_identifier(node.name, shape),
        group=clean(node.group, space.notices, where),
        source_type=notes.source_type(words, space.notices, where),
        schema_ref=next((i for i in (space.definition_id(ref, where) for ref in folded) if i), ""),
        licences=notes.licences(words),
        **notes.meaning(words, description, shape.type in {"number", "integer", "any"}, space.notices, where),
    )


def is_identifier(name: str, shape: Shape) -> bool:
    """Does the field name a thing, by its own name (`id`, `user_id`, `orderId`) or its `uuid` format?"""
    if shape.type in {"boolean", "object"}:
        return False
    return bool(_IDENTIFIER.fullmatch(name)) or shape.annotations.get("format") == "uuid"


def _joined(path: str, name: str) -> str:
    if not name or _ODD_KEY.search(name):
        return f"{path}[{json.dumps(name, ensure_ascii=False)}]"
    return _dotted(path, name)


def _dotted(path: str, step: str) -> str:
    return f"{path}.{step}" if path else step
