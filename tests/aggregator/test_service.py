"""The aggregator over real gRPC: what it takes, what it refuses, and what it still knows after a restart."""

from __future__ import annotations

import hashlib
import os
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import grpc
import pytest
from loopback import (
    FEBRUARY,
    JANUARY,
    QUICK,
    TOOL,
    Clock,
    Loopback,
    aggregator,
    chunks,
    compendium,
    header,
    wire_bytes,
)

from compendia.aggregator.control import close_round, conflict_log, open_round, round_status
from compendia.aggregator.executor import SerialExecutor
from compendia.aggregator.service import ServiceSettings
from compendia.aggregator.store import Evidence, SqlStore
from compendia.client.publish import publish
from compendia.client.pull import pull
from compendia.contract import CompendiaError, ErrorCode, Scenario, ToolMetadata, strict_json
from compendia.text.encode import HashingEncoder, Vectors
from compendia.wire.channel import Patience
from compendia.wire.framing import Caps, compress
from compendia.wire.server import Limits
from compendia.wire.status import from_rpc_error
from compendia.wire.v1 import compendia_pb2 as pb
from compendia.wire.v1.compendia_pb2_grpc import AggregatorStub


@pytest.fixture
def server() -> Iterator[Loopback]:
    """An aggregator with round 1 open."""
    with aggregator() as running:
        open_round(running.address, patience=QUICK)
        yield running


def refused(call: Callable[[], Any]) -> CompendiaError:
    """The error that a call ends with."""
    with pytest.raises(CompendiaError) as caught:
        call()
    return caught.value


def send_raw(address: str, messages: Any, timeout: float = 20.0) -> CompendiaError | pb.PublishReceipt:
    """Publish exactly these messages; returns the receipt or the error."""
    with grpc.insecure_channel(address) as channel:
        try:
            receipt: pb.PublishReceipt = AggregatorStub(channel).Publish(iter(messages), timeout=timeout)
        except grpc.RpcError as fault:
            return from_rpc_error(fault, address)
        return receipt


def refusal(address: str, messages: Any, timeout: float = 20.0) -> CompendiaError:
    answer = send_raw(address, messages, timeout)
    assert isinstance(answer, CompendiaError), answer
    return answer


def until(reached: Callable[[], bool], seconds: float = 20.0) -> None:
    """Wait for what another thread does."""
    ends = time.monotonic() + seconds
    while not reached():
        assert time.monotonic() < ends, "it did not happen in time"
        time.sleep(0.01)


# --- publish


def test_a_receipt_names_what_was_sent(server: Loopback) -> None:
    made = compendium()
    receipt = publish(server.address, made, patience=QUICK)
    data = wire_bytes(made)
    assert receipt.digest == hashlib.sha256(data).hexdigest()
    assert (receipt.org, receipt.round, receipt.wire_bytes, receipt.records) == ("alpha", 1, len(data), 3)
    assert not receipt.repeated
    assert server.store.contribution_data("alpha", 1, receipt.digest) == data


def test_the_same_again_is_harmless_also_in_a_later_round(server: Loopback) -> None:
    first = publish(server.address, compendium(), patience=QUICK)
    for _ in range(2):
        again = publish(server.address, compendium(), round=1, patience=QUICK)
        assert again.repeated
        assert again.digest == first.digest
    close_round(server.address, patience=QUICK)
    assert publish(server.address, compendium(), round=1, patience=QUICK).repeated
    open_round(server.address, patience=QUICK)
    assert publish(server.address, compendium(), round=1, patience=QUICK).repeated
    assert len(server.store.contributions()) == 1


def test_a_second_digest_is_refused_kept_and_logged(server: Loopback) -> None:
    first = publish(server.address, compendium(), patience=QUICK)
    other = compendium(text="something else")
    fault = refused(lambda: publish(server.address, other, patience=QUICK))
    assert fault.code is ErrorCode.EQUIVOCATION
    second = hashlib.sha256(wire_bytes(other)).hexdigest()
    assert server.store.evidence() == (Evidence("alpha", 1, kept=first.digest, refused=second),)
    close_round(server.address, patience=QUICK)
    log = conflict_log(server.address, patience=QUICK)
    assert [conflict.kind for conflict in log.conflicts] == ["equivocation"]
    assert pull(server.address, patience=QUICK).compendium.scenarios[0].text == "weather in <TEXT>"


