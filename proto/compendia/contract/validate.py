"""Validation of a compendium, record by record, from the signatures alone.

`Validator` is fed records one at a time and keeps keys only, so a large upload is checked in the memory of
its ids. All problems of a document are collected (up to `limit`) before they are raised.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import cache
from typing import Any

from pydantic import BaseModel, ValidationError

from .compendium import (
    ANNEX_TYPES,
    HEADER_FIELDS,
    SCHEMA_VERSION,
    SECTIONS,
    Annex,
    Compendium,
    Record,
    ToolMetadata,
)
from .errors import CompendiaError, ErrorCode, Problem
from .ids import check_part, parse_tool_id
from .references import json_refs
from .signature import FieldSignature, Law, record_key, signatures

KnownTools = Mapping[str, Collection[str]]
"""Tool id to the names of its endpoints: what a compendium may refer to beyond its own tools."""

_HEADER = tuple(HEADER_FIELDS)


class Validator:
    """Checks one compendium. Feed `header`, then records in any order, then call `finish`.

    known: tools of the pinned snapshot. computed_allowed: true for a snapshot, whose records carry what the
    merge computed, and whose sums are not bound by what one organization may send. limit: how many problems
    are collected before giving up.
    """

    def __init__(
        self, known: KnownTools | None = None, *, computed_allowed: bool = False, limit: int = 20
    ) -> None:
        self._known = known or {}
        self._computed_allowed = computed_allowed
        self._limit = limit
        self._noised = False
        self._endpoints: dict[str, frozenset[str]] = {}
        self._broken: set[str] = set()
        self._definitions: set[str] = set()
        self._keys: set[tuple[str, tuple[Any, ...]]] = set()
        self._mentions: dict[tuple[str, str], tuple[str, bool]] = {}
        self._refs: dict[str, str] = {}
        self._has_usage = False
        self._window = False
        self.problems: list[Problem] = []

    def header(self, data: Any) -> Compendium | None:
        """Check the header fields; returns a compendium of the header alone, or None when it is bad."""
        if not isinstance(data, dict):
            self._add(Problem(ErrorCode.BAD_FIELD, "a compendium is a JSON object", "$"))
            return None
        version = data.get("schema_version")
        if version != SCHEMA_VERSION or isinstance(version, bool):
            self._add(version_problem(version))
            return None
        made = self._parse(Compendium, {k: v for k, v in data.items() if k in _HEADER}, "")
        if not isinstance(made, Compendium):
            return None
        self._noised = made.stage == "noised"
        self._window = made.window is not None
        if made.org or not self._computed_allowed:
            self._collect("org", lambda: check_part(made.org))
        if made.window and made.window.start >= made.window.end:
            self._add(Problem(ErrorCode.OUT_OF_RANGE, "the window ends before it starts", "window"))
        for key in data:
            if key not in _HEADER and key not in SECTIONS:
                self._add(
                    Problem(
                        ErrorCode.BAD_FIELD, f"unknown field {key!r}", key, "remove it, or check its spelling"
                    )
                )
        return made

    def record(self, section: str, index: int, data: Any) -> Record | None:
        """Check one record of a section; returns it typed, or None when it is bad (the problem is kept)."""
        path = f"{section}[{index}]"
        kind = SECTIONS.get(section)
        if kind is None:
            self._add(Problem(ErrorCode.BAD_FIELD, f"unknown section {section!r}", path))
            return None
        made = data if isinstance(data, kind) else self._parse(kind, data, path)
        if not isinstance(made, kind):
            return None
        key = (section, record_key(made))
        if key in self._keys:
            self._add(
                Problem(
                    ErrorCode.DUPLICATE_ENTRY,
                    f"a second entry for {' '.join(map(str, key[1]))[:120]!r}",
                    path,
                )
            )
        self._keys.add(key)
        self._check_fields(made, path)
        self._register(made, section, path)
        return made

    def finish(self) -> None:
        """Check what spans records. Raises CompendiaError with every problem found."""
        for (tool, endpoint), (path, _) in self._mentions.items():
            names = self._endpoints.get(tool)
            if names is None and tool in self._known:
                names = frozenset(self._known[tool])
            if names is None:
                if tool in self._broken:
                    continue
                self._add(
                    Problem(ErrorCode.UNKNOWN_TOOL, f"names no registered tool: {tool!r}", f"{path}.tool")
                )
            elif endpoint and endpoint not in names:
                self._add(
                    Problem(
                        ErrorCode.UNKNOWN_ENDPOINT,
                        f"{tool!r} has no endpoint {endpoint!r}",
                        f"{path}.endpoint",
                    )
                )
        for target, path in self._refs.items():
            if target not in self._definitions:
                self._add(Problem(ErrorCode.UNRESOLVED_REF, f"$ref {target!r} leads nowhere", path))
        if self._has_usage and not self._window:
            self._add(
                Problem(
                    ErrorCode.BAD_FIELD, "usage counts need a window", "window", "say which time they count"
                )
            )
        if self.problems:
            raise CompendiaError(self.problems)

    def _register(self, made: Record, section: str, path: str) -> None:
        if isinstance(made, ToolMetadata):
            self._endpoints[made.id] = frozenset(e.name for e in made.endpoints)
        if section == "definitions":
            self._definitions.add(made.id)  # type: ignore[attr-defined]
        self._has_usage = self._has_usage or section == "usage"
        references = _references(type(made))
        if "tool" in references:
            endpoint = getattr(made, references["endpoint"]) if "endpoint" in references else ""
            self._mentions.setdefault((getattr(made, references["tool"]), endpoint), (path, True))
        for where, target in json_refs(made, path):
            self._refs.setdefault(target, where)
        if isinstance(made, Annex):
            self._check_annex(made, path)

    def _check_annex(self, made: Annex, path: str) -> None:
        expected = ANNEX_TYPES.get(made.key)
        if expected is None:
            if not made.key.startswith("x-"):
                self._add(
                    Problem(
                        ErrorCode.BAD_FIELD,
                        f"unknown annex key {made.key!r}",
                        f"{path}.key",
                        f"use one of {', '.join(sorted(ANNEX_TYPES))}, or start a key of your own with 'x-'",
                    )
                )
        elif not isinstance(made.value, expected) or isinstance(made.value, bool):
            code = (
                ErrorCode.NOT_A_NUMBER
                if expected is not str and _not_finite(made.value)
                else ErrorCode.BAD_FIELD
            )
            self._add(Problem(code, f"{made.key!r} cannot hold {str(made.value)[:80]!r}", f"{path}.value"))
        elif made.key == "same_as" and isinstance(made.value, str):
            value = made.value
            self._collect(f"{path}.value", lambda: parse_tool_id(value))

    def _check_fields(self, made: BaseModel, path: str) -> None:
        for field in _checked(type(made)):
            value = getattr(made, field.name)
            if field.element is None:
                if not self._computed_allowed:
                    self._check_number(field, value, path)
                continue
            if value:
                where = f"{path}.{field.name}"
                seen: set[tuple[Any, ...]] = set()
                for index, child in enumerate(value):
                    key = record_key(child)
                    if key in seen:
                        self._add(
                            Problem(
                                ErrorCode.DUPLICATE_ENTRY, f"a second entry for {key!r}", f"{where}[{index}]"
                            )
                        )
                    seen.add(key)
                    self._check_fields(child, f"{where}[{index}]")

    def _check_number(self, field: FieldSignature, value: Any, path: str) -> None:
        """What one organization may send: nothing that the merge computes, and counts within their bounds."""
        signature = field.signature
        if signature.law is Law.COMPUTED and value is not None:
            where = f"{path}.{field.name}"
            self._add(Problem(ErrorCode.COMPUTED_FIELD, "is computed at merge and never sent", where))
        bounds = (signature.wire_bounds if self._noised else None) or signature.bounds
        if bounds and not bounds[0] <= value <= bounds[1]:
            outside = f"{value} lies outside {bounds[0]}..{bounds[1]}"
            self._add(Problem(ErrorCode.OUT_OF_RANGE, outside, f"{path}.{field.name}"))

    def _parse(self, kind: type[Record], data: Any, path: str) -> Record | None:
        try:
            return kind.model_validate(data)
        except ValidationError as fault:
            for entry in fault.errors(include_url=False):
                self._add(pydantic_problem(entry, path))
        if kind is ToolMetadata and isinstance(data, dict) and isinstance(data.get("id"), str):
            # Its own problem is enough: entries that name it are not blamed as well.
            self._broken.add(data["id"])
        return None

    def _collect(self, path: str, check: Any) -> None:
        try:
            check()
        except CompendiaError as fault:
            for problem in fault.problems:
                self._add(Problem(problem.code, problem.message, path, problem.fix))

    def _add(self, problem: Problem) -> None:
        self.problems.append(problem)
        if len(self.problems) >= self._limit:
            raise CompendiaError(self.problems)


@cache
def _checked(record: type[BaseModel]) -> tuple[FieldSignature, ...]:
    """The fields that pydantic's own check leaves something to check of."""
    return tuple(
        f for f in signatures(record) if f.signature.law is Law.COMPUTED or f.signature.bounds or f.element
    )


