"""Fetch a merged snapshot from an aggregator: what a client's `pull` and a router's refresh share."""

from __future__ import annotations

import tempfile
from typing import IO

from compendia.contract import SCHEMA_VERSION, ErrorCode, Snapshot, error

from .channel import DEFAULT_PATIENCE, Patience, call, connect
from .codec import MIN_SCHEMA_VERSION, SnapshotReader
from .framing import SNAPSHOT_CAPS, Receiver
from .v1 import compendia_pb2 as pb
from .v1.compendia_pb2_grpc import AggregatorStub


def spoken_versions() -> pb.SchemaVersions:
    """The schema versions that this program reads, as every request states them."""
    return pb.SchemaVersions(min=MIN_SCHEMA_VERSION, max=SCHEMA_VERSION)


def fetch_snapshot(
    address: str,
    revision: str = "",
    patience: Patience = DEFAULT_PATIENCE,
    reader: SnapshotReader | None = None,
) -> Snapshot:
    """The snapshot of a revision ("" for the newest), validated, its revision proved.

    reader: one that read the revision before; what did not change is not parsed again.
    Raises CompendiaError: NO_SNAPSHOT, UNKNOWN_REVISION, UNREACHABLE, DEADLINE, DIGEST_MISMATCH,
    SCHEMA_VERSION.
    """
    with connect(address) as channel, tempfile.TemporaryFile() as sink:
        stub = AggregatorStub(channel)
        whole = call(lambda seconds: _receive(stub, revision, seconds, patience, sink), address, patience)
        return (reader or SnapshotReader()).read(whole)


def _receive(
    stub: AggregatorStub, revision: str, seconds: float, patience: Patience, sink: IO[bytes]
) -> IO[bytes]:
    """Take the bytes of one attempt into the sink, from its start."""
    sink.seek(0)
    sink.truncate()
    receiver = Receiver(sink, SNAPSHOT_CAPS)
    request = pb.PullRequest(schema_versions=spoken_versions(), revision=revision)
    digest = None
    for message in stub.Pull(request, timeout=seconds, wait_for_ready=patience.wait_for_ready):
        if message.WhichOneof("part") == "info":
            digest = message.info.digest
        else:
            receiver.write(message.chunk)
    if digest is None:
        raise error(ErrorCode.PROTOCOL, "the server sent no info before the bytes", "info")
    return receiver.finish(digest)