def test_of_many_senders_at_once_each_counts(server: Loopback) -> None:
    def send(number: int) -> str:
        return publish(server.address, compendium(f"org{number}"), patience=QUICK).org

    with ThreadPoolExecutor(20) as pool:
        sent = sorted(pool.map(send, range(20)))
    assert sorted(row.org for row in server.store.contributions(1)) == sent
    assert len(sent) == 20


def test_a_large_upload_passes_through_the_spool(server: Loopback) -> None:
    scenarios = tuple(Scenario(tool=TOOL, text=os.urandom(4000).hex()) for _ in range(500))
    made = compendium(scenarios=scenarios)
    receipt = publish(server.address, made, patience=QUICK)
    assert receipt.wire_bytes > 1_500_000
    assert server.store.contribution_data("alpha", 1, receipt.digest) == wire_bytes(made)


# --- what is refused


def test_bytes_under_a_wrong_digest(server: Loopback) -> None:
    data = wire_bytes(compendium())
    fault = refusal(server.address, [header(data, digest="0" * 64), *chunks(data)])
    assert fault.code is ErrorCode.DIGEST_MISMATCH
    assert server.store.contributions() == ()


def test_a_stream_that_was_cut(server: Loopback) -> None:
    data = wire_bytes(compendium())
    fault = refusal(server.address, [header(data), *chunks(data, 50)[:-1]])
    assert fault.code is ErrorCode.DIGEST_MISMATCH


@pytest.mark.parametrize(
    "messages",
    [
        [],
        chunks(b"x"),
        [header(b"x"), header(b"x")],
        [pb.PublishRequest()],
        [header(b"x", digest="abc")],
        [header(b"nothing zstd"), *chunks(b"nothing zstd")],
    ],
    ids=["nothing", "no header", "two headers", "an empty message", "a short digest", "not zstd"],
)
def test_messages_that_do_not_follow_the_protocol(
    server: Loopback, messages: list[pb.PublishRequest]
) -> None:
    assert refusal(server.address, messages).code is ErrorCode.PROTOCOL


def test_caps_of_a_message_of_the_sum_and_of_the_text() -> None:
    caps = Caps(message_bytes=2000, compressed_bytes=5000, document_bytes=100_000)
    with aggregator(settings=ServiceSettings(caps=caps)) as server:
        open_round(server.address, patience=QUICK)
        noise = os.urandom(5001)
        for size, words in ((2001, "a chunk of 2001 bytes"), (1000, "transfer is over the cap of 5000")):
            fault = refusal(server.address, [header(noise), *chunks(noise, size)])
            assert fault.code is ErrorCode.TOO_LARGE
            assert words in str(fault)
        rows = [["compendium", {"schema_version": 1, "org": "alpha"}]]
        rows += [["tools", {"id": f"{TOOL}{number}", "description": "a" * 9999}] for number in range(20)]
        bomb = b"".join(compress(strict_json.canonical(row).encode() + b"\n" for row in rows))
        assert len(bomb) < 1000
        fault = refusal(server.address, [header(bomb), *chunks(bomb)])
        assert fault.code is ErrorCode.TOO_LARGE
        assert "inflates to more than the cap of 100000" in str(fault)


def test_a_message_over_the_servers_own_cap_is_too_large(server: Loopback) -> None:
    data = b"x" * (3 * 1024 * 1024)
    assert refusal(server.address, [header(data), *chunks(data, len(data))]).code is ErrorCode.TOO_LARGE


