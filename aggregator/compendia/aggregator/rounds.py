"""The round as a pure state machine: `step(state, event, now) -> (state, effects)` (after etcd's raft).

Nothing here does IO or reads a clock. The service performs the effects in order: what must be durable comes
before the acknowledgement. A dead client cannot hang a round: the deadline closes it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from enum import StrEnum

from compendia.contract import ErrorCode, Problem


class Phase(StrEnum):
    NONE = "none"  # no round was ever opened
    OPEN = "open"
    MERGING = "merging"
    CLOSED = "closed"


@dataclass(frozen=True)
class RoundsState:
    """The newest round. deadline: seconds on the clock that `now` is read from, or None for none.

    members: who may contribute; empty for anyone. submitted: the digest that counts, by organization.
    failure: why the round ended without a snapshot; its contributions are kept and count in the next merge.
    """

    round: int = 0
    phase: Phase = Phase.NONE
    quorum: int = 1
    deadline: float | None = None
    members: tuple[str, ...] = ()
    submitted: dict[str, str] = field(default_factory=dict)
    failure: str = ""


@dataclass(frozen=True)
class Open:
    """Open the next round. deadline_s: seconds from now, or None to wait for `Close`."""

    quorum: int = 1
    deadline_s: float | None = None
    members: tuple[str, ...] = ()


@dataclass(frozen=True)
class Submit:
    """A validated upload. round 0: whichever is open."""

    org: str
    round: int
    digest: str


@dataclass(frozen=True)
class Close:
    """Close by hand. force: merge below the quorum too, and again a round that ended without a snapshot."""

    round: int = 0
    force: bool = False


@dataclass(frozen=True)
class Tick:
    """Time has passed."""


@dataclass(frozen=True)
class Merged:
    """The merge that `StartMerge` asked for is durable, or failed (`failure` says why)."""

    round: int
    failure: str = ""


Event = Open | Submit | Close | Tick | Merged


@dataclass(frozen=True)
class SaveRound:
    """Make the state durable."""

    state: RoundsState


@dataclass(frozen=True)
class Persist:
    """Make the upload's bytes durable."""

    org: str
    round: int
    digest: str


@dataclass(frozen=True)
class Acknowledge:
    """Tell the sender that the bytes are kept. repeated: they were there already."""

    org: str
    round: int
    digest: str
    repeated: bool


@dataclass(frozen=True)
class KeepEvidence:
    """Keep that an organization sent two digests in one round."""

    org: str
    round: int
    kept: str
    refused: str


@dataclass(frozen=True)
class Refuse:
    """Tell the sender why not."""

    problem: Problem


@dataclass(frozen=True)
class StartMerge:
    """Merge all contributions up to this round, then send `Merged`."""

    round: int


Effect = SaveRound | Persist | Acknowledge | KeepEvidence | Refuse | StartMerge
Step = tuple[RoundsState, tuple[Effect, ...]]


def step(state: RoundsState, event: Event, now: float) -> Step:
    """One transition. The same state, event and time give the same result."""
    if isinstance(event, Open):
        return _open(state, event, now)
    if isinstance(event, Submit):
        return _submit(state, event, now)
    if isinstance(event, Close):
        return _close(state, event)
    if isinstance(event, Merged):
        return _merged(state, event)
    return _tick(state, now)


def _open(state: RoundsState, event: Open, now: float) -> Step:
    if state.phase in (Phase.OPEN, Phase.MERGING):
        return _refused(state, ErrorCode.ROUND_OPEN, f"round {state.round} is {state.phase}")
    members = tuple(sorted(set(event.members)))
    if members and event.quorum > len(members):
        message = f"a quorum of {event.quorum} is more than the {len(members)} members"
        return _refused(state, ErrorCode.USAGE, message)
    # Also NaN: no clock ever reaches it, and the round would hang.
    if event.deadline_s is not None and not 0 < event.deadline_s < math.inf:
        message = f"{event.deadline_s} seconds from now is no deadline"
        return _refused(state, ErrorCode.USAGE, message, "give a finite number of seconds above 0")
    opened = RoundsState(
        round=state.round + 1,
        phase=Phase.OPEN,
        quorum=max(1, event.quorum),
        deadline=None if event.deadline_s is None else now + event.deadline_s,
        members=members,
    )
    return opened, (SaveRound(opened),)


