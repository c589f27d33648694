"""The aggregator over real gRPC: a merge blocks nobody, and one that breaks loses nothing."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from loopback import (
    QUICK,
    SlowEncoder,
    aggregator,
    compendium,
    refused,
    until,
)

from compendia.aggregator.control import close_round, open_round, round_status
from compendia.aggregator.executor import SerialExecutor
from compendia.client.publish import publish
from compendia.client.pull import pull
from compendia.contract import ErrorCode, ToolMetadata
from compendia.wire.channel import Patience


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