def test_a_client_of_another_time_learns_both_versions(server: Loopback) -> None:
    data = wire_bytes(compendium())
    newer = pb.SchemaVersions(min=3, max=4)
    fault = refusal(server.address, [header(data, schema_versions=newer), *chunks(data)])
    assert fault.code is ErrorCode.SCHEMA_VERSION
    assert "client speaks schema version 3 to 4, the server 1" in str(fault)
    assert fault.problems[0].fix == "upgrade the server"
    rows = [["compendium", {"schema_version": 9, "org": "alpha"}], ["end", {"lines": 1}]]
    data = b"".join(compress((strict_json.canonical(row) + "\n").encode() for row in rows))
    fault = refusal(server.address, [header(data), *chunks(data)])
    assert "schema version 9, this program reads version 1" in str(fault)


def test_every_problem_comes_back_with_path_and_fix(server: Loopback) -> None:
    made = compendium(
        scenarios=(
            Scenario(tool=TOOL, text="x", endpoint="side"),
            Scenario(tool=TOOL, text="y", count=-1),
            Scenario(tool="acme/weather/nowhere", text="z"),
        )
    )
    fault = refused(lambda: publish(server.address, made, patience=QUICK))
    assert {(p.code, p.path) for p in fault.problems} == {
        (ErrorCode.UNKNOWN_ENDPOINT, "scenarios[0].endpoint"),
        (ErrorCode.OUT_OF_RANGE, "scenarios[1].count"),
        (ErrorCode.UNKNOWN_TOOL, "scenarios[2].tool"),
    }
    assert server.store.contributions() == ()


def test_a_compendium_of_another_organization(server: Loopback) -> None:
    data = wire_bytes(compendium("beta"))
    fault = refusal(server.address, [header(data, org="alpha"), *chunks(data)])
    assert (fault.code, fault.problems[0].path) == (ErrorCode.BAD_FIELD, "org")
    assert refusal(server.address, [header(data, org="АLPHA")]).code is ErrorCode.BAD_ID


def test_rounds_that_are_not_open(server: Loopback) -> None:
    data = wire_bytes(compendium())
    fault = refusal(server.address, [header(data, round=2), *chunks(data)])
    assert fault.code is ErrorCode.NO_OPEN_ROUND
    publish(server.address, compendium("beta"), patience=QUICK)
    close_round(server.address, patience=QUICK)
    fault = refusal(server.address, [header(data, round=1), *chunks(data)])
    assert fault.code is ErrorCode.ROUND_CLOSED
    assert "the next is 2" in str(fault)


def test_members_alone_may_contribute_and_the_last_one_closes() -> None:
    with aggregator() as server:
        open_round(server.address, quorum=2, members=("alpha", "beta"), patience=QUICK)
        fault = refused(lambda: publish(server.address, compendium("gamma"), patience=QUICK))
        assert fault.code is ErrorCode.NOT_A_MEMBER
        publish(server.address, compendium("alpha"), patience=QUICK)
        publish(server.address, compendium("beta"), patience=QUICK)
        until(lambda: round_status(server.address).phase == "closed")
        assert {member.org for member in pull(server.address, patience=QUICK).members} == {"alpha", "beta"}


def test_windows_of_two_rounds_never_overlap(server: Loopback) -> None:
    publish(server.address, compendium(), patience=QUICK)
    close_round(server.address, patience=QUICK)
    open_round(server.address, patience=QUICK)
    overlapping = compendium(text="new", window=JANUARY.model_copy(update={"start": "2026-01-31T23:59:59Z"}))
    fault = refused(lambda: publish(server.address, overlapping, patience=QUICK))
    assert fault.code is ErrorCode.WINDOW_OVERLAP
    publish(server.address, compendium(window=FEBRUARY), patience=QUICK)
    close_round(server.address, patience=QUICK)
    assert pull(server.address, patience=QUICK).compendium.usage[0].successes == 6


