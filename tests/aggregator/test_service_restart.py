"""The aggregator over real gRPC: what it still knows after a restart."""

from __future__ import annotations

from pathlib import Path

from loopback import (
    QUICK,
    Clock,
    aggregator,
    compendium,
    until,
)

from compendia.aggregator.control import close_round, open_round, round_status
from compendia.aggregator.store import SqlStore
from compendia.client.publish import publish
from compendia.client.pull import pull


def test_a_restart_goes_on_where_the_round_was(tmp_path: Path) -> None:
    path, clock = tmp_path / "state.db", Clock()
    with aggregator(path, clock=clock) as server:
        open_round(server.address, quorum=2, deadline_s=100, members=("alpha", "beta"), patience=QUICK)
        first = publish(server.address, compendium(), patience=QUICK)
    clock.now_s += 40
    with aggregator(path, clock=clock) as server:
        report = round_status(server.address)
        assert (report.round, report.phase, report.quorum, report.seconds_left) == (1, "open", 2, 60.0)
        assert report.members == ("alpha", "beta")
        assert [kept.digest for kept in report.contributions] == [first.digest]
        assert publish(server.address, compendium(), patience=QUICK).repeated
        publish(server.address, compendium("beta"), patience=QUICK)
        until(lambda: round_status(server.address).phase == "closed")
        revision = pull(server.address, patience=QUICK).revision
    with aggregator(path, clock=clock) as server:
        assert pull(server.address, patience=QUICK).revision == revision


def test_a_merge_that_a_crash_cut_off_is_made_again_with_the_same_revision(tmp_path: Path) -> None:
    path = tmp_path / "state.db"
    with aggregator(path) as server:
        open_round(server.address, patience=QUICK)
        publish(server.address, compendium(), patience=QUICK)
        revision = close_round(server.address, patience=QUICK).revision
    store = SqlStore(path)
    (last,) = store.rounds()
    store.put_round(type(last)(**{**vars(last), "phase": "merging"}))
    store.close()
    with aggregator(path) as server:
        until(lambda: round_status(server.address).phase == "closed")
        assert round_status(server.address).revisions == (revision,)