@cache
def _references(record: type[BaseModel]) -> dict[str, str]:
    """The fields that name a tool and its endpoint, by what they name."""
    return {f.signature.refers_to: f.name for f in signatures(record) if f.signature.refers_to}


def version_problem(found: Any) -> Problem:
    """The problem of a schema version that is not ours; it names both."""
    return Problem(
        ErrorCode.SCHEMA_VERSION,
        f"the document has schema version {found!r}, this program reads version {SCHEMA_VERSION}",
        "schema_version",
    )


def pydantic_problem(entry: Any, path: str) -> Problem:
    """One entry of pydantic's `ValidationError.errors()` as a problem; `path` is where the record stands."""
    where = path
    for step in entry["loc"]:
        where += f"[{step}]" if isinstance(step, int) else f"{'.' if where else ''}{step}"
    cause = entry.get("ctx", {}).get("error")
    if isinstance(cause, CompendiaError):
        return Problem(cause.code, cause.problems[0].message, where, cause.problems[0].fix)
    kind = entry["type"]
    if kind == "string_unicode":
        return Problem(ErrorCode.BAD_TEXT, "the text holds a lone surrogate", where)
    if kind == "recursion_depth_exceeded":
        return Problem(
            ErrorCode.INVALID_JSON, "nested too deeply", f"{path}.{entry['loc'][0]}", "flatten the value"
        )
    if kind in {"greater_than_equal", "less_than_equal"}:
        return Problem(ErrorCode.OUT_OF_RANGE, f"{entry['input']!r}: {entry['msg']}", where)
    if kind == "finite_number" or _not_finite(entry["input"]):
        return Problem(ErrorCode.NOT_A_NUMBER, f"{entry['input']!r} is not finite", where)
    if kind == "extra_forbidden":
        return Problem(ErrorCode.BAD_FIELD, "unknown field", where, "remove it, or check its spelling")
    if kind == "missing":
        return Problem(ErrorCode.BAD_FIELD, "is missing", where, "add it")
    return Problem(ErrorCode.BAD_FIELD, f"{entry['msg']}, found {str(entry['input'])[:80]!r}", where)


def _not_finite(value: Any) -> bool:
    return str(value).lower().strip("+-") in {"nan", "inf", "infinity"}
