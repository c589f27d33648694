"""Documents as files: a compendium or a snapshot, whichever a path holds, and writing one whole."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path

from pydantic import JsonValue, ValidationError

from compendia.contract import Compendium, ErrorCode, Snapshot, Window, error, strict_json
from compendia.contract.document import from_json, read_bytes, snapshot_loads
from compendia.contract.validate import KnownTools

from .build import build, combine
from .experience import read_outcomes, window_of

Known = Callable[[str], KnownTools]
"""Gives, for the revision that a compendium pins, the tools that it may name besides its own."""


def read_document(path: Path, known: Known | None = None) -> Compendium | Snapshot:
    """Read and validate what the file holds. Raises CompendiaError with every problem found."""
    data = read_bytes(path)
    tree = strict_json.loads(data)
    if isinstance(tree, dict) and "compendium" in tree:
        return snapshot_loads(data)
    return _compendium(tree, known)


def read_compendium(path: Path, known: Known | None = None) -> Compendium:
    """Read and validate a compendium file. Raises CompendiaError with every problem found."""
    return _compendium(strict_json.loads(read_bytes(path)), known)


def read_snapshot(path: Path) -> Snapshot:
    """Read and validate a snapshot file. Raises CompendiaError."""
    return snapshot_loads(read_bytes(path))


def tools_of(snapshot: Snapshot) -> Known:
    """The tools of a snapshot in hand. Asked for another revision, it raises UNKNOWN_REVISION."""

    def known(revision: str) -> KnownTools:
        if revision not in ("", snapshot.revision):
            raise error(
                ErrorCode.UNKNOWN_REVISION,
                f"the compendium pins {revision}, the snapshot given is {snapshot.revision}",
                "pinned",
                "give the snapshot of the revision that is pinned",
            )
        return snapshot.known_tools()

    return known


def _compendium(tree: JsonValue, known: Known | None) -> Compendium:
    pinned = tree.get("pinned") if isinstance(tree, dict) else None
    return from_json(tree, known(pinned) if known and pinned and isinstance(pinned, str) else None)


def build_files(
    sources: Sequence[Path], experience: Sequence[Path], *, start: str, end: str, pinned: Path | None
) -> Compendium:
    """`build` from files. start, end: the window, "" to read it off the log. Raises CompendiaError."""
    snapshot = read_snapshot(pinned) if pinned is not None else None
    imported = combine([read_compendium(path) for path in sources])
    outcomes = [o for path in experience for o in read_outcomes(read_bytes(path), path.name)]
    if bool(start) != bool(end):
        raise error(
            ErrorCode.USAGE, "a window has two ends", "--from", "give both --from and --to, or neither"
        )
    return build(
        imported,
        outcomes,
        window=_window(start, end) if start else window_of(outcomes),
        known=snapshot.known_tools() if snapshot else None,
        pinned=snapshot.revision if snapshot else "",
    )


def _window(start: str, end: str) -> Window:
    try:
        return Window(start=start, end=end)
    except ValidationError:
        raise error(
            ErrorCode.USAGE, f"{start!r} to {end!r} is not a window", "--from", "write 2026-09-01T00:00:00Z"
        ) from None


def write_whole(path: Path, text: str) -> None:
    """Write a text so that a reader never sees a part of it. Raises USAGE when it cannot be written."""
    part = path.with_name(f"{path.name}.{os.getpid()}.part")
    try:
        part.write_text(text, encoding="utf-8")
        part.replace(path)
    except OSError as fault:
        raise error(
            ErrorCode.USAGE, f"cannot write {path}: {fault.strerror}", "--out", "choose another place"
        ) from None
