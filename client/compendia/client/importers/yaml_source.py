"""YAML read leniently but safely, with the types of YAML 1.2's core schema.

PyYAML follows YAML 1.1, where an unquoted date, `no`, `12:30` or `=` is not the string that its author
meant. Here only true/false, null and decimal numbers are typed; keys keep their own spelling, so that an
unquoted status code `200` is the key "200". No tag can make an object.
"""

from __future__ import annotations

import math
import re
from typing import Any

import yaml

from compendia.contract import ErrorCode, error, strict_json

MAX_NODES = 2_000_000

_Base: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class _Loader(_Base):  # type: ignore[misc]
    yaml_implicit_resolvers: dict[str, list[tuple[str, re.Pattern[str]]]] = {}  # noqa: RUF012 (PyYAML's API)

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[str, Any]:  # noqa: ARG002 (PyYAML's API)
        _refuse_duplicates(node)
        self.flatten_mapping(node)
        return {_key(key): self.construct_object(value, deep=True) for key, value in node.value}


def _construct_map(loader: _Loader, node: yaml.MappingNode) -> dict[str, Any]:
    return loader.construct_mapping(node)


def _construct_int(loader: _Loader, node: yaml.ScalarNode) -> int | str:
    text = str(loader.construct_scalar(node))
    return int(text) if len(text) <= 64 else text


def _construct_float(loader: _Loader, node: yaml.ScalarNode) -> float | str:
    text = str(loader.construct_scalar(node))
    value = float(text)
    return value if math.isfinite(value) else text


_RESOLVERS = (
    ("bool", r"true|True|TRUE|false|False|FALSE", "tTfF"),
    ("null", r"~|null|Null|NULL|", ["~", "n", "N", ""]),
    ("int", r"[-+]?(?:0|[1-9][0-9]*)", "-+0123456789"),
    ("float", r"[-+]?(?:\.[0-9]+|[0-9]+\.[0-9]*|[0-9]+(?=[eE]))(?:[eE][-+]?[0-9]+)?", "-+.0123456789"),
    ("merge", r"<<", "<"),
)
for _tag, _pattern, _first in _RESOLVERS:
    _Loader.add_implicit_resolver(f"tag:yaml.org,2002:{_tag}", re.compile(rf"(?:{_pattern})$"), list(_first))
_Loader.add_constructor("tag:yaml.org,2002:map", _construct_map)
_Loader.add_constructor("tag:yaml.org,2002:int", _construct_int)
_Loader.add_constructor("tag:yaml.org,2002:float", _construct_float)


def load_yaml(data: bytes) -> Any:
    """Parse one YAML document.

    Raises CompendiaError: SOURCE_UNREADABLE with line and column, DUPLICATE_KEY, BAD_TEXT (a NUL or lone
    surrogate), TOO_LARGE when aliases expand to more than MAX_NODES nodes.
    """
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as fault:
        raise error(
            ErrorCode.SOURCE_UNREADABLE, f"byte {fault.start} is not UTF-8", fix="save it as UTF-8"
        ) from None
    try:
        loader = _Loader(text)
        try:
            root = loader.get_single_node()
            if root is None:
                raise error(ErrorCode.SOURCE_UNREADABLE, "the source is empty")
            _check_nodes(root)
            tree = loader.construct_document(root)
        finally:
            loader.dispose()
    except yaml.MarkedYAMLError as fault:
        mark = fault.problem_mark
        where = f" at line {mark.line + 1}, column {mark.column + 1}" if mark else ""
        raise error(
            ErrorCode.SOURCE_UNREADABLE, f"this is neither JSON nor YAML: {fault.problem}{where}"
        ) from None
    except yaml.YAMLError as fault:
        raise error(ErrorCode.SOURCE_UNREADABLE, f"this is neither JSON nor YAML: {fault}") from None
    except RecursionError:
        raise error(ErrorCode.SOURCE_UNREADABLE, "nested too deeply", fix="flatten the document") from None
    if not isinstance(tree, dict | list):
        raise error(ErrorCode.SOURCE_UNREADABLE, "this is plain text, neither JSON nor YAML with content")
    return tree


def _key(node: yaml.Node) -> str:
    if not isinstance(node, yaml.ScalarNode):
        raise yaml.constructor.ConstructorError(None, None, "a key must be a plain value", node.start_mark)
    return str(node.value)


def _refuse_duplicates(node: yaml.MappingNode) -> None:
    seen: set[str] = set()
    for key, _ in node.value:
        if isinstance(key, yaml.ScalarNode) and key.tag != "tag:yaml.org,2002:merge":
            if key.value in seen:
                raise error(
                    ErrorCode.DUPLICATE_KEY,
                    f"the key {key.value!r} stands twice, again at line {key.start_mark.line + 1}",
                )
            seen.add(key.value)


def _check_nodes(root: yaml.Node) -> None:
    """Refuse aliases that contain themselves or expand without bound ("billion laughs"), and bad text."""
    sizes: dict[int, int] = {}
    open_nodes: set[int] = set()
    stack: list[tuple[yaml.Node, bool]] = [(root, False)]
    while stack:
        node, done = stack.pop()
        if done:
            open_nodes.discard(id(node))
            sizes[id(node)] = 1 + sum(sizes[id(child)] for child in _children(node))
        elif id(node) in open_nodes:
            raise error(
                ErrorCode.SOURCE_UNREADABLE,
                f"the alias at line {node.start_mark.line + 1} contains itself",
                fix="write recursive schemas with $ref",
            )
        elif id(node) not in sizes:
            open_nodes.add(id(node))
            if isinstance(node, yaml.ScalarNode):
                strict_json.check_text(node.value, f"line {node.start_mark.line + 1}")
            stack.append((node, True))
            stack.extend((child, False) for child in _children(node) if id(child) not in sizes)
    if sizes[id(root)] > MAX_NODES:
        raise error(
            ErrorCode.TOO_LARGE,
            f"the aliases expand to more than {MAX_NODES:,} nodes",
            fix="use fewer YAML aliases",
        )


def _children(node: yaml.Node) -> list[yaml.Node]:
    if isinstance(node, yaml.MappingNode):
        return [part for pair in node.value for part in pair]
    return list(node.value) if isinstance(node, yaml.SequenceNode) else []
