"""Pull: a merged snapshot, validated, in memory or as a file."""

from __future__ import annotations

import os
from pathlib import Path

from compendia.contract import ErrorCode, Snapshot, error
from compendia.contract.document import snapshot_dumps
from compendia.wire.channel import DEFAULT_PATIENCE, Patience
from compendia.wire.fetch import fetch_snapshot


def pull(address: str, revision: str = "", patience: Patience = DEFAULT_PATIENCE) -> Snapshot:
    """The snapshot of a revision ("" for the newest). Raises CompendiaError as `fetch_snapshot` does."""
    return fetch_snapshot(address, revision, patience)


def pull_to(path: Path, address: str, revision: str = "", patience: Patience = DEFAULT_PATIENCE) -> Snapshot:
    """The same, also written to `path`: whole or not at all."""
    snapshot = pull(address, revision, patience)
    write_whole(path, snapshot_dumps(snapshot))
    return snapshot


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
