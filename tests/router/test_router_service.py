"""The router over gRPC on loopback: Route, Status, Refresh, polling, and an aggregator that goes away."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import grpc
import pytest
from harbour import TIDES, TOOLS, harbour

from compendia.contract import CompendiaError, ErrorCode, Snapshot, check_plan, error
from compendia.router.remote import route, status
from compendia.router.service import MAX_K, Holder, RouterService
from compendia.text.encode import HashingEncoder
from compendia.wire.channel import Patience, connect
from compendia.wire.server import start
from compendia.wire.status import from_rpc_error
from compendia.wire.v1 import compendia_pb2 as pb
from compendia.wire.v1.compendia_pb2_grpc import RouterStub

QUICK = Patience(timeout_s=10, attempts=1)


class Shelf:
    """Where a router fetches from: the newest snapshot, or a fault while the aggregator is away."""

    def __init__(self, *snapshots: Snapshot) -> None:
        self.snapshots = list(snapshots)
        self.away = False
        self.fetched = 0
        self.asked = threading.Semaphore(0)

    def newest(self) -> str:
        self.asked.release()
        self._answer()
        return self.snapshots[-1].revision if self.snapshots else ""

    def _answer(self) -> None:
        if self.away:
            raise error(ErrorCode.UNREACHABLE, "nobody answers", "aggregator")

    def __call__(self, revision: str) -> Snapshot:
        self._answer()
        self.fetched += 1
        found = [s for s in self.snapshots if revision in {"", s.revision}]
        if not found:
            code = ErrorCode.UNKNOWN_REVISION if revision else ErrorCode.NO_SNAPSHOT
            raise error(code, "no such snapshot", "revision")
        return found[-1]


@pytest.fixture
def shelf() -> Shelf:
    return Shelf(harbour(round=1))


@pytest.fixture
def address(shelf: Shelf) -> Iterator[str]:
    with Holder(shelf, HashingEncoder()) as holder, start([RouterService(holder)], "127.0.0.1:0") as running:
        yield running.address


def _refresh(address: str, revision: str = "") -> pb.RouterStatus:
    with connect(address) as channel:
        try:
            return RouterStub(channel).Refresh(pb.RefreshRequest(revision=revision), timeout=10)
        except grpc.RpcError as fault:
            raise from_rpc_error(fault, address) from None


def test_before_the_first_snapshot_it_says_so_and_lives(address: str) -> None:
    assert status(address, QUICK).revision == ""
    with pytest.raises(CompendiaError) as refused:
        route(address, "When is high water?", patience=QUICK)
    assert refused.value.code is ErrorCode.NO_SNAPSHOT


def test_a_plan_survives_the_wire(address: str, shelf: Shelf) -> None:
    told = _refresh(address)
    snapshot = shelf.snapshots[0]
    assert (told.revision, told.tools) == (snapshot.revision, len(TOOLS))
    assert told.entries > told.tools
    assert told.encoder == HashingEncoder().fingerprint
    plan, elapsed_ms = route(address, "When is high water in Visby on 3 May 2026?", patience=QUICK)
    assert plan.steps[0].tool == TIDES
    assert check_plan(plan, snapshot) == ()
    assert elapsed_ms > 0


@pytest.mark.parametrize(
    ("query", "k", "code"),
    [
        ("  ", 5, ErrorCode.EMPTY_QUERY),
        ("tide\x00", 5, ErrorCode.BAD_TEXT),
        ("tide", MAX_K + 1, ErrorCode.USAGE),
    ],
)
def test_a_bad_request_comes_back_as_its_own_error(address: str, query: str, k: int, code: ErrorCode) -> None:
    _refresh(address)
    with pytest.raises(CompendiaError) as refused:
        route(address, query, k, QUICK)
    assert refused.value.code is code


def test_refresh_swaps_encodes_what_changed_and_keeps_the_old_one_on_a_fault(
    address: str, shelf: Shelf
) -> None:
    first = _refresh(address)
    assert first.encoded > 0
    changed = [t.model_copy(update={"description": "Anew."}) if t.id == TIDES else t for t in TOOLS]
    shelf.snapshots.append(harbour(tools=changed, round=2))
    second = _refresh(address)
    assert (second.revision, second.encoded) == (shelf.snapshots[1].revision, 1)
    assert _refresh(address, first.revision).revision == first.revision
    shelf.away = True
    with pytest.raises(CompendiaError) as failed:
        _refresh(address)
    assert failed.value.code is ErrorCode.UNREACHABLE
    assert route(address, "When is high water?", patience=QUICK)[0].revision == first.revision


def test_polling_finds_newer_snapshots_and_outlives_an_absent_aggregator() -> None:
    shelf = Shelf()
    with Holder(shelf, HashingEncoder(), poll_s=0.01, newest=shelf.newest) as holder:
        _looked(shelf, 2)
        assert holder.revision == ""
        shelf.snapshots.append(harbour(round=1))
        _looked(shelf, 3)
        assert holder.revision == shelf.snapshots[0].revision
        shelf.away = True
        _looked(shelf, 3)
        assert holder.revision == shelf.snapshots[0].revision
        shelf.away = False
        shelf.snapshots.append(harbour(round=2))
        _looked(shelf, 3)
        assert holder.revision == shelf.snapshots[1].revision
    assert shelf.fetched == 2, "an unchanged snapshot is not fetched again"


def _looked(shelf: Shelf, times: int) -> None:
    """Wait until the router has looked that often from now: a look begins when the one before has ended."""
    while shelf.asked.acquire(blocking=False):
        pass
    for _ in range(times):
        assert shelf.asked.acquire(timeout=30)
