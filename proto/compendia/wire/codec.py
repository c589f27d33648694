"""Compendium and snapshot on the wire: a line per record, each `[kind, body]` in canonical JSON.

    compendium = header record* end            snapshot = snapshot header record* conflict* end
    header     = ["compendium", {...}]         snapshot = ["snapshot", {revision, parent, ..., members}]
    record     = [section, {...}]              conflict = ["conflict", {...}]
    end        = ["end", {"lines": how many stand before it}]

Reading validates line by line (`contract.validate`), so a large upload is checked without ever being whole in
memory. Equal documents give equal bytes. The end line tells a whole text from one that was cut.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterator
from typing import IO, Any

from pydantic import TypeAdapter, ValidationError

from compendia.contract import (
    SCHEMA_VERSION,
    SECTIONS,
    CompendiaError,
    Compendium,
    Conflict,
    ErrorCode,
    Record,
    Snapshot,
    error,
    seal,
    strict_json,
)
from compendia.contract.document import header_json, record_json, records, sorted_compendium
from compendia.contract.validate import KnownTools, Validator

from .framing import SNAPSHOT_CAPS, UPLOAD_CAPS, Caps, compress, lines

MIN_SCHEMA_VERSION = 1
"""The oldest schema version that this program reads; SCHEMA_VERSION is the newest."""

_CONFLICT: TypeAdapter[Conflict] = TypeAdapter(Conflict)


def encode(compendium: Compendium, caps: Caps = UPLOAD_CAPS) -> Iterator[bytes]:
    """A compendium as chunks of at most CHUNK_BYTES. Raises TOO_LARGE."""
    return compress(_numbered(_compendium_rows(sorted_compendium(compendium))), caps)


def encode_snapshot(snapshot: Snapshot, caps: Caps = SNAPSHOT_CAPS) -> Iterator[bytes]:
    """A snapshot as chunks of at most CHUNK_BYTES. Raises TOO_LARGE."""
    return compress(_numbered(_snapshot_rows(snapshot)), caps)


class CompendiumReader:
    """Reads one compendium record by record: `header` at once, the records by iterating, each validated.

    known: gives the tools that may be referred to besides the compendium's own, for the pinned revision that
    the header names. Iterating raises CompendiaError with every problem, at the latest after the last record;
    records with a problem are left out. TOO_LARGE and PROTOCOL concern the bytes.
    """

    def __init__(
        self,
        stream: IO[bytes],
        known: Callable[[str], KnownTools] | None = None,
        caps: Caps = UPLOAD_CAPS,
    ) -> None:
        self._lines = _bodies(stream, caps)
        kind, body = next(self._lines)
        _expect(kind, "compendium")
        self._validator, self.header = _header(body, known, computed_allowed=False)
        self.counts: Counter[str] = Counter()

    def __iter__(self) -> Iterator[tuple[str, Record]]:
        for kind, body in self._lines:
            record = _record(self._validator, self.counts, kind, body)
            if record is not None:
                yield kind, record
        self._validator.finish()

    def whole(self) -> Compendium:
        """The compendium with all its records. Raises as iterating does."""
        return _assemble(self.header, self)


def decode(
    stream: IO[bytes], known: Callable[[str], KnownTools] | None = None, caps: Caps = UPLOAD_CAPS
) -> Compendium:
    """A whole compendium, validated. Raises CompendiaError."""
    return CompendiumReader(stream, known, caps).whole()


def decode_snapshot(stream: IO[bytes], caps: Caps = SNAPSHOT_CAPS) -> Snapshot:
    """A whole snapshot, validated, its revision proved to be the digest of its content.

    Raises CompendiaError; DIGEST_MISMATCH when the revision is another content's.
    """
    return SnapshotReader(caps).read(stream)


class SnapshotReader:
    """Reads snapshots as `decode_snapshot` does, one revision after the other: a line that the one before had
    is not parsed again, and gives the very same record. Holds the records of one snapshot."""

    def __init__(self, caps: Caps = SNAPSHOT_CAPS) -> None:
        self._caps = caps
        self._known: dict[bytes, list[Any]] = {}

    def read(self, stream: IO[bytes]) -> Snapshot:
        """The snapshot. Raises as `decode_snapshot`."""
        key, known, now = b"", self._known, dict[bytes, list[Any]]()

        def parse(line: bytes) -> Any:
            nonlocal key
            key = hashlib.sha256(line).digest()
            return known.get(key) or strict_json.loads(line)

        rows = _bodies(stream, self._caps, parse)
        kind, frame = next(rows)
        _expect(kind, "snapshot")
        kind, body = next(rows, ("", None))
        _expect(kind, "compendium")
        validator, header = _header(body, None, computed_allowed=True)
        conflicts: list[Conflict] = []
        counts: Counter[str] = Counter()

        def merged() -> Iterator[tuple[str, Record]]:
            for kind, body in rows:
                if kind == "conflict":
                    conflicts.append(_conflict(body, len(conflicts)))
                    now[key] = [kind, conflicts[-1]]
                    continue
                record = _record(validator, counts, kind, body)
                if record is not None:
                    now[key] = [kind, record]
                    yield kind, record
            validator.finish()

        compendium = _assemble(header, merged())
        try:
            snapshot = Snapshot.model_validate({**frame, "compendium": compendium, "conflicts": conflicts})
        except (ValidationError, TypeError) as fault:
            raise error(ErrorCode.BAD_FIELD, f"is not a snapshot's frame: {fault}", "snapshot") from None
        proved = _proved(snapshot)
        self._known = now
        return proved


def conflicts_of(stream: IO[bytes], caps: Caps = SNAPSHOT_CAPS) -> Iterator[Conflict]:
    """The conflict log of an encoded snapshot, in the memory of a line."""
    count = 0
    for kind, body in _bodies(stream, caps):
        if kind == "conflict":
            yield _conflict(body, count)
            count += 1


def _proved(snapshot: Snapshot) -> Snapshot:
    parts = {name: getattr(snapshot, name) for name in Snapshot.model_fields}
    del parts["revision"], parts["schema_version"]
    expected = seal(**parts).revision
    if expected != snapshot.revision:
        raise error(
            ErrorCode.DIGEST_MISMATCH,
            f"the snapshot calls itself {snapshot.revision!r}, its content is {expected!r}",
            "snapshot.revision",
        )
    return snapshot


def _compendium_rows(compendium: Compendium) -> Iterator[tuple[str, Any]]:
    yield "compendium", header_json(compendium)
    for section, record in records(compendium):
        yield section, record_json(record)


def _snapshot_rows(snapshot: Snapshot) -> Iterator[tuple[str, Any]]:
    yield "snapshot", snapshot.model_dump(mode="json", exclude={"compendium", "conflicts"})
    yield from _compendium_rows(snapshot.compendium)
    for conflict in snapshot.conflicts:
        yield "conflict", conflict.model_dump(mode="json")


def _numbered(rows: Iterator[tuple[str, Any]]) -> Iterator[bytes]:
    count = 0
    for row in rows:
        yield (strict_json.canonical(row) + "\n").encode("utf-8")
        count += 1
    yield (strict_json.canonical(("end", {"lines": count})) + "\n").encode("utf-8")


def _bodies(
    stream: IO[bytes], caps: Caps, parse: Callable[[bytes], Any] = strict_json.loads
) -> Iterator[tuple[str, Any]]:
    """Kind and body of every line before the end line. Raises PROTOCOL when the text is not whole."""
    count = 0
    ended = False
    for line in lines(stream, caps):
        if ended:
            raise error(ErrorCode.PROTOCOL, "something follows the end line", f"line {count + 2}")
        try:
            row = parse(line)
        except CompendiaError as fault:
            problem = fault.problems[0]
            where = f"line {count + 1}" + (f" {problem.path}" if problem.path else "")
            raise error(problem.code, problem.message, where, problem.fix) from None
        if not (isinstance(row, list) and len(row) == 2 and isinstance(row[0], str)):
            raise error(ErrorCode.PROTOCOL, "a line is [kind, body]", f"line {count + 1}")
        kind, body = row
        if kind == "end":
            if body != {"lines": count}:
                raise error(ErrorCode.PROTOCOL, f"{count} lines arrived, the end line says {body}", "end")
            ended = True
            continue
        count += 1
        yield kind, body
    if not ended:
        raise error(ErrorCode.PROTOCOL, f"the text breaks off after {count} lines", "end")


def _expect(kind: str, expected: str) -> None:
    if kind != expected:
        raise error(ErrorCode.PROTOCOL, f"here stands a line of kind {kind!r}, expected is {expected!r}")


def _header(
    body: Any, known: Callable[[str], KnownTools] | None, *, computed_allowed: bool
) -> tuple[Validator, Compendium]:
    pinned = body.get("pinned", "") if isinstance(body, dict) else ""
    tools = known(pinned) if known and isinstance(pinned, str) else None
    validator = Validator(tools, computed_allowed=computed_allowed)
    header = validator.header(body)
    if header is None:
        raise CompendiaError(validator.problems)
    return validator, header


def _record(validator: Validator, counts: Counter[str], kind: str, body: Any) -> Record | None:
    made = validator.record(kind, counts[kind], body)
    counts[kind] += 1
    return made


def _assemble(header: Compendium, rows: Any) -> Compendium:
    sections: dict[str, list[Record]] = {name: [] for name in SECTIONS}
    for section, record in rows:
        sections[section].append(record)
    return header.model_copy(update={name: tuple(made) for name, made in sections.items()})


def _conflict(body: Any, index: int) -> Conflict:
    try:
        return _CONFLICT.validate_python(body)  # one that was read before passes as it is
    except ValidationError as fault:
        first = fault.errors(include_url=False)[0]
        raise error(ErrorCode.BAD_FIELD, first["msg"], f"conflict[{index}]") from None


def check_versions(low: int, high: int) -> None:
    """Raises SCHEMA_VERSION naming both sides' versions when the other side reads none of ours."""
    if low > SCHEMA_VERSION or high < MIN_SCHEMA_VERSION:
        theirs = f"{low}" if low == high else f"{low} to {high}"
        ours = (
            f"{SCHEMA_VERSION}"
            if MIN_SCHEMA_VERSION == SCHEMA_VERSION
            else f"{MIN_SCHEMA_VERSION} to {SCHEMA_VERSION}"
        )
        raise error(
            ErrorCode.SCHEMA_VERSION,
            f"the client speaks schema version {theirs}, the server {ours}",
            "schema_versions",
            f"upgrade the {'server' if low > SCHEMA_VERSION else 'client'}",
        )
