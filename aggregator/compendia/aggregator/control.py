"""What an operator asks of a running aggregator: open, close and see rounds, read a conflict log."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from pydantic import TypeAdapter

from compendia.contract import Conflict, strict_json
from compendia.wire.channel import DEFAULT_PATIENCE, Patience, call, connect
from compendia.wire.v1 import compendia_pb2 as pb
from compendia.wire.v1.compendia_pb2_grpc import AggregatorStub

from .rounds import Phase

T = TypeVar("T")

_CONFLICT: TypeAdapter[Conflict] = TypeAdapter(Conflict)
_PHASES = {
    pb.ROUND_PHASE_OPEN: Phase.OPEN,
    pb.ROUND_PHASE_MERGING: Phase.MERGING,
    pb.ROUND_PHASE_CLOSED: Phase.CLOSED,
}


@dataclass(frozen=True)
class ContributionReport:
    """One contribution of a round. digest: SHA-256 (hex) over its wire_bytes."""

    org: str
    digest: str
    wire_bytes: int


@dataclass(frozen=True)
class RoundReport:
    """The newest round, and the snapshots kept. Fields as in `RoundState` of the proto."""

    round: int
    phase: str
    quorum: int
    seconds_left: float
    members: tuple[str, ...]
    contributions: tuple[ContributionReport, ...]
    revision: str
    revisions: tuple[str, ...]
    encoder: str
    policy: str
    failure: str


@dataclass(frozen=True)
class ConflictLog:
    """The conflicts of one snapshot."""

    revision: str
    conflicts: tuple[Conflict, ...]


def open_round(
    address: str,
    *,
    quorum: int = 0,
    deadline_s: float = 0.0,
    members: tuple[str, ...] = (),
    patience: Patience = DEFAULT_PATIENCE,
) -> RoundReport:
    """Open the next round; 0 takes the server's default. Raises ROUND_OPEN, USAGE."""
    request = pb.OpenRoundRequest(quorum=quorum, deadline_s=deadline_s, members=members)
    return _report(_ask(address, patience, lambda stub, wait: stub.OpenRound(request, **wait), once=True))


def close_round(
    address: str, *, round: int = 0, force: bool = False, patience: Patience = DEFAULT_PATIENCE
) -> RoundReport:
    """Close the open round; returns when its merge is over (`failure` tells whether it failed).

    Raises NO_OPEN_ROUND, QUORUM_MISSING, DEADLINE (the merge goes on).
    """
    request = pb.CloseRoundRequest(round=round, force=force)
    return _report(_ask(address, patience, lambda stub, wait: stub.CloseRound(request, **wait), once=True))


def round_status(address: str, patience: Patience = DEFAULT_PATIENCE) -> RoundReport:
    """The newest round as it is now."""
    request = pb.RoundStatusRequest()
    return _report(_ask(address, patience, lambda stub, wait: stub.RoundStatus(request, **wait)))


def conflict_log(address: str, revision: str = "", patience: Patience = DEFAULT_PATIENCE) -> ConflictLog:
    """The conflict log of a revision, "" for the newest. Raises NO_SNAPSHOT, UNKNOWN_REVISION."""
    request = pb.ConflictsRequest(revision=revision)
    batches: list[pb.ConflictsResponse] = _ask(
        address, patience, lambda stub, wait: list(stub.Conflicts(request, **wait))
    )
    conflicts = (
        _CONFLICT.validate_python(strict_json.loads(text)) for b in batches for text in b.conflicts_json
    )
    return ConflictLog(batches[0].revision, tuple(conflicts))


def _ask(
    address: str,
    patience: Patience,
    ask: Callable[[AggregatorStub, dict[str, float | bool]], T],
    *,
    once: bool = False,
) -> T:
    """One call, tried again as the patience says; `once`: not when it may have been heard already."""
    attempts = 1 if once else patience.attempts
    with connect(address) as channel:
        stub = AggregatorStub(channel)
        return call(
            lambda seconds: ask(stub, {"timeout": seconds, "wait_for_ready": patience.wait_for_ready}),
            address,
            Patience(patience.timeout_s, attempts, patience.wait_for_ready),
        )


def _report(state: pb.RoundState) -> RoundReport:
    return RoundReport(
        round=state.round,
        phase=_PHASES.get(state.phase, Phase.NONE).value,
        quorum=state.quorum,
        seconds_left=state.seconds_left,
        members=tuple(state.members),
        contributions=tuple(
            ContributionReport(kept.org, kept.digest, kept.compressed_bytes) for kept in state.contributions
        ),
        revision=state.revision,
        revisions=tuple(state.revisions),
        encoder=state.encoder,
        policy=state.policy,
        failure=state.failure,
    )
