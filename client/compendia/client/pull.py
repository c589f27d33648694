"""Pull: a merged snapshot, validated, in memory or as a file."""

from __future__ import annotations

from pathlib import Path

from compendia.contract import Snapshot
from compendia.contract.document import snapshot_dumps
from compendia.wire.channel import DEFAULT_PATIENCE, Patience
from compendia.wire.fetch import fetch_snapshot

from .files import write_whole


def pull(address: str, revision: str = "", patience: Patience = DEFAULT_PATIENCE) -> Snapshot:
    """The snapshot of a revision ("" for the newest). Raises CompendiaError as `fetch_snapshot` does."""
    return fetch_snapshot(address, revision, patience)


def pull_to(path: Path, address: str, revision: str = "", patience: Patience = DEFAULT_PATIENCE) -> Snapshot:
    """The same, also written to `path`: whole or not at all."""
    snapshot = pull(address, revision, patience)
    write_whole(path, snapshot_dumps(snapshot))
    return snapshot
