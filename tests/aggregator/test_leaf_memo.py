"""A contribution that was read for one merge is not read again for the next."""

from __future__ import annotations

import hashlib
from typing import Any

import pytest
from loopback import FEBRUARY, JANUARY, aggregator, compendium, wire_bytes

from compendia.aggregator import coordinator
from compendia.aggregator.rounds import Close, Open
from compendia.aggregator.store import StoredContribution
from compendia.contract import Compendium


@pytest.mark.parametrize(("limit", "read"), [(4_000_000, 2), (0, 3)], ids=["kept", "no room"])
def test_only_new_contributions_are_read(monkeypatch: pytest.MonkeyPatch, limit: int, read: int) -> None:
    seen: list[Compendium] = []
    plain = coordinator.decode

    def counted(*words: Any) -> Compendium:
        seen.append(plain(*words))
        return seen[-1]

    monkeypatch.setattr(coordinator, "decode", counted)
    monkeypatch.setattr(coordinator, "_LEAVES_BYTES", limit)
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
