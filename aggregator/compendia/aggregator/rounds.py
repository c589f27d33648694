"""The round state machine: a pure `step` that says what to do, and leaves the doing to the service.

A round is open, then merging, then closed. It closes when every member is in, at its deadline with the
quorum there, or when somebody closes it; a client that died is never waited for beyond the deadline. Below
the quorum at the deadline the round stays open and says so (`failure`): the next contribution that fills the
quorum closes it, or `Close(force=True)` does. Nothing that was acknowledged is ever lost.

The caller performs the effects in order, and adopts the new state only once those before `Acknowledge` are
durable. Time is UTC seconds since the epoch and an argument. (Shape: etcd's raft, `step` returns effects.)
"""

from __future__ import annotations

import math
from dataclasses import replace

from compendia.contract import ErrorCode, Problem

from .round_types import (
    Acknowledge,
    Close,
    Effect,
    Event,
    Merge,
    Merged,
    MergeFailed,
    Open,
    Persist,
    Phase,
    RecordEquivocation,
    Refuse,
    Restart,
    Round,
    RoundsState,
    SaveRound,
    Step,
    Submit,
    Tick,
    from_json,
    to_json,
)

__all__ = [
    "Acknowledge",
    "Close",
    "Effect",
    "Event",
    "Merge",
    "MergeFailed",
    "Merged",
    "Open",
    "Persist",
    "Phase",
    "RecordEquivocation",
    "Refuse",
    "Restart",
    "Round",
    "RoundsState",
    "SaveRound",
    "Step",
    "Submit",
    "Tick",
    "from_json",
    "step",
    "to_json",
]


def step(state: RoundsState, event: Event, now: float) -> Step:
    """The next state and the effects to perform, in order. The deadline is looked at before the event."""
    state, expired = _expire(state, now)
    state, effects = _handle(state, event, now)
    return state, expired + effects


def _handle(state: RoundsState, event: Event, now: float) -> Step:
    match event:
        case Open():
            return _open(state, event, now)
        case Submit():
            return _submit(state, event, now)
        case Close():
            return _close(state, event)
        case Merged() | MergeFailed():
            return _merge_ended(state, event)
        case Restart():
            newest = state.newest
            merging = newest is not None and newest.phase is Phase.MERGING
            return state, (Merge(newest.number),) if newest is not None and merging else ()
        case Tick():
            return state, ()


def _expire(state: RoundsState, now: float) -> Step:
    """Close the open round if it is time; below the quorum say, once, why it stays open."""
    current = state.open_round
    if current is None:
        return state, ()
    if current.is_complete() or (current.is_overdue(now) and current.has_quorum()):
        return _begin_merge(state, current)
    if current.is_overdue(now) and not current.failure:
        there = len(current.contributions)
        waiting = replace(
            current,
            failure=f"the deadline passed with {there} of {current.quorum} organizations: the round stays "
            "open until the quorum is there, or until `compendia round close --force`",
        )
        return state.with_newest(waiting), (SaveRound(waiting),)
    return state, ()


def _begin_merge(state: RoundsState, current: Round) -> Step:
    merging = replace(current, phase=Phase.MERGING, failure="")
    return state.with_newest(merging), (SaveRound(merging), Merge(merging.number))


def _open(state: RoundsState, event: Open, now: float) -> Step:
    newest = state.newest
    if newest is not None and newest.phase is not Phase.CLOSED:
        doing = "open" if newest.phase is Phase.OPEN else "being merged"
        return state, (_refuse(ErrorCode.ROUND_OPEN, f"round {newest.number} is {doing}", "round"),)
    members = tuple(sorted(set(event.members)))
    if event.quorum < 1 or (members and event.quorum > len(members)):
        most = f"{len(members)}, the number of members" if members else "any number"
        message = f"a quorum of {event.quorum} organizations cannot be"
        return state, (_refuse(ErrorCode.USAGE, message, "quorum", fix=f"choose 1 to {most}"),)
    if event.deadline_s is not None and not (event.deadline_s > 0 and math.isfinite(event.deadline_s)):
        message = f"a deadline in {event.deadline_s} seconds cannot be"
        return state, (_refuse(ErrorCode.USAGE, message, "deadline_s", fix="choose a time above 0"),)
    opened = Round(
        number=state.next_number,
        phase=Phase.OPEN,
        quorum=event.quorum,
        deadline=None if event.deadline_s is None else now + event.deadline_s,
        members=members,
    )
    return RoundsState((*state.rounds, opened)), (SaveRound(opened),)