def _submit(state: RoundsState, event: Submit, now: float) -> Step:
    number = event.round or state.round
    known = state.submitted.get(event.org) if number == state.round else None
    if known == event.digest:
        # Also after the close: the sender may not have seen the first answer.
        return state, (Acknowledge(event.org, number, event.digest, repeated=True),)
    if state.phase is Phase.NONE or (event.round == 0 and state.phase is not Phase.OPEN):
        return _refused(state, ErrorCode.NO_OPEN_ROUND, f"the next round is {state.round + 1}, not open yet")
    if number > state.round:
        return _refused(
            state, ErrorCode.NO_OPEN_ROUND, f"round {number} is not open, the newest is {state.round}"
        )
    if number < state.round or state.phase is not Phase.OPEN or _is_over(state, now):
        following = state.round if number < state.round and state.phase is Phase.OPEN else state.round + 1
        return _refused(
            state,
            ErrorCode.ROUND_CLOSED,
            f"round {number} is closed, the next is {following}",
            f"send the same bytes to round {following}",
        )
    if state.members and event.org not in state.members:
        return _refused(state, ErrorCode.NOT_A_MEMBER, f"{event.org!r} is not a member of round {number}")
    if known is not None:
        evidence = KeepEvidence(event.org, number, known, event.digest)
        _, (refusal,) = _refused(
            state, ErrorCode.EQUIVOCATION, f"{event.org!r} already sent {known[:16]} in round {number}"
        )
        return state, (evidence, refusal)
    accepted = replace(state, submitted={**state.submitted, event.org: event.digest})
    effects: tuple[Effect, ...] = (
        Persist(event.org, number, event.digest),
        Acknowledge(event.org, number, event.digest, repeated=False),
    )
    if _is_complete(accepted):
        closing, more = _start_merge(accepted)
        return closing, effects + more
    return accepted, effects


def _close(state: RoundsState, event: Close) -> Step:
    if event.force and state.failure and state.submitted and event.round in (0, state.round):
        return _start_merge(state)  # the quorum never came, or the merge broke: nothing was lost
    if state.phase is not Phase.OPEN or event.round not in (0, state.round):
        return _refused(state, ErrorCode.NO_OPEN_ROUND, f"round {event.round or state.round} is not open")
    if len(state.submitted) < state.quorum and not (event.force and state.submitted):
        return _refused(
            state,
            ErrorCode.QUORUM_MISSING,
            f"{len(state.submitted)} of the {state.quorum} organizations needed have contributed",
        )
    return _start_merge(state)


def _tick(state: RoundsState, now: float) -> Step:
    if state.phase is not Phase.OPEN:
        return state, ()
    if _is_complete(state):
        return _start_merge(state)  # a crash came between the last contribution and the close
    if not _is_over(state, now):
        return state, ()
    if len(state.submitted) >= state.quorum:
        return _start_merge(state)
    failed = replace(
        state,
        phase=Phase.CLOSED,
        failure=f"{len(state.submitted)} of the {state.quorum} organizations needed had come by the deadline",
    )
    return failed, (SaveRound(failed),)


def _merged(state: RoundsState, event: Merged) -> Step:
    if state.phase is not Phase.MERGING or event.round != state.round:
        return state, ()
    closed = replace(state, phase=Phase.CLOSED, failure=event.failure)
    return closed, (SaveRound(closed),)


def _start_merge(state: RoundsState) -> Step:
    merging = replace(state, phase=Phase.MERGING, failure="")
    return merging, (SaveRound(merging), StartMerge(state.round))


def _is_complete(state: RoundsState) -> bool:
    return bool(state.members) and set(state.members) <= set(state.submitted)


def _is_over(state: RoundsState, now: float) -> bool:
    return state.deadline is not None and now >= state.deadline


def _refused(state: RoundsState, code: ErrorCode, message: str, fix: str = "") -> Step:
    return state, (Refuse(Problem(code, message, "round", fix)),)
