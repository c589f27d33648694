"""The aggregator over real gRPC: a stalled upload, and more calls than it has slots for."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import grpc
from loopback import (
    QUICK,
    SlowEncoder,
    aggregator,
    compendium,
    header,
    refused,
    until,
    wire_bytes,
)

from compendia.aggregator.control import close_round, open_round, round_status
from compendia.aggregator.service import ServiceSettings
from compendia.client.publish import publish
from compendia.contract import ErrorCode
from compendia.wire.channel import Patience
from compendia.wire.server import Limits
from compendia.wire.v1 import compendia_pb2 as pb
from compendia.wire.v1.compendia_pb2_grpc import AggregatorStub


def test_a_stalled_upload_keeps_its_slot_no_longer_than_allowed() -> None:
    settings = ServiceSettings(upload_slots=1, upload_s=1.0)
    data = wire_bytes(compendium())
    with aggregator(settings=settings) as server, grpc.insecure_channel(server.address) as channel:
        open_round(server.address, patience=QUICK)
        release = threading.Event()

        def stalls() -> Iterator[pb.PublishRequest]:
            yield header(data)
            release.wait(30)

        stalled = AggregatorStub(channel).Publish.future(stalls())
        time.sleep(0.2)  # until it holds the slot
        fault = refused(lambda: publish(server.address, compendium("beta"), patience=Patience(timeout_s=0.4)))
        assert fault.code is ErrorCode.DEADLINE
        assert publish(server.address, compendium("beta"), patience=QUICK).org == "beta"
        assert stalled.code() is grpc.StatusCode.CANCELLED
        release.set()


def test_more_calls_than_slots_are_told_to_come_again() -> None:
    encoder = SlowEncoder()
    with aggregator(encoder=encoder, limits=Limits(slots=1, grace_s=0.5)) as server:
        open_round(server.address, patience=QUICK)
        publish(server.address, compendium(), patience=QUICK)
        with ThreadPoolExecutor(1) as pool:
            closing = pool.submit(lambda: close_round(server.address, patience=QUICK))
            until(lambda: server.coordinator.state.phase == "merging")
            fault = refused(lambda: round_status(server.address, Patience(timeout_s=0.5)))
            assert fault.code in (ErrorCode.BUSY, ErrorCode.DEADLINE)
            threading.Timer(0.5, encoder.go.set).start()
            assert round_status(server.address, QUICK).phase in ("merging", "closed")
            assert closing.result(20).revision
