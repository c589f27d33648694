"""What the round state machine speaks of: rounds, the events that happen to them, the effects they ask for."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any

from compendia.contract import Problem


class Phase(StrEnum):
    """Where a round stands."""

    OPEN = "open"
    MERGING = "merging"
    CLOSED = "closed"


@dataclass(frozen=True)
class Round:
    """One round. deadline: UTC seconds, None for none. members: who may contribute, empty for anyone.

    contributions: (org, digest), sorted by org. failure: what keeps the round from closing or merging.
    revision: of its snapshot, once it is closed.
    """

    number: int
    phase: Phase
    quorum: int
    deadline: float | None = None
    members: tuple[str, ...] = ()
    contributions: tuple[tuple[str, str], ...] = ()
    failure: str = ""
    revision: str = ""

    def digest_of(self, org: str) -> str:
        """The digest that the organization has in this round, empty for none."""
        return next((digest for name, digest in self.contributions if name == org), "")

    def has_quorum(self) -> bool:
        return len(self.contributions) >= self.quorum

    def is_complete(self) -> bool:
        """Whether nobody is left to wait for: all members are in.

        Where anyone may come, the deadline decides; without a deadline, the quorum.
        """
        if self.members:
            return len(self.contributions) == len(self.members)
        return self.deadline is None and self.has_quorum()

    def is_overdue(self, now: float) -> bool:
        return self.deadline is not None and now >= self.deadline


@dataclass(frozen=True)
class RoundsState:
    """All rounds, oldest first; only the newest can be open or merging."""

    rounds: tuple[Round, ...] = ()

    @property
    def newest(self) -> Round | None:
        return self.rounds[-1] if self.rounds else None

    @property
    def open_round(self) -> Round | None:
        newest = self.newest
        return newest if newest is not None and newest.phase is Phase.OPEN else None

    @property
    def next_number(self) -> int:
        """The round that a refused contribution should be sent to: the open one, else the one to come."""
        newest = self.newest
        if newest is None:
            return 1
        return newest.number if newest.phase is Phase.OPEN else newest.number + 1

    def find(self, number: int) -> Round | None:
        return next((r for r in reversed(self.rounds) if r.number == number), None)

    def with_newest(self, changed: Round) -> RoundsState:
        """The same state with its newest round replaced."""
        return RoundsState((*self.rounds[:-1], changed))


@dataclass(frozen=True)
class Open:
    """Open the next round. quorum: organizations, at least 1; deadline_s: seconds from now, None for none."""

    quorum: int
    deadline_s: float | None = None
    members: tuple[str, ...] = ()


@dataclass(frozen=True)
class Submit:
    """A contribution whose bytes have arrived whole and valid. round 0: whichever is open."""

    org: str
    round: int
    digest: str


@dataclass(frozen=True)
class Close:
    """Close the round (0: the newest) and merge it. force: also below the quorum.

    Closing a round that is merging or closed already changes nothing, but tries a failed merge again.
    """

    force: bool = False
    round: int = 0


@dataclass(frozen=True)
class Tick:
    """Time has passed."""


@dataclass(frozen=True)
class Restart:
    """The service came up with this state: a merge that was interrupted is asked for again."""


@dataclass(frozen=True)
class Merged:
    """The merge of the round is durable as this revision."""

    round: int
    revision: str


@dataclass(frozen=True)
class MergeFailed:
    """The merge of the round failed; the round keeps everything, and `Close` tries again."""

    round: int
    reason: str


Event = Open | Submit | Close | Tick | Restart | Merged | MergeFailed


@dataclass(frozen=True)
class SaveRound:
    """Store the round (all but its contributions, which `Persist` stores)."""

    round: Round


@dataclass(frozen=True)
class Persist:
    """Make the contribution's bytes durable."""

    org: str
    round: int
    digest: str


@dataclass(frozen=True)
class Acknowledge:
    """Tell the sender that its contribution is durable. repeated: exactly this was there already."""

    org: str
    round: int
    digest: str
    repeated: bool


@dataclass(frozen=True)
class RecordEquivocation:
    """Keep as evidence that the organization sent two digests in one round."""

    org: str
    round: int
    kept: str
    refused: str


@dataclass(frozen=True)
class Refuse:
    """Raise `CompendiaError([problem])` to the sender. next_round: where to send instead, 0 for nowhere."""

    problem: Problem
    next_round: int = 0


@dataclass(frozen=True)
class Merge:
    """Merge everything up to this round, then report `Merged` or `MergeFailed`."""

    round: int


Effect = SaveRound | Persist | Acknowledge | RecordEquivocation | Refuse | Merge
Step = tuple[RoundsState, tuple[Effect, ...]]


def to_json(state: RoundsState) -> dict[str, Any]:
    """The state as JSON; `from_json` reads it back."""
    return asdict(state)


def from_json(data: dict[str, Any]) -> RoundsState:
    """The state that `to_json` wrote, also after a trip through JSON text."""
    return RoundsState(
        tuple(
            Round(
                **{
                    **row,
                    "phase": Phase(row["phase"]),
                    "members": tuple(row["members"]),
                    "contributions": tuple((org, digest) for org, digest in row["contributions"]),
                }
            )
            for row in data["rounds"]
        )
    )
