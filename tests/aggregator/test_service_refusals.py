"""The aggregator over real gRPC: what it refuses, and what it says of it."""

from __future__ import annotations

import os

import pytest
from loopback import (
    FEBRUARY,
    JANUARY,
    QUICK,
    TOOL,
    Loopback,
    aggregator,
    chunks,
    compendium,
    header,
    refusal,
    refused,
    until,
    wire_bytes,
)

from compendia.aggregator.control import close_round, open_round, round_status
from compendia.aggregator.service import ServiceSettings
from compendia.client.publish import publish
from compendia.client.pull import pull
from compendia.contract import ErrorCode, Scenario, strict_json
from compendia.wire.framing import Caps, compress
from compendia.wire.v1 import compendia_pb2 as pb


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
