"""The aggregator over real gRPC: snapshots by revision, quorum and deadline of a round."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import grpc
from loopback import (
    QUICK,
    Loopback,
    aggregator,
    chunks,
    compendium,
    header,
    refused,
    until,
    wire_bytes,
)

from compendia.aggregator.control import close_round, conflict_log, open_round, round_status
from compendia.client.publish import publish
from compendia.client.pull import pull
from compendia.contract import ErrorCode
from compendia.wire.v1 import compendia_pb2 as pb
from compendia.wire.v1.compendia_pb2_grpc import AggregatorStub


def test_a_snapshot_of_each_revision_can_be_pulled(server: Loopback) -> None:
    assert refused(lambda: pull(server.address, patience=QUICK)).code is ErrorCode.NO_SNAPSHOT
    assert refused(lambda: conflict_log(server.address, patience=QUICK)).code is ErrorCode.NO_SNAPSHOT
    publish(server.address, compendium(), patience=QUICK)
    first = close_round(server.address, patience=QUICK).revision
    open_round(server.address, patience=QUICK)
    publish(server.address, compendium("beta"), patience=QUICK)
    report = close_round(server.address, patience=QUICK)
    assert report.revisions == (first, report.revision)
    assert pull(server.address, first, QUICK).revision == first
    newest = pull(server.address, patience=QUICK)
    assert (newest.revision, newest.parent, newest.round) == (report.revision, first, 2)
    for call in (pull, conflict_log):
        fault = refused(lambda call=call: call(server.address, "r9-0", QUICK))
        assert fault.code is ErrorCode.UNKNOWN_REVISION


def test_a_quorum_that_is_missing_is_said_and_can_be_forced() -> None:
    with aggregator() as server:
        report = open_round(server.address, quorum=2, deadline_s=100, patience=QUICK)
        assert (report.round, report.phase, report.quorum, report.seconds_left) == (1, "open", 2, 100.0)
        publish(server.address, compendium(), patience=QUICK)
        fault = refused(lambda: close_round(server.address, patience=QUICK))
        assert fault.code is ErrorCode.QUORUM_MISSING
        assert close_round(server.address, force=True, patience=QUICK).revision


def test_the_deadline_merges_with_a_quorum_though_a_client_died() -> None:
    with aggregator() as server:
        open_round(server.address, quorum=2, deadline_s=60, patience=QUICK)
        publish(server.address, compendium("alpha"), patience=QUICK)
        publish(server.address, compendium("beta"), patience=QUICK)
        data = wire_bytes(compendium("gamma"))
        stuck = threading.Event()

        def dies() -> Iterator[pb.PublishRequest]:
            yield header(data, org="gamma")
            yield chunks(data, 10)[0]
            stuck.wait(30)

        with grpc.insecure_channel(server.address) as channel:
            dead = AggregatorStub(channel).Publish.future(dies())
            server.clock.now_s += 61
            until(lambda: round_status(server.address).phase == "closed")
            stuck.set()
            dead.cancel()
        members = [member.org for member in pull(server.address, patience=QUICK).members]
        assert members == ["alpha", "beta"]


def test_the_deadline_without_a_quorum_closes_and_says_why() -> None:
    with aggregator() as server:
        open_round(server.address, quorum=2, deadline_s=60, patience=QUICK)
        publish(server.address, compendium(), patience=QUICK)
        server.clock.now_s += 61
        until(lambda: round_status(server.address).phase == "closed")
        report = round_status(server.address)
        assert "1 of the 2 organizations" in report.failure
        assert report.revision == ""
        assert refused(lambda: pull(server.address, patience=QUICK)).code is ErrorCode.NO_SNAPSHOT
        assert open_round(server.address, patience=QUICK).round == 2
