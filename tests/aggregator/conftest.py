"""What the tests of the aggregator's service share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from loopback import QUICK, Loopback, aggregator

from compendia.aggregator.control import open_round


@pytest.fixture
def server() -> Iterator[Loopback]:
    """An aggregator with round 1 open."""
    with aggregator() as running:
        open_round(running.address, patience=QUICK)
        yield running
