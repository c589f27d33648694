"""The aggregator's gRPC service: turns messages into calls of the coordinator, and back.

Refusals are CompendiaErrors; `wire.server` turns them into rich statuses.
"""

from __future__ import annotations

import io
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from tempfile import SpooledTemporaryFile

import grpc

from compendia.contract import SCHEMA_VERSION, ErrorCode, error, strict_json
from compendia.wire.codec import check_versions, conflicts_of
from compendia.wire.framing import CHUNK_BYTES, UPLOAD_CAPS, Caps
from compendia.wire.v1 import compendia_pb2 as pb
from compendia.wire.v1.compendia_pb2_grpc import AggregatorServicer

from .coordinator import Coordinator
from .receive import SPOOL_BYTES, Slots, announced, receive, validated
from .rounds import Close, Open, Phase, RoundsState
from .store import StoredContribution, StoredSnapshot

_PHASES = {
    Phase.NONE: pb.ROUND_PHASE_UNSPECIFIED,
    Phase.OPEN: pb.ROUND_PHASE_OPEN,
    Phase.MERGING: pb.ROUND_PHASE_MERGING,
    Phase.CLOSED: pb.ROUND_PHASE_CLOSED,
}
_CONFLICTS_A_MESSAGE = 100


@dataclass(frozen=True)
class ServiceSettings:
    """upload_slots, validation_slots: how many uploads are received, and unpacked, at once. upload_s: after
    so many seconds an upload is cut off, whatever its client's deadline. quorum, deadline_s: of a round that
    is opened without; deadline_s None waits for ever.
    """

    caps: Caps = UPLOAD_CAPS
    upload_slots: int = 8
    validation_slots: int = 2
    upload_s: float = 300.0
    quorum: int = 1
    deadline_s: float | None = None


DEFAULT_SETTINGS = ServiceSettings()


class AggregatorService(AggregatorServicer):
    """`Aggregator` of compendia.v1 over a coordinator."""

    def __init__(self, coordinator: Coordinator, settings: ServiceSettings = DEFAULT_SETTINGS) -> None:
        self._rounds = coordinator
        self._settings = settings
        self._uploading = Slots(settings.upload_slots, "uploads")
        self._validating = Slots(settings.validation_slots, "validation")

    def Publish(
        self, request_iterator: Iterator[pb.PublishRequest], context: grpc.ServicerContext
    ) -> pb.PublishReceipt:
        with SpooledTemporaryFile(SPOOL_BYTES) as spool, _cut_off_after(self._settings.upload_s, context):
            claim = announced(request_iterator)
            kept = self._rounds.repeated(claim.org, claim.round, claim.digest)
            if kept is not None:
                return _receipt(kept, repeated=True)
            self._rounds.check_open(claim.org, claim.round)
            with self._uploading.one(context.time_remaining()):
                receive(request_iterator, claim.digest, spool, self._settings.caps)
            with self._validating.one(context.time_remaining()):
                row, whole = validated(spool, claim, self._rounds.known, self._settings.caps)
            spool.seek(0)
            return _receipt(*self._rounds.submit(row, spool.read(), whole))

    def Pull(self, request: pb.PullRequest, context: grpc.ServicerContext) -> Iterator[pb.SnapshotChunk]:
        check_versions(request.schema_versions.min, request.schema_versions.max)
        kept, data = self._snapshot(request.revision)
        yield pb.SnapshotChunk(
            info=pb.SnapshotInfo(
                revision=kept.revision,
                schema_version=SCHEMA_VERSION,
                digest=kept.digest,
                compressed_bytes=kept.compressed_bytes,
            )
        )
        for start in range(0, len(data), CHUNK_BYTES):
            yield pb.SnapshotChunk(chunk=data[start : start + CHUNK_BYTES])

    def OpenRound(self, request: pb.OpenRoundRequest, context: grpc.ServicerContext) -> pb.RoundState:
        event = Open(
            quorum=request.quorum or self._settings.quorum,
            deadline_s=request.deadline_s or self._settings.deadline_s,
            members=tuple(request.members),
        )
        return self._told(self._rounds.open(event))

    def CloseRound(self, request: pb.CloseRoundRequest, context: grpc.ServicerContext) -> pb.RoundState:
        event = Close(round=request.round, force=request.force)
        return self._told(self._rounds.close(event, _patience_s(context)))

    def RoundStatus(self, request: pb.RoundStatusRequest, context: grpc.ServicerContext) -> pb.RoundState:
        return self._told(self._rounds.state)

    def Conflicts(
        self, request: pb.ConflictsRequest, context: grpc.ServicerContext
    ) -> Iterator[pb.ConflictsResponse]:
        kept, data = self._snapshot(request.revision)
        batch = pb.ConflictsResponse(revision=kept.revision)
        for conflict in conflicts_of(io.BytesIO(data)):
            batch.conflicts_json.append(strict_json.canonical(conflict.model_dump(mode="json")))
            if len(batch.conflicts_json) == _CONFLICTS_A_MESSAGE:
                yield batch
                batch = pb.ConflictsResponse(revision=kept.revision)
        yield batch

    def _snapshot(self, revision: str) -> tuple[StoredSnapshot, bytes]:
        snapshots = self._rounds.store.snapshots()
        if not snapshots:
            raise error(ErrorCode.NO_SNAPSHOT, "no round has been merged yet")
        known = {kept.revision: kept for kept in snapshots}
        kept = known.get(revision or snapshots[-1].revision)
        if kept is None:
            raise error(ErrorCode.UNKNOWN_REVISION, f"no snapshot has the revision {revision!r}", "revision")
        return kept, self._rounds.store.snapshot_data(kept.revision)

    def _told(self, state: RoundsState) -> pb.RoundState:
        revisions = [kept.revision for kept in self._rounds.store.snapshots()]
        left = (state.deadline or 0.0) - self._rounds.now()
        return pb.RoundState(
            round=state.round,
            phase=_PHASES[state.phase],
            quorum=state.quorum,
            seconds_left=max(0.0, left) if state.phase is Phase.OPEN else 0.0,
            members=state.members,
            contributions=[
                pb.RoundMember(org=row.org, digest=row.digest, compressed_bytes=row.compressed_bytes)
                for row in self._rounds.store.contributions(state.round)
            ],
            revision=revisions[-1] if revisions else "",
            revisions=revisions,
            encoder=self._rounds.merging.encoder.fingerprint,
            policy=self._rounds.merging.policy,
            failure=state.failure,
        )


def _receipt(row: StoredContribution, repeated: bool) -> pb.PublishReceipt:
    return pb.PublishReceipt(
        org=row.org,
        round=row.round,
        digest=row.digest,
        compressed_bytes=row.compressed_bytes,
        records=row.records,
        repeated=repeated,
    )


@contextmanager
def _cut_off_after(seconds: float, context: grpc.ServicerContext) -> Iterator[None]:
    """End a call whose client sends nothing more and set no deadline, so that it gives its slots back."""
    timer = threading.Timer(seconds, context.cancel)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def _patience_s(context: grpc.ServicerContext) -> float | None:
    """How long to wait inside a call, so that the answer still arrives. None: its client set no deadline."""
    remaining = context.time_remaining()
    return None if remaining is None else max(0.0, remaining - min(0.5, remaining / 10))