def _submit(state: RoundsState, event: Submit, now: float) -> Step:
    current = state.find(event.round) if event.round else state.newest
    if current is not None and current.digest_of(event.org) == event.digest:
        # Also when the round is closed: an acknowledgement that got lost is given again.
        return state, (Acknowledge(event.org, current.number, event.digest, repeated=True),)
    if current is None or (event.round == 0 and current.phase is not Phase.OPEN):
        asked = f"round {event.round} was never opened" if event.round else "no round is open"
        return state, (_refuse(ErrorCode.NO_OPEN_ROUND, asked, "round", next_round=state.next_number),)
    if current.phase is not Phase.OPEN:
        return state, (
            _refuse(
                ErrorCode.ROUND_CLOSED,
                f"round {current.number} is closed, the next is round {state.next_number}",
                "round",
                next_round=state.next_number,
                fix=f"send the same bytes to round {state.next_number}",
            ),
        )
    if current.members and event.org not in current.members:
        message = f"{event.org!r} is not among the members of round {current.number}"
        return state, (_refuse(ErrorCode.NOT_A_MEMBER, message, "org"),)
    kept = current.digest_of(event.org)
    if kept:
        message = f"{event.org} sent {kept} in round {current.number} already, this is {event.digest}"
        return state, (
            RecordEquivocation(event.org, current.number, kept, event.digest),
            _refuse(ErrorCode.EQUIVOCATION, message, "digest", next_round=current.number + 1),
        )
    return _accept(state, current, event, now)


def _accept(state: RoundsState, current: Round, event: Submit, now: float) -> Step:
    there = tuple(sorted((*current.contributions, (event.org, event.digest))))
    state = state.with_newest(replace(current, contributions=there))
    accepted = (
        Persist(event.org, current.number, event.digest),
        Acknowledge(event.org, current.number, event.digest, repeated=False),
    )
    state, closing = _expire(state, now)
    return state, accepted + closing


def _close(state: RoundsState, event: Close) -> Step:
    current = state.find(event.round) if event.round else state.newest
    if current is None or (event.round == 0 and current.phase is Phase.CLOSED):
        asked = f"round {event.round} was never opened" if event.round else "no round is open"
        return state, (_refuse(ErrorCode.NO_OPEN_ROUND, asked, "round"),)
    if current.phase is Phase.OPEN:
        if not current.has_quorum() and not event.force:
            there = f"{len(current.contributions)} of {current.quorum} organizations have contributed"
            return state, (_refuse(ErrorCode.QUORUM_MISSING, there, "quorum"),)
        return _begin_merge(state, current)
    if current.phase is Phase.MERGING and current.failure:
        return _begin_merge(state, current)
    return state, ()


def _merge_ended(state: RoundsState, event: Merged | MergeFailed) -> Step:
    current = state.newest
    if current is None or current.number != event.round or current.phase is not Phase.MERGING:
        return state, ()  # an older attempt reported late: the newer one stands
    if isinstance(event, Merged):
        ended = replace(current, phase=Phase.CLOSED, revision=event.revision, failure="")
    else:
        ended = replace(current, failure=event.reason)
    return state.with_newest(ended), (SaveRound(ended),)


def _refuse(code: ErrorCode, message: str, path: str, *, next_round: int = 0, fix: str = "") -> Refuse:
    return Refuse(Problem(code, message, path, fix), next_round)
