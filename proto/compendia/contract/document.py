"""The compendium as a file: one JSON document, one record a line, so that `diff` and `git` can read it.

`dumps` is canonical: equal compendia give equal bytes. `loads` refuses whatever `Validator` refuses.
The wire frames the same records one by one (`compendia.wire.codec`).
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from . import strict_json
from .compendium import HEADER_FIELDS, SECTIONS, Compendium, Record
from .errors import CompendiaError, ErrorCode, Problem, error
from .signature import record_key
from .snapshot import Snapshot
from .validate import KnownTools, Validator


def record_json(record: Record) -> dict[str, Any]:
    """A record as JSON, fields that stand at their default left out."""
    return record.model_dump(mode="json", exclude_defaults=True)


def header_json(compendium: Compendium) -> dict[str, Any]:
    """The fields that stand before the sections; the schema version is always there."""
    dumped = compendium.model_dump(mode="json", include=set(HEADER_FIELDS), exclude_defaults=True)
    return {"schema_version": compendium.schema_version, **dumped}


def sorted_compendium(compendium: Compendium) -> Compendium:
    """The same compendium with every section sorted by key: the canonical order."""
    return compendium.model_copy(
        update={name: tuple(sorted(getattr(compendium, name), key=record_key)) for name in SECTIONS}
    )


def records(compendium: Compendium) -> Iterator[tuple[str, Record]]:
    """Every record with its section, in document order."""
    for name in SECTIONS:
        for record in getattr(compendium, name):
            yield name, record


def dumps(compendium: Compendium) -> str:
    """The document's canonical text."""
    return _document(sorted_compendium(compendium))


def _document(compendium: Compendium) -> str:
    lines = ["{" + strict_json.canonical(header_json(compendium))[1:-1]]
    for name in SECTIONS:
        items = [strict_json.canonical(record_json(r)) for r in getattr(compendium, name)]
        if items:
            lines[-1] += ","
            lines.append(f'"{name}":[')
            lines.extend(f"{item}," for item in items[:-1])
            lines += [items[-1], "]"]
    lines[-1] += "}"
    return "\n".join(lines) + "\n"


def from_json(data: Any, known: KnownTools | None = None, *, computed_allowed: bool = False) -> Compendium:
    """A compendium from parsed JSON. Raises CompendiaError with every problem found."""
    validator = Validator(known, computed_allowed=computed_allowed)
    header = validator.header(data)
    if header is None:
        raise CompendiaError(validator.problems)
    sections: dict[str, tuple[Record, ...]] = {}
    for name in SECTIONS:
        entries = data.get(name, [])
        if not isinstance(entries, list):
            raise error(ErrorCode.BAD_FIELD, "a section is a list of records", name)
        made = (validator.record(name, index, entry) for index, entry in enumerate(entries))
        sections[name] = tuple(record for record in made if record is not None)
    validator.finish()
    return header.model_copy(update=sections)


def loads(data: bytes | str, known: KnownTools | None = None) -> Compendium:
    """Parse and validate a compendium document. Raises CompendiaError."""
    return from_json(strict_json.loads(data), known)


def check(compendium: Compendium, known: KnownTools | None = None, *, computed_allowed: bool = False) -> None:
    """Validate a compendium made in code as strictly as one that was read: by what its records are when
    written. Raises CompendiaError."""
    validator = Validator(known, computed_allowed=computed_allowed)
    validator.header(header_json(compendium))
    for name in SECTIONS:
        for index, record in enumerate(getattr(compendium, name)):
            validator.record(name, index, _as_read(record, f"{name}[{index}]"))
    validator.finish()


def _as_read(record: Record, path: str) -> Any:
    """What a reader of the written record gets. Raises CompendiaError where it is not JSON of text."""
    try:
        text = strict_json.canonical(record_json(record))
    except ValueError:
        raise error(ErrorCode.NOT_A_NUMBER, "holds NaN or an infinity", path) from None
    try:
        return strict_json.loads(text)
    except CompendiaError as fault:
        raise CompendiaError(
            Problem(p.code, p.message, f"{path}.{p.path}", p.fix) for p in fault.problems
        ) from None


def load(path: Path, known: KnownTools | None = None) -> Compendium:
    """Read a compendium file. Raises CompendiaError, also when the file cannot be read."""
    return loads(read_bytes(path), known)


def dump(compendium: Compendium, path: Path) -> None:
    """Write a compendium file."""
    path.write_text(dumps(compendium), encoding="utf-8")


def snapshot_dumps(snapshot: Snapshot) -> str:
    """A snapshot's canonical text (one line)."""
    dumped = snapshot.model_dump(mode="json", exclude_defaults=True, exclude={"conflicts"})
    dumped["conflicts"] = [conflict.model_dump(mode="json") for conflict in snapshot.conflicts]
    return strict_json.canonical(dumped) + "\n"


def snapshot_loads(data: bytes | str) -> Snapshot:
    """Parse and validate a snapshot document. Raises CompendiaError."""
    tree = strict_json.loads(data)
    if not isinstance(tree, dict) or not isinstance(tree.get("compendium"), dict):
        raise error(
            ErrorCode.BAD_FIELD, "this is not a snapshot", "$", "make one with `compendia client pull`"
        )
    compendium = from_json(
        {"schema_version": tree.get("schema_version", 1)} | tree["compendium"], computed_allowed=True
    )
    try:
        return Snapshot.model_validate({**tree, "compendium": compendium})
    except ValidationError as fault:
        first = fault.errors(include_url=False)[0]
        raise error(ErrorCode.BAD_FIELD, first["msg"], ".".join(map(str, first["loc"]))) from None


def read_bytes(path: Path) -> bytes:
    """A file's bytes. Raises SOURCE_UNREADABLE with the reason."""
    try:
        return path.read_bytes()
    except OSError as fault:
        raise error(ErrorCode.SOURCE_UNREADABLE, f"cannot read {path}: {fault.strerror}", str(path)) from None