def test_tools_of_a_pinned_snapshot_may_be_named(server: Loopback) -> None:
    publish(server.address, compendium(), patience=QUICK)
    revision = close_round(server.address, patience=QUICK).revision
    open_round(server.address, patience=QUICK)
    bare = compendium("beta", tools=(), usage=(), window=None)
    fault = refused(lambda: publish(server.address, bare, patience=QUICK))
    assert fault.code is ErrorCode.UNKNOWN_TOOL
    elsewhere = bare.model_copy(update={"pinned": "r1-0000000000000000"})
    fault = refused(lambda: publish(server.address, elsewhere, patience=QUICK))
    assert fault.code is ErrorCode.UNKNOWN_REVISION
    publish(server.address, bare.model_copy(update={"pinned": revision}), patience=QUICK)
    second = close_round(server.address, patience=QUICK)
    assert pull(server.address, second.revision, QUICK).compendium.scenarios[0].support == 2


# --- rounds, snapshots


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


class SlowEncoder(HashingEncoder):
    """Encodes when it is let."""

    def __init__(self) -> None:
        super().__init__()
        self.go = threading.Event()

    def encode_documents(self, texts: Any) -> Vectors:
        assert self.go.wait(30)
        return super().encode_documents(texts)


def test_a_merge_blocks_nobody() -> None:
    encoder = SlowEncoder()
    with aggregator(encoder=encoder) as server:
        open_round(server.address, patience=QUICK)
        publish(server.address, compendium(), patience=QUICK)
        with ThreadPoolExecutor(1) as pool:
            closing = pool.submit(lambda: close_round(server.address, patience=QUICK))
            until(lambda: round_status(server.address).phase == "merging")
            assert publish(server.address, compendium(), round=1, patience=QUICK).repeated
            fault = refused(lambda: publish(server.address, compendium("beta"), round=1, patience=QUICK))
            assert fault.code is ErrorCode.ROUND_CLOSED
            fault = refused(lambda: open_round(server.address, patience=QUICK))
            assert fault.code is ErrorCode.ROUND_OPEN
            encoder.go.set()
            assert closing.result(20).phase == "closed"


def test_a_close_that_waits_too_long_says_that_the_merge_goes_on() -> None:
    encoder = SlowEncoder()
    with aggregator(encoder=encoder) as server:
        open_round(server.address, patience=QUICK)
        publish(server.address, compendium(), patience=QUICK)
        fault = refused(lambda: close_round(server.address, patience=Patience(timeout_s=1.0)))
        assert fault.code is ErrorCode.DEADLINE
        assert "its merge goes on" in str(fault)
        encoder.go.set()
        until(lambda: bool(round_status(server.address).revision))


class BrokenExecutor(SerialExecutor):
    def map(self, function: Any, items: Any) -> Any:
        raise ZeroDivisionError("no worker")


def test_a_merge_that_breaks_ends_the_round_and_loses_nothing(tmp_path: Path) -> None:
    path = tmp_path / "state.db"
    with aggregator(path, executor=BrokenExecutor) as server:
        open_round(server.address, patience=QUICK)
        publish(server.address, compendium(), patience=QUICK)
        report = close_round(server.address, patience=QUICK)
        assert report.phase == "closed"
        assert "ZeroDivisionError: no worker" in report.failure
    with aggregator(path) as server:
        open_round(server.address, patience=QUICK)
        publish(server.address, compendium("beta"), patience=QUICK)
        close_round(server.address, patience=QUICK)
        assert {m.org for m in pull(server.address, patience=QUICK).members} == {"alpha", "beta"}


class CountingExecutor(SerialExecutor):
    """Counts the tools that are merged, over all merges."""

    merged = 0

    def map(self, function: Any, items: Any) -> Any:
        type(self).merged += len(items)
        return super().map(function, items)


def test_a_later_round_merges_only_tools_with_news() -> None:
    with aggregator(executor=CountingExecutor) as server:
        other = ToolMetadata(id="acme/weather/warnings")
        both = (*compendium().tools, other)
        open_round(server.address, patience=QUICK)
        publish(server.address, compendium(tools=both), patience=QUICK)
        close_round(server.address, patience=QUICK)
        assert CountingExecutor.merged == 2
        open_round(server.address, patience=QUICK)
        publish(server.address, compendium("beta", window=None, usage=()), patience=QUICK)
        close_round(server.address, patience=QUICK)
        assert CountingExecutor.merged == 3


# --- restart


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


# --- slots and deadlines


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
