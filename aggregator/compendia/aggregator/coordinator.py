"""Runs the rounds: feeds `rounds.step`, performs its effects in order, merges in the background, ticks.

One lock guards the state; a merge runs outside it, so that publishes and questions go on meanwhile. The state
changes only once its effects are durable: after a crash, or a full disk, what was acknowledged is still true.
"""

from __future__ import annotations

import hashlib
import io
import logging
import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace

from compendia.contract import CompendiaError, Compendium, ErrorCode, Problem, Snapshot, error
from compendia.contract.validate import KnownTools
from compendia.text.encode import Encoder
from compendia.wire.codec import decode, decode_snapshot, encode_snapshot

from .executor import Executor
from .memo import LeafCache
from .receive import check_windows
from .rounds import (
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
from .store import Store, StoredContribution, StoredRound, StoredSnapshot
from .view import Contribution, Equivocation, Policy, ViewCache, view

Upload = tuple[StoredContribution, bytes]

_TICK_S = 0.2
_KNOWN_REVISIONS = 4
_LOG = logging.getLogger("compendia.aggregator")


@dataclass(frozen=True)
class MergeSettings:
    """What a merge needs besides the contributions.

    grants: publisher to the organization whose word counts for its tools. executor makes one for one merge.
    """

    encoder: Encoder
    executor: Callable[[], Executor]
    grants: Mapping[str, str]
    policy: Policy = "conflict_log"


class Coordinator:
    """The rounds of one aggregator. Use as a context manager: it owns two threads.

    clock: seconds since the epoch, as deadlines outlive the process. A round that was being merged when the
    last process ended is merged again.
    """

    def __init__(self, store: Store, merging: MergeSettings, clock: Callable[[], float]) -> None:
        self.store = store
        self.merging = merging
        self._clock = clock
        self._changed = threading.Condition(threading.RLock())
        self._state = _restored(store)
        self._known: OrderedDict[str, KnownTools] = OrderedDict()
        self._merged_tools = ViewCache()  # of the merger's thread alone
        self._leaves = LeafCache()
        self._merger = ThreadPoolExecutor(1, thread_name_prefix="merge")
        self._due: list[Event] = []
        self._ending = threading.Event()
        self._ticker = threading.Thread(target=self._let_time_pass, name="ticker", daemon=True)

    def __enter__(self) -> Coordinator:
        if self._state.phase is Phase.MERGING:
            self._start_merge(self._state.round)
        self._ticker.start()
        return self

    def __exit__(self, *_: object) -> None:
        """A merge under way is finished first."""
        self._ending.set()
        self._ticker.join()
        self._merger.shutdown()

    @property
    def state(self) -> RoundsState:
        """The newest round, as it is now."""
        with self._changed:
            return self._state

    def now(self) -> float:
        return self._clock()

    def open(self, event: Open) -> RoundsState:
        """Open the next round. Raises ROUND_OPEN, USAGE."""
        with self._changed:
            self._apply(event)
            return self._state

    def close(self, event: Close, seconds: float | None) -> RoundsState:
        """Close the open round and wait for its merge. Raises NO_OPEN_ROUND, QUORUM_MISSING, DEADLINE."""
        with self._changed:
            self._apply(event)
            number = self._state.round

            def settled() -> bool:
                return self._state.round != number or self._state.phase is not Phase.MERGING

            if not self._changed.wait_for(settled, seconds):
                raise error(
                    ErrorCode.DEADLINE,
                    f"round {number} is closed, its merge goes on",
                    "round",
                    "ask again with `compendia round status`",
                )
            return self._state

    def repeated(self, org: str, round: int, digest: str) -> StoredContribution | None:
        """The contribution, if exactly it is kept already, in whichever round it was."""
        number = round or self.state.round
        kept = self.store.contributions(number)
        return next((row for row in kept if (row.org, row.digest) == (org, digest)), None)

    def check_open(self, org: str, round: int) -> None:
        """Refuse before the bytes are sent what would be refused after. Raises as `submit`."""
        probe = Submit(org, round, "")
        _, effects = step(self.state, probe, self.now())
        for effect in effects:
            # Other bytes of the same organization are let through: they are evidence.
            if isinstance(effect, Refuse) and effect.problem.code is not ErrorCode.EQUIVOCATION:
                raise CompendiaError([effect.problem])

    def submit(
        self, row: StoredContribution, data: bytes, whole: Compendium | None = None
    ) -> tuple[StoredContribution, bool]:
        """Take a validated upload; returns it with its round settled, and whether it was there already.

        whole: what the bytes say, where the caller has it; then the merge need not read them again.

        Raises ROUND_CLOSED, NO_OPEN_ROUND, NOT_A_MEMBER, EQUIVOCATION, WINDOW_OVERLAP.
        """
        with self._changed:
            placed = replace(row, round=row.round or self._state.round)
            check_windows(placed, self.store.contributions())
            effects = self._apply(Submit(row.org, row.round, row.digest), (placed, data))
            if whole is not None:
                self._leaves.put(Contribution(placed.org, placed.round, placed.digest, whole), len(data))
        answer = next(effect for effect in effects if isinstance(effect, Acknowledge))
        return placed, answer.repeated

    def known(self, revision: str) -> KnownTools:
        """The tools of a revision that a compendium pins; none for "". Raises UNKNOWN_REVISION."""
        if not revision:
            return {}
        with self._changed:
            if revision in self._known:
                self._known.move_to_end(revision)
                return self._known[revision]
        snapshot = decode_snapshot(io.BytesIO(self.store.snapshot_data(revision)))
        return self._remember(snapshot)

    def _remember(self, snapshot: Snapshot) -> KnownTools:
        with self._changed:
            tools = self._known[snapshot.revision] = snapshot.known_tools()
            while len(self._known) > _KNOWN_REVISIONS:
                self._known.popitem(last=False)
            return tools

    def _apply(self, event: Event, upload: Upload | None = None) -> tuple[Effect, ...]:
        """One step, its effects performed in order; the state follows only then. Raises what is refused."""
        with self._changed:
            following, effects = step(self._state, event, self.now())
            for effect in effects:
                self._perform(effect, upload)
            self._state = following
            self._changed.notify_all()
            for effect in effects:
                if isinstance(effect, StartMerge):
                    self._start_merge(effect.round)
            return effects

    def _perform(self, effect: Effect, upload: Upload | None) -> None:
        if isinstance(effect, SaveRound):
            self.store.put_round(_stored(effect.state))
        elif isinstance(effect, Persist | KeepEvidence) and upload is not None:
            # The store keeps a second digest as evidence, and raises EQUIVOCATION.
            self.store.add_contribution(*upload)
        elif isinstance(effect, Refuse):
            raise CompendiaError([effect.problem])

    def _let_time_pass(self) -> None:
        while not self._ending.wait(_TICK_S):
            self._happened(*self._due, Tick())

    def _happened(self, *events: Event) -> None:
        """Apply events that nobody waits for. What the store cannot keep now is tried at the next tick."""
        with self._changed:
            self._due = []
            for event in events:
                try:
                    self._apply(event)
                except CompendiaError as fault:
                    _LOG.error("%s: %s", event, fault)
                    if not isinstance(event, Tick):
                        self._due.append(event)

    def _start_merge(self, round: int) -> None:
        _LOG.info("round %d: merging", round)
        self._merger.submit(self._merge, round).add_done_callback(lambda done: self._merged(round, done))

    def _merged(self, round: int, done: Future[str]) -> None:
        fault = done.exception()
        if fault is None:
            _LOG.info("round %d: snapshot %s", round, done.result())
        else:
            _LOG.error("round %d: merge failed", round, exc_info=fault)
        self._happened(*self._due, Merged(round, _reason(fault)))

    def _merge(self, round: int) -> str:
        """Make and keep the snapshot of everything up to a round; returns its revision."""
        earlier = [kept.revision for kept in self.store.snapshots() if kept.round < round]
        leaves = [self._leaf(row) for row in self.store.contributions() if row.round <= round]
        evidence = [Equivocation(**vars(row)) for row in self.store.evidence() if row.round <= round]
        with self.merging.executor() as executor:
            snapshot = view(
                leaves,
                grants=self.merging.grants,
                encoder=self.merging.encoder,
                executor=executor,
                policy=self.merging.policy,
                parent=earlier[-1] if earlier else "",
                round=round,
                equivocations=evidence,
                cache=self._merged_tools,
            )
        data = b"".join(encode_snapshot(snapshot))
        digest = hashlib.sha256(data).hexdigest()
        self.store.put_snapshot(StoredSnapshot(snapshot.revision, round, digest, len(data)), data)
        self._remember(snapshot)
        return snapshot.revision

    def _leaf(self, row: StoredContribution) -> Contribution:
        """A contribution, read and validated anew only if it is not among those read last."""
        key = row.org, row.round, row.digest
        if (kept := self._leaves.get(key)) is not None:
            return kept
        data = self.store.contribution_data(*key)
        leaf = Contribution(*key, decode(io.BytesIO(data), self.known))
        self._leaves.put(leaf, len(data))
        return leaf


def _restored(store: Store) -> RoundsState:
    rounds = store.rounds()
    if not rounds:
        return RoundsState()
    last = rounds[-1]
    return RoundsState(
        round=last.number,
        phase=Phase(last.phase),
        quorum=last.quorum,
        deadline=last.deadline,
        members=last.members,
        submitted={row.org: row.digest for row in store.contributions(last.number)},
        failure=last.failure,
    )


def _stored(state: RoundsState) -> StoredRound:
    return StoredRound(
        number=state.round,
        phase=state.phase.value,
        quorum=state.quorum,
        deadline=state.deadline,
        members=state.members,
        failure=state.failure,
    )


def _reason(fault: BaseException | None) -> str:
    if fault is None:
        return ""
    if isinstance(fault, CompendiaError):
        return str(fault)
    return str(Problem(ErrorCode.INTERNAL, f"the merge broke: {type(fault).__name__}: {fault}"))
