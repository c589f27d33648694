"""A contribution that was read for one merge is not read again for the next."""

from __future__ import annotations

import hashlib
from typing import Any

import pytest
from loopback import FEBRUARY, JANUARY, aggregator, chunks, compendium, header, send_raw, wire_bytes

from compendia.aggregator import coordinator, memo
from compendia.aggregator.rounds import Close, Open
from compendia.aggregator.store import StoredContribution
from compendia.contract import Compendium
from compendia.wire.v1 import compendia_pb2 as pb


@pytest.mark.parametrize(("limit", "read"), [(4_000_000, 2), (0, 3)], ids=["kept", "no room"])
def test_only_new_contributions_are_read(monkeypatch: pytest.MonkeyPatch, limit: int, read: int) -> None:
    seen: list[Compendium] = []
    plain = coordinator.decode

    def counted(*words: Any) -> Compendium:
        seen.append(plain(*words))
        return seen[-1]

    monkeypatch.setattr(coordinator, "decode", counted)
    monkeypatch.setattr(memo, "LEAVES_BYTES", limit)
    with aggregator() as server:
        for number, window in enumerate((JANUARY, FEBRUARY), 1):
            data = wire_bytes(compendium(window=window))
            server.coordinator.open(Open(quorum=1))
            digest = hashlib.sha256(data).hexdigest()
            server.coordinator.submit(StoredContribution("alpha", number, digest, len(data), 3, window), data)
            server.coordinator.close(Close(), 30.0)
        assert server.coordinator.state.failure == ""
        assert [row.round for row in server.store.snapshots()] == [1, 2]
    assert len(seen) == read


def test_what_was_read_to_be_validated_is_not_read_again(monkeypatch: pytest.MonkeyPatch) -> None:
    data = wire_bytes(compendium(window=JANUARY))

    def unread(*_: Any) -> Compendium:
        raise AssertionError("the bytes were read twice")

    monkeypatch.setattr(coordinator, "decode", unread)
    with aggregator() as server:
        server.coordinator.open(Open(quorum=1))
        assert isinstance(send_raw(server.address, [header(data), *chunks(data)]), pb.PublishReceipt)
        server.coordinator.close(Close(), 30.0)
        assert server.coordinator.state.failure == ""
        revision = server.store.snapshots()[-1].revision
    monkeypatch.undo()
    with aggregator() as server:
        server.coordinator.open(Open(quorum=1))
        row = StoredContribution("alpha", 1, hashlib.sha256(data).hexdigest(), len(data), 3, JANUARY)
        server.coordinator.submit(row, data)
        server.coordinator.close(Close(), 30.0)
        assert server.store.snapshots()[-1].revision == revision
