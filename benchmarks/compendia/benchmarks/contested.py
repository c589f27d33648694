"""The arms of a contradiction experiment: one set of contributions, merged under every policy.

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
    """One experiment over one split: what is known, asked under every arm, at every rate.

    answered: the answers by what the router reads of a snapshot, so that arms which serve the same are asked
    once. members: of each name, the digest of what was published.
    """

    session: Session
    split: Split
    queries: Sequence[Query]
    encoder: Encoder
    members: dict[str, str] = field(default_factory=dict)
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
        found = {}
        for arm, snapshot in self._snapshots(with_contradictions(self.split, injected), name, arms).items():
            found[arm] = self._ask(f"{name}_{arm}", snapshot)
        return found

    def _snapshots(self, split: Split, name: str, arms: Sequence[str]) -> dict[str, Snapshot]:
        made: dict[str, Snapshot] = {}
        if any(arm in POLICY for arm in arms):
            published = [
                contribution(known, client, round=number)
                for number, known in ((1, before(split, FIRST_ROUND)), (2, split))
                for client in sorted(split.holdings)
            ]
            cache = ViewCache()
            with SerialExecutor() as executor:
                for arm in (arm for arm in arms if arm in POLICY):
                    made[arm] = view(
                        published,
                        grants={},
                        encoder=self.encoder,
                        executor=executor,
                        policy=POLICY[arm],
                        round=2,
                        cache=cache,
                    )
                    self._check_same(name, arm, made[arm])
        if "centralized" in arms:
            made["centralized"] = centralized(split, self.encoder.fingerprint)
        if "docs-only" in arms:
            made["docs-only"] = docs_only(split, self.encoder.fingerprint)
        return {arm: made[arm] for arm in arms}

    def _check_same(self, where: str, arm: str, snapshot: Snapshot) -> None:
        """Every policy must have merged the same published bytes; the manifest says which."""
        merged = digest([member.model_dump(mode="json") for member in snapshot.members])
        known = self.members.setdefault(where, merged)
        self.session.notes[f"published/{where}"] = known
        if merged != known:
            raise error(ErrorCode.INTERNAL, f"{where}: {arm} merged other contributions than the first arm")

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
