"""The aggregator over real gRPC: what it takes, and what its receipts say."""

from __future__ import annotations

import hashlib
import os
from concurrent.futures import ThreadPoolExecutor

from loopback import (
    QUICK,
    TOOL,
    Loopback,
    compendium,
    refused,
    wire_bytes,
)

from compendia.aggregator.control import close_round, conflict_log, open_round
from compendia.aggregator.store import Evidence
from compendia.client.publish import publish
from compendia.client.pull import pull
from compendia.contract import ErrorCode, Scenario


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
