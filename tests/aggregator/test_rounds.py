"""The round's state machine: each rule, and a seeded simulation of a bad network."""

import random
from dataclasses import replace

import pytest

from compendia.aggregator.rounds import (
    Acknowledge,
    Close,
    Effect,
    Event,
    KeepEvidence,
    Merged,
    Open,
    Persist,
    Phase,
    Refuse,
    RoundsState,
    SaveRound,
    StartMerge,
    Submit,
    Tick,
    step,
)
from compendia.contract import ErrorCode


def run(*events: Event, now: float = 0.0) -> tuple[RoundsState, tuple[Effect, ...]]:
    state, effects = RoundsState(), ()
    for event in events:
        state, effects = step(state, event, now)
    return state, effects


def refusal(effects: tuple[Effect, ...]) -> Refuse:
    (found,) = [e for e in effects if isinstance(e, Refuse)]
    return found


def test_bytes_are_durable_before_they_are_acknowledged() -> None:
    _, effects = run(Open(), Submit("a", 1, "d"))
    assert effects == (Persist("a", 1, "d"), Acknowledge("a", 1, "d", repeated=False))


def test_a_repeat_is_acknowledged_without_writing_also_after_the_close() -> None:
    again = Acknowledge("a", 1, "d", repeated=True)
    assert run(Open(), Submit("a", 1, "d"), Submit("a", 1, "d"))[1] == (again,)
    assert run(Open(), Submit("a", 0, "d"), Close(), Submit("a", 1, "d"))[1] == (again,)


def test_a_second_digest_is_refused_and_kept_as_evidence() -> None:
    state, effects = run(Open(), Submit("a", 1, "d"), Submit("a", 1, "e"))
    assert effects[0] == KeepEvidence("a", 1, kept="d", refused="e")
    assert refusal(effects).problem.code is ErrorCode.EQUIVOCATION
    assert state.submitted == {"a": "d"}


def test_a_closed_round_names_the_next() -> None:
    _, effects = run(Open(), Submit("a", 1, "d"), Close(), Submit("b", 1, "e"))
    assert refusal(effects).problem.code is ErrorCode.ROUND_CLOSED
    assert "next is 2" in refusal(effects).problem.message
    _, effects = run(Open(), Submit("a", 1, "d"), Close(), Merged(1), Open(), Submit("b", 1, "e"))
    assert "next is 2" in refusal(effects).problem.message


def test_no_round_is_open_before_the_first_and_between_two() -> None:
    assert refusal(run(Submit("a", 0, "d"))[1]).problem.code is ErrorCode.NO_OPEN_ROUND
    closed = (Open(), Submit("a", 1, "d"), Close(), Merged(1))
    assert refusal(run(*closed, Submit("a", 0, "e"))[1]).problem.code is ErrorCode.NO_OPEN_ROUND
    assert refusal(run(*closed, Submit("a", 2, "e"))[1]).problem.code is ErrorCode.NO_OPEN_ROUND


def test_only_members_may_contribute_and_the_last_one_closes_the_round() -> None:
    state, effects = run(Open(members=("a", "b"), quorum=2), Submit("c", 1, "d"))
    assert refusal(effects).problem.code is ErrorCode.NOT_A_MEMBER
    state, _ = step(state, Submit("a", 1, "d"), 0.0)
    state, effects = step(state, Submit("b", 1, "e"), 0.0)
    assert state.phase is Phase.MERGING
    assert effects[-1] == StartMerge(1)


def test_closing_by_hand_needs_the_quorum_or_force() -> None:
    below = (Open(quorum=2), Submit("a", 1, "d"))
    assert refusal(run(*below, Close())[1]).problem.code is ErrorCode.QUORUM_MISSING
    assert run(*below, Close(force=True))[0].phase is Phase.MERGING
    assert refusal(run(Open(), Close(force=True))[1]).problem.code is ErrorCode.QUORUM_MISSING
    assert refusal(run(Open(), Open())[1]).problem.code is ErrorCode.ROUND_OPEN
    assert refusal(run(Open(quorum=3, members=("a",)))[1]).problem.code is ErrorCode.USAGE


def test_a_dead_client_does_not_hang_the_round() -> None:
    opened, _ = step(RoundsState(), Open(quorum=1, deadline_s=10, members=("a", "b")), 100.0)
    one, _ = step(opened, Submit("a", 1, "d"), 101.0)
    assert step(one, Tick(), 109.9) == (one, ())
    late, effects = step(one, Tick(), 110.0)
    assert late.phase is Phase.MERGING
    assert effects == (SaveRound(late), StartMerge(1))
    alone, effects = step(opened, Tick(), 110.0)
    assert alone.phase is Phase.CLOSED
    assert "0 of the 1" in alone.failure
    assert refusal(step(one, Submit("b", 1, "e"), 110.0)[1]).problem.code is ErrorCode.ROUND_CLOSED


def test_a_failed_merge_says_why_and_lets_the_next_round_open() -> None:
    state, _ = run(Open(), Submit("a", 1, "d"), Close(), Merged(1, failure="no encoder"))
    assert (state.phase, state.failure) == (Phase.CLOSED, "no encoder")
    assert step(state, Open(), 0.0)[0].round == 2


@pytest.mark.parametrize("seed", range(60))
def test_simulation(seed: int) -> None:
    """Duplicates, reordering, crashes and dead clients: what was acknowledged is durable, and rounds end.

    A crash loses the state in memory; it comes back from what the effects made durable. Replay: the seed.
    """
    rng = random.Random(seed)
    state, durable = RoundsState(), RoundsState()
    kept: dict[tuple[str, int], str] = {}
    acknowledged: dict[tuple[str, int], str] = {}
    now, merges = 0.0, []
    for _ in range(300):
        now += rng.random() * 3
        if rng.random() < 0.05:
            mine = {org: mark for (org, number), mark in kept.items() if number == durable.round}
            state = replace(durable, submitted=mine)
        event = rng.choice(
            [
                Open(
                    quorum=rng.randint(1, 3),
                    deadline_s=rng.choice([5.0, 20.0]),
                    members=rng.choice([(), ("a", "b", "c")]),
                ),
                Submit(
                    rng.choice("abcd"), rng.choice([0, state.round, state.round - 1]), rng.choice(["x", "y"])
                ),
                Submit(rng.choice("abcd"), rng.choice([0, state.round]), "x"),
                Close(force=rng.random() < 0.3),
                Tick(),
                Merged(state.round),
            ]
        )
        before = state
        state, effects = step(state, event, now)
        assert state.round >= before.round, f"seed {seed}"
        for effect in effects:
            if isinstance(effect, SaveRound):
                durable = effect.state
            elif isinstance(effect, Persist):
                assert (effect.org, effect.round) not in kept, f"seed {seed}"
                kept[effect.org, effect.round] = effect.digest
            elif isinstance(effect, Acknowledge):
                assert kept[effect.org, effect.round] == effect.digest, f"seed {seed}"
                acknowledged[effect.org, effect.round] = effect.digest
            elif isinstance(effect, StartMerge):
                merges.append(effect.round)
    assert len(merges) == len(set(merges)), f"seed {seed}: a round merged twice"
    assert acknowledged.items() <= kept.items()
    state, _ = step(state, Tick(), now + 1000.0)
    assert state.phase is not Phase.OPEN, f"seed {seed}: the round hangs"
