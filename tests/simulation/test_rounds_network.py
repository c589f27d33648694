"""Rounds over a bad network: duplicates, reordering, crashes between effects, clients that die.

Everything is drawn from one seed, which a failure prints: `pytest -k "seed-17"` replays it.
"""

import random
from dataclasses import dataclass, field, replace

import pytest

from compendia.aggregator.rounds import (
    Acknowledge,
    Close,
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

MEMBERS = ("ada", "bee", "cyd", "dot")
DEADLINE_S = 30.0


@dataclass
class Server:
    """Performs effects as the service does: in order, each durable at once, the state adopted last."""

    rng: random.Random
    crash_rate: float
    state: RoundsState = field(default_factory=RoundsState)
    stored: RoundsState = field(default_factory=RoundsState)
    kept: dict[tuple[str, int], str] = field(default_factory=dict)
    evidence: set[tuple[str, int, str, str]] = field(default_factory=set)
    snapshots: dict[int, dict[tuple[str, int], str]] = field(default_factory=dict)
    due: list[int] = field(default_factory=list)

    def handle(self, event: Event, now: float) -> Acknowledge | Refuse | None:
        """The answer that leaves the server; None when it crashes before it can answer."""
        following, effects = step(self.state, event, now)
        answer: Acknowledge | Refuse | None = None
        for effect in effects:
            if self.rng.random() < self.crash_rate:
                self.restart()
                return answer if isinstance(answer, Acknowledge) else None
            match effect:
                case SaveRound(state=saved):
                    self.stored = saved
                case Persist():
                    assert (effect.org, effect.round) not in self.kept, "a kept digest was replaced"
                    self.kept[effect.org, effect.round] = effect.digest
                case KeepEvidence():
                    self.evidence.add((effect.org, effect.round, effect.kept, effect.refused))
                case Acknowledge() | Refuse():
                    answer = effect
                case StartMerge():
                    self.due.append(effect.round)
        self.state = following
        return answer

    def restart(self) -> None:
        """What was in memory is gone; an interrupted merge is asked for again."""
        mine = {org: digest for (org, round), digest in self.kept.items() if round == self.stored.round}
        self.state = replace(self.stored, submitted=mine)
        self.due = [self.state.round] if self.state.phase is Phase.MERGING else []

    def work(self, now: float) -> None:
        """Let time pass and finish a merge, or break it."""
        self.handle(Tick(), now)
        if self.due and self.rng.random() < 0.5:
            round = self.due.pop(0)
            broken = self.rng.random() < 0.2
            if not broken:
                self.snapshots[round] = {key: d for key, d in self.kept.items() if key[1] <= round}
            self.handle(Merged(round, "it broke" if broken else ""), now)


@dataclass
class Client:
    """Wants its bytes counted once: sends again until it has an answer, moves on when a round is closed.

    Its bytes are drawn anew for each round that it sends in, and kept for every retry.
    """

    org: str
    dies_at: float
    round: int = 1
    sent: dict[int, str] = field(default_factory=dict)
    acknowledged: dict[int, str] = field(default_factory=dict)

    def message(self) -> Submit:
        digest = self.sent.setdefault(self.round, f"{self.org}-{self.round}")
        return Submit(self.org, self.round, digest)

    def hear(self, answer: Acknowledge | Refuse | None) -> None:
        if isinstance(answer, Acknowledge):
            self.acknowledged[answer.round] = answer.digest
            self.round = max(self.round, answer.round + 1)
        elif isinstance(answer, Refuse) and answer.problem.code is ErrorCode.ROUND_CLOSED:
            self.round = max(self.round, int(answer.problem.fix.rpartition(" ")[2]))


@pytest.mark.parametrize("seed", [pytest.param(n, id=f"seed-{n}") for n in range(120)])
def test_nothing_acknowledged_is_lost_and_no_round_hangs(seed: int) -> None:
    rng = random.Random(seed)
    server = Server(rng, crash_rate=rng.choice([0.0, 0.05, 0.2]))
    clients = [Client(org, dies_at=rng.choice([1e9, rng.uniform(0, 200)])) for org in MEMBERS]
    flying: list[tuple[Client, Submit]] = []
    opened: dict[int, float] = {}
    now = 0.0
    for _ in range(400):
        now += rng.expovariate(1.0)
        if server.state.phase in (Phase.NONE, Phase.CLOSED):
            server.handle(Open(rng.randint(1, 4), DEADLINE_S, rng.choice([(), MEMBERS])), now)
            if server.state.phase is Phase.OPEN:
                opened.setdefault(server.state.round, now)
        living = [c for c in clients if c.dies_at > now]
        for client in living:
            if rng.random() < 0.4:
                flying += [(client, client.message())] * rng.choice([0, 1, 1, 2])  # lost, sent, duplicated
        rng.shuffle(flying)
        for client, message in (flying.pop() for _ in range(rng.randint(0, len(flying)))):
            answer = server.handle(message, now)
            if client.dies_at > now and rng.random() < 0.8:  # answers get lost as well
                client.hear(answer)
        if rng.random() < 0.05:
            server.handle(Close(force=rng.random() < 0.5), now)
        server.work(now)
        state = server.state
        late = now - opened.get(state.round, now)
        assert state.phase is not Phase.OPEN or late < DEADLINE_S + 10, (
            f"seed {seed}: round {state.round} hangs"
        )
        assert state.phase is not Phase.CLOSED or state.failure or state.round in server.snapshots, (
            f"seed {seed}"
        )
    _check(seed, server, clients)


def _check(seed: int, server: Server, clients: list[Client]) -> None:
    for client in clients:
        for round, digest in client.acknowledged.items():
            assert server.kept[client.org, round] == digest, f"seed {seed}: an acknowledged upload is gone"
    assert server.evidence == set(), f"seed {seed}: an honest client was taken for a cheat"
    newest = max(server.snapshots)
    settled = {key: digest for key, digest in server.kept.items() if key[1] <= newest}
    assert server.snapshots[newest] == settled, f"seed {seed}: a merge left something out"


@pytest.mark.parametrize("seed", [pytest.param(n, id=f"seed-{n}") for n in range(60)])
def test_answers_equal_those_of_a_slow_twin(seed: int) -> None:
    """The twin knows no state: it answers from the whole history of what happened."""
    rng = random.Random(seed)
    state = RoundsState()
    history: list[tuple[Event, float]] = []
    now = 0.0
    for _ in range(120):
        now += rng.random() * 4
        event: Event = rng.choice(
            [
                Open(1, rng.choice([None, 8.0]), rng.choice([(), ("ada", "bee")])),
                Submit(rng.choice(MEMBERS[:3]), max(0, state.round - rng.randint(0, 2)), rng.choice("xy")),
                Submit(rng.choice(MEMBERS[:3]), state.round, rng.choice("xy")),
                Close(),
                Tick(),
                Merged(state.round),
            ]
        )
        state, effects = step(state, event, now)
        if isinstance(event, Submit):
            (answer,) = [e for e in effects if isinstance(e, Acknowledge | Refuse)]
            found = answer.problem.code if isinstance(answer, Refuse) else answer.repeated
            assert found == _twin(history, event, now), f"seed {seed}: {event} at {now}"
        history.append((event, now))


def _twin(history: list[tuple[Event, float]], event: Submit, now: float) -> ErrorCode | bool:
    """The code of the refusal, or whether the acknowledged upload was there already."""
    number, is_open, merging = 0, False, False
    deadline: float | None = None
    members: tuple[str, ...] = ()
    there: dict[str, str] = {}
    for past, when in [*history, (Submit("", 0, ""), now)]:
        over = is_open and deadline is not None and when >= deadline
        if isinstance(past, Open) and not is_open and not merging:
            number, is_open, members, there = number + 1, True, past.members, {}
            deadline = None if past.deadline_s is None else when + past.deadline_s
        elif isinstance(past, Submit) and is_open and not over and past.round in (0, number):
            allowed = past.org in members if members else past.org != ""
            if allowed:
                there.setdefault(past.org, past.digest)
            if members and set(members) <= set(there):
                is_open, merging = False, True
        elif (isinstance(past, Close) and is_open and there) or (isinstance(past, Tick) and over):
            is_open, merging = False, bool(there)
        elif isinstance(past, Merged) and past.round == number:
            merging = False
    asked = event.round or number
    if asked == number and there.get(event.org) == event.digest:
        return True
    if number == 0 or (event.round == 0 and not is_open):
        return ErrorCode.NO_OPEN_ROUND
    if asked < number or not is_open or (deadline is not None and now >= deadline):
        return ErrorCode.ROUND_CLOSED
    if members and event.org not in members:
        return ErrorCode.NOT_A_MEMBER
    return ErrorCode.EQUIVOCATION if event.org in there else False


@pytest.mark.parametrize("deadline_s", [float("nan"), float("inf"), 0.0, -1.0])
def test_a_deadline_that_no_clock_reaches_is_refused(deadline_s: float) -> None:
    state, (effect,) = step(RoundsState(), Open(1, deadline_s), 0.0)
    assert state == RoundsState()
    assert isinstance(effect, Refuse)
    assert effect.problem.code is ErrorCode.USAGE


def test_one_member_named_twice_is_one_for_the_quorum() -> None:
    _, (effect,) = step(RoundsState(), Open(2, None, ("ada", "ada")), 0.0)
    assert isinstance(effect, Refuse)


def test_a_round_that_missed_its_quorum_can_still_be_merged_by_force() -> None:
    state, _ = step(RoundsState(), Open(2, 10.0), 0.0)
    state, _ = step(state, Submit("ada", 1, "x"), 1.0)
    state, _ = step(state, Tick(), 10.0)
    assert state.phase is Phase.CLOSED
    assert state.failure
    assert isinstance(step(state, Close(), 11.0)[1][0], Refuse)
    again, effects = step(state, Close(force=True), 11.0)
    assert (again.phase, again.failure) == (Phase.MERGING, "")
    assert effects[-1] == StartMerge(1)


def test_a_crash_between_the_last_member_and_the_close_does_not_hang_the_round() -> None:
    state, _ = step(RoundsState(), Open(1, None, ("ada",)), 0.0)
    restored = replace(state, submitted={"ada": "x"})
    assert step(restored, Tick(), 1.0)[1][-1] == StartMerge(1)
