"""A source's bytes as a tree: JSON strictly, JSON Lines, and YAML as leniently as is safe."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import Any

from compendia.contract import (
    Annex,
    CompendiaError,
    ErrorCode,
    Precaution,
    Problem,
    SchemaDefinition,
    ToolMetadata,
    error,
    strict_json,
)
from compendia.contract.ids import check_part, slug

from .texts import Notices
from .yaml_source import load_yaml

MAX_DEPTH = 200


@dataclass(frozen=True)
class Source:
    """What an importer reads: the parsed tree, who it is from, and where its notices go.

    name: what the source is called (a file's stem), the last resort for a publisher or namespace.
    publisher: the caller's override; empty to derive it from the tree.
    digest: SHA-256 (hex) of the source's bytes.
    """

    tree: Any
    name: str
    publisher: str
    digest: str
    notices: Notices = field(default_factory=Notices)

    def publisher_or(self, derived: str) -> str:
        """The override, else the slug of what was derived, else of the source's name."""
        if self.publisher:
            return self.publisher
        try:
            return check_part(derived)  # a domain is a part as it is, also with a hyphen
        except CompendiaError:
            return slug(derived or self.name)


@dataclass
class Harvest:
    """The records an importer found, still without an organization."""

    definitions: list[SchemaDefinition] = field(default_factory=list)
    tools: list[ToolMetadata] = field(default_factory=list)
    precautions: list[Precaution] = field(default_factory=list)
    annex: list[Annex] = field(default_factory=list)


def parse(data: bytes, *, name: str, publisher: str) -> Source:
    """Parse JSON, JSON Lines (as a list of its lines) or YAML.

    Raises CompendiaError: what `strict_json.loads` raises, SOURCE_UNREADABLE (not YAML either, or no text),
    DUPLICATE_KEY, TOO_LARGE (aliases that expand without bound), SOURCE_UNSUPPORTED (nested too deeply).
    """
    tree = _tree(data)
    _check_depth(tree)
    return Source(tree, name, publisher, hashlib.sha256(data).hexdigest())


def _tree(data: bytes) -> Any:
    text = data.removeprefix(b"\xef\xbb\xbf").strip()
    if not text:
        raise error(ErrorCode.SOURCE_UNREADABLE, "the source is empty")
    if text[:1] not in b"{[":
        return load_yaml(data)
    lines = [line for line in text.splitlines() if line.strip()]
    if len(lines) > 1 and text[:1] == b"{" and _is_whole(lines[0]):
        return [_line(line, number) for number, line in enumerate(lines, 1)]
    return strict_json.loads(data)


def _is_whole(line: bytes) -> bool:
    """Is the line an object of its own, so that the file is JSON Lines?"""
    try:
        return isinstance(strict_json.loads(line), dict)
    except CompendiaError as fault:
        return fault.code is not ErrorCode.INVALID_JSON


def _line(line: bytes, number: int) -> Any:
    try:
        return strict_json.loads(line)
    except CompendiaError as fault:
        raise CompendiaError(
            Problem(p.code, p.message, f"record {number}{f': {p.path}' if p.path else ''}", p.fix)
            for p in fault.problems
        ) from None


def _check_depth(tree: Any) -> None:
    level, depth = [tree], 0
    while level:
        depth += 1
        if depth > MAX_DEPTH:
            raise error(
                ErrorCode.SOURCE_UNSUPPORTED,
                f"the source is nested more than {MAX_DEPTH} levels deep",
                fix="flatten it, or check how it was generated",
            )
        level = [child for node in level for child in _containers(node)]


def _containers(node: Any) -> list[Any]:
    children = node.values() if isinstance(node, dict) else node
    return [child for child in children if isinstance(child, dict | list)]
