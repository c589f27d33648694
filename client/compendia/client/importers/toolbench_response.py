"""ToolBench's example responses, whose leaves name types, as JSON Schema.

Texts of over 1,000 characters were cut when the dataset was made; what stands before the cut is kept.
"""

from __future__ import annotations

import re
from typing import Any

from compendia.contract import CompendiaError, strict_json

from .schema_space import TYPE_NAMES
from .texts import Notices

_LIST_OF = re.compile(r"list of (\w+) with length \d+")
_LENGTH = "_list_length"  # a note of the dataset's makers, no field


def example_schema(example: Any, notices: Notices, place: str) -> dict[str, Any]:
    """The schema of an example response, given as a tree or as JSON text; empty if there is none."""
    if isinstance(example, str):
        example = _parsed(example, notices, place)
    return _schema(example) if example not in (None, "", {}, []) else {}


def _schema(node: Any) -> dict[str, Any]:
    if isinstance(node, dict):
        properties = {key: _schema(value) for key, value in node.items() if key != _LENGTH}
        return {"type": "object", "properties": properties}
    if isinstance(node, list):
        return {"type": "array", "items": _items(node)}
    if isinstance(node, str):
        if listed := _LIST_OF.fullmatch(node):
            return {"type": "array", "items": _named(listed[1])}
        return {"type": "array"} if node == "empty list" else _named(node)
    return {}


def _items(entries: list[Any]) -> dict[str, Any]:
    """What a list holds. A lone `list of str with length 4` describes the list that it stands in."""
    if len(entries) == 1 and isinstance(entries[0], str):
        inner = _schema(entries[0])
        if inner.get("type") == "array":
            items: dict[str, Any] = inner.get("items", {})
            return items
    schemas = [_schema(entry) for entry in entries]
    distinct = [schema for index, schema in enumerate(schemas) if schema not in schemas[:index]]
    return distinct[0] if len(distinct) == 1 else ({"anyOf": distinct} if distinct else {})


def _named(word: str) -> dict[str, Any]:
    name = TYPE_NAMES.get(word.strip().lower(), "")
    if name == "null":
        return {"nullable": True}  # the one example had nothing there: any type may come
    return {"type": name} if name else {}


def _parsed(text: str, notices: Notices, place: str) -> Any:
    if not text.strip():
        return None
    try:
        return strict_json.loads(text)
    except CompendiaError:
        pass
    for mended in _closed(text):
        try:
            found = strict_json.loads(mended)
        except CompendiaError:
            continue
        notices.add("an example response is cut off; the fields before the cut are kept", place)
        return found
    notices.add("an example response is no JSON and was left out", place)
    return None


def _closed(text: str) -> list[str]:
    """The text cut after each of its last complete values, brackets closed; the longest first."""
    cuts: list[tuple[int, str]] = []
    closers: list[str] = []
    quoted = escaped = False
    for index, character in enumerate(text):
        if quoted:
            quoted = escaped or character != '"'
            escaped = character == "\\" and not escaped
        elif character == '"':
            quoted = True
        elif character in "{[":
            closers.append("}" if character == "{" else "]")
            cuts.append((index + 1, "".join(reversed(closers))))
        elif character in "}]":
            if not closers or closers.pop() != character:
                return []
        elif character == ",":
            cuts.append((index, "".join(reversed(closers))))
    return [text[:end] + ending for end, ending in reversed(cuts[-3:])]
