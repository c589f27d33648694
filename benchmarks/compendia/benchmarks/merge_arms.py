"""Arms that differ in how contributions are merged: one set of them, merged under every policy.

Clients publish twice: when two thirds of their requests had been made, and when all had. So the delayed
policy, which shows dissent one round late, knows of two thirds of it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from compendia.aggregator.executor import SerialExecutor
from compendia.aggregator.view import Policy, ViewCache, view
from compendia.contract import ErrorCode, Snapshot, error
from compendia.contract.strict_json import digest

from .benchmark import Session
from .contradictions import Injected, before, with_contradictions
from .datasets import Query
from .evaluation import Evaluation, ask_all, keep
from .snapshots import centralized, contribution, docs_only
from .splits import Split

if TYPE_CHECKING:
    from compendia.router.route import Router
    from compendia.text.encode import Encoder

POLICY: Mapping[str, Policy] = {
    "typed": "conflict_log",
    "delayed": "round_delayed",
    "majority": "majority",
    "untyped": "untyped",
}
RATES = (0, 20, 40, 60)
"""Shares of the experience, in percent."""

FIRST_ROUND = 2 / 3


@dataclass
class Contest:
    """One experiment over one split: what is known, asked under every arm, at every rate. Arms that serve the
    same are asked once."""

    session: Session
    split: Split
    queries: Sequence[Query]
    encoder: Encoder
    _answered: dict[str, Evaluation] = field(default_factory=dict)
    _router: Router | None = None

    def answers(self, name: str, injected: Injected, arms: Sequence[str]) -> dict[str, Evaluation]:
        """The answers of each arm to the split with those contradictions. name: of their logs and notes."""
        with self.session.log(f"{name}_injected") as lines:
            for row in injected.rows():
                lines.write(**row)
        self.session.notes[f"injected/{name}"] = {
            "removed": len(injected.removed),
            "successes": len(injected.successes),
            "failures": len(injected.failures),
            "digest": injected.digest(),
        }
        made = snapshots(with_contradictions(self.split, injected), arms, self.encoder)
        self.session.notes |= {
            f"published/{name}": published_digest(snapshot) for arm, snapshot in made.items() if arm in POLICY
        }
        return {arm: self._ask(f"{name}_{arm}", snapshot) for arm, snapshot in made.items()}

    def _ask(self, log: str, snapshot: Snapshot) -> Evaluation:
        from compendia.router.route import Router

        read = digest(
            [
                snapshot.compendium.model_dump(mode="json"),
                [conflict.model_dump(mode="json") for conflict in snapshot.conflicts],
            ]
        )
        if read in self._answered:
            return keep(self.session, log, self._answered[read])
        if self._router is None:
            self._router = Router(snapshot, self.encoder)
        else:
            self._router.refresh(snapshot)
        self._answered[read] = ask_all(self.session, log, self._router, self.split.names, self.queries)
        return self._answered[read]


def snapshots(split: Split, arms: Sequence[str], encoder: Encoder) -> dict[str, Snapshot]:
    """The snapshot of each arm. Raises INTERNAL unless every policy merged the same published bytes."""
    made: dict[str, Snapshot] = {}
    policies = [arm for arm in arms if arm in POLICY]
    if policies:
        published = [
            contribution(known, client, round=number)
            for number, known in ((1, before(split, FIRST_ROUND)), (2, split))
            for client in sorted(split.holdings)
        ]
        cache = ViewCache()
        with SerialExecutor() as executor:
            for arm in policies:
                made[arm] = view(
                    published,
                    grants={},
                    encoder=encoder,
                    executor=executor,
                    policy=POLICY[arm],
                    round=2,
                    cache=cache,
                )
    if len({published_digest(made[arm]) for arm in policies}) > 1:
        raise error(ErrorCode.INTERNAL, f"{', '.join(policies)} merged different contributions", "members")
    if "centralized" in arms:
        made["centralized"] = centralized(split, encoder.fingerprint)
    if "docs-only" in arms:
        made["docs-only"] = docs_only(split, encoder.fingerprint)
    return {arm: made[arm] for arm in arms}


def published_digest(snapshot: Snapshot) -> str:
    """SHA-256 of who published which bytes."""
    return digest([member.model_dump(mode="json") for member in snapshot.members])
