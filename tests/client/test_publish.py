"""Publishing and pulling: one encoding, one round, the same bytes on every attempt."""

from __future__ import annotations

import hashlib
import threading
from pathlib import Path

import grpc
import pytest
from loopback import QUICK, Loopback, aggregator, compendium, wire_bytes

from compendia.aggregator.control import close_round, open_round
from compendia.client.files import read_snapshot
from compendia.client.publish import encoded, publish
from compendia.client.pull import pull, pull_to
from compendia.contract import CompendiaError, ErrorCode
from compendia.wire.channel import Patience
from compendia.wire.framing import CHUNK_BYTES
from compendia.wire.server import Limits, start
from compendia.wire.v1 import compendia_pb2 as pb
from compendia.wire.v1.compendia_pb2_grpc import AggregatorServicer


def test_every_attempt_sends_the_same_bytes_also_at_once() -> None:
    with encoded(compendium()) as upload:
        first, second = upload.messages(4), upload.messages(4)
        pairs = list(zip(first, second, strict=True))
    assert all(one == other for one, other in pairs)
    assert pairs[0][0].header.round == 4
    data = b"".join(one.chunk for one, _ in pairs[1:])
    assert data == wire_bytes(compendium())
    assert pairs[0][0].header.digest == hashlib.sha256(data).hexdigest()
    assert max(len(one.chunk) for one, _ in pairs) <= CHUNK_BYTES


class Flaky(AggregatorServicer):
    """Fails the first attempts as a server does that goes away, then takes the upload."""

    def __init__(self, failures: int) -> None:
        self.failures = failures
        self.seen: list[bytes] = []

    def Publish(self, request_iterator, context):  # type: ignore[no-untyped-def]
        messages = list(request_iterator)
        self.seen.append(b"".join(message.SerializeToString() for message in messages))
        if len(self.seen) <= self.failures:
            context.abort(grpc.StatusCode.UNAVAILABLE, "going away")
        said = messages[0].header
        return pb.PublishReceipt(org=said.org, round=said.round, digest=said.digest, compressed_bytes=1)


def test_a_retry_sends_the_same_bytes() -> None:
    flaky = Flaky(failures=2)
    with start([flaky], "127.0.0.1:0", Limits(grace_s=0.5)) as running:
        receipt = publish(running.address, compendium(), round=3, patience=QUICK, sleep=lambda _: None)
    assert receipt.round == 3
    assert len(flaky.seen) == 3
    assert len(set(flaky.seen)) == 1


def test_the_patience_ends() -> None:
    flaky = Flaky(failures=100)
    with start([flaky], "127.0.0.1:0", Limits(grace_s=0.5)) as running:
        with pytest.raises(CompendiaError) as caught:
            publish(running.address, compendium(), round=1, patience=Patience(20, attempts=3))
        assert caught.value.code is ErrorCode.UNREACHABLE
        assert len(flaky.seen) == 3


class Forgetful(AggregatorServicer):
    def Publish(self, request_iterator, context):  # type: ignore[no-untyped-def]
        list(request_iterator)
        return pb.PublishReceipt(org="alpha", round=1, digest="0" * 64)


def test_a_receipt_for_other_bytes_is_no_receipt() -> None:
    with start([Forgetful()], "127.0.0.1:0", Limits(grace_s=0.5)) as running:
        with pytest.raises(CompendiaError) as caught:
            publish(running.address, compendium(), round=1, patience=QUICK)
        assert caught.value.code is ErrorCode.PROTOCOL


def _closed_round(server: Loopback) -> None:
    open_round(server.address, patience=QUICK)
    publish(server.address, compendium("beta"), patience=QUICK)
    close_round(server.address, patience=QUICK)


def test_a_closed_round_names_the_next() -> None:
    with aggregator() as server:
        with pytest.raises(CompendiaError, match="no round was opened yet; the next will be round 1"):
            publish(server.address, compendium(), patience=QUICK)
        _closed_round(server)
        with pytest.raises(CompendiaError, match="the next will be round 2") as caught:
            publish(server.address, compendium(), patience=QUICK)
        assert caught.value.code is ErrorCode.NO_OPEN_ROUND
        with pytest.raises(CompendiaError, match="round 1 is closed, the next is 2") as caught:
            publish(server.address, compendium(), round=1, patience=QUICK)
        assert caught.value.code is ErrorCode.ROUND_CLOSED


@pytest.mark.parametrize("round", [0, 1])
def test_the_same_bytes_go_to_the_next_round_when_asked(round: int) -> None:
    with aggregator() as server:
        _closed_round(server)
        opening = threading.Timer(0.4, lambda: open_round(server.address, patience=QUICK))
        opening.start()
        receipt = publish(server.address, compendium(), round=round, next_round=True, patience=QUICK)
        opening.join()
        assert receipt.round == 2
        assert receipt.digest == hashlib.sha256(wire_bytes(compendium())).hexdigest()


def test_waiting_for_the_next_round_ends_with_the_patience() -> None:
    with aggregator() as server:
        _closed_round(server)
        with pytest.raises(CompendiaError) as caught:
            publish(server.address, compendium(), next_round=True, patience=Patience(timeout_s=0.8))
        assert caught.value.code in (ErrorCode.NO_OPEN_ROUND, ErrorCode.DEADLINE)


def test_a_pulled_file_is_the_snapshot(tmp_path: Path) -> None:
    out = tmp_path / "snapshot.json"
    with aggregator() as server:
        _closed_round(server)
        snapshot = pull_to(out, server.address, patience=QUICK)
        assert snapshot == pull(server.address, snapshot.revision, QUICK)
    assert read_snapshot(out) == snapshot
    assert [path.name for path in tmp_path.iterdir()] == ["snapshot.json"]


class Lying(AggregatorServicer):
    """Sends bytes that are not those it announces."""

    def Pull(self, request, context):  # type: ignore[no-untyped-def]
        yield pb.SnapshotChunk(info=pb.SnapshotInfo(revision="r1", digest="0" * 64))
        yield pb.SnapshotChunk(chunk=b"abc")


def test_a_download_is_checked() -> None:
    with start([Lying()], "127.0.0.1:0", Limits(grace_s=0.5)) as running:
        with pytest.raises(CompendiaError) as caught:
            pull(running.address, patience=QUICK)
        assert caught.value.code is ErrorCode.DIGEST_MISMATCH
