"""The speed benchmark's parts at a small size: that they measure the real thing, not how fast it is."""

from __future__ import annotations

import mmap
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from compendia.benchmarks import speed_merge, speed_publish, speed_search, speed_start
from compendia.benchmarks.benchmark import Options, Session
from compendia.benchmarks.catalog import contribution
from compendia.benchmarks.large import large_compendium
from compendia.benchmarks.memory import PeakMemory
from compendia.contract.document import check, dumps

NewSession = Callable[..., Session]


@pytest.fixture
def session(tmp_path: Path) -> NewSession:
    # No datasets, so that every text is generated and the test is the same everywhere.
    def make(limit: int | None = None) -> Session:
        return Session(Options(data=tmp_path / "absent", limit=limit), tmp_path / "home")

    return make


def test_the_generated_catalogue_is_valid_repeats_with_its_seed_and_has_the_size_asked_for() -> None:
    made = contribution(7, "atlas", range(10, 40), 300)
    check(made)
    assert len(made.tools) == 30
    assert len(made.scenarios) + len(made.precautions) == 300
    assert made == contribution(7, "atlas", range(10, 40), 300)
    assert made != contribution(8, "atlas", range(10, 40), 300)
    neighbour = contribution(7, "borealis", range(30, 60), 300)
    shared = {tool.id: tool for tool in made.tools}.keys() & {tool.id for tool in neighbour.tools}
    assert len(shared) == 10
    assert all(tool in made.tools for tool in neighbour.tools if tool.id in shared)


def test_search_ranks_every_entry_of_the_size_asked_for(session: NewSession) -> None:
    small = session(200)
    figures = speed_search.search(small)
    assert set(figures) == {"search_ms_p50/200", "search_ms_p95/200"}
    assert small.notes["search"]["entries"] == 200
    assert 0 < figures["search_ms_p50/200"] <= figures["search_ms_p95/200"]


def test_a_refresh_counts_what_reaches_the_encoder(session: NewSession) -> None:
    small = session(200)
    assert speed_search.refresh(small) == {"refresh_encoded": 1}
    assert "new gauges" in small.notes["refresh_encoded_texts"][0]


def test_the_merge_really_merges(session: NewSession) -> None:
    small = session(600)
    assert set(speed_merge.seconds(small)) == {"merge_s/600"}
    notes = small.notes["merge"]
    assert 0 < notes["clusters"] < notes["said"] == 600
    assert notes["conflicts"] > 0


@pytest.mark.process
def test_the_merge_gives_the_same_bytes_in_every_order_and_process(session: NewSession) -> None:
    small = session(300)
    assert speed_merge.same_bytes(small) == {"merge_same_bytes": 1}
    assert len(small.notes["merge_digests"]) == 4


def test_other_contributions_give_other_bytes() -> None:
    from compendia.aggregator.executor import SerialExecutor

    leaves = speed_merge.contributions(1, 100)
    encoder = speed_merge.embeddings(leaves)
    whole = speed_merge.digest(speed_merge.merge(leaves, encoder, SerialExecutor()))
    assert whole != speed_merge.digest(speed_merge.merge(leaves[1:], encoder, SerialExecutor()))


def test_a_large_compendium_is_valid_and_as_large_as_asked(session: NewSession) -> None:
    small = session()
    made = large_compendium(small, "atlas", 1.0)
    check(made)
    assert 1_000_000 <= len(dumps(made).encode()) < 1_010_000
    assert small.notes["publish_document"]["records_from_datasets"] == 0


@pytest.mark.data
def test_a_large_compendium_takes_documentation_from_the_datasets(data_dir: Path, tmp_path: Path) -> None:
    from_data = Session(Options(data=data_dir), tmp_path)
    made = large_compendium(from_data, "atlas", 1.0)
    check(made)
    notes = from_data.notes["publish_document"]
    assert notes["records_from_datasets"] == sum(notes["records"].values()) > 100
    assert from_data.inputs


@pytest.mark.process
def test_publishing_is_measured_on_a_real_aggregator(session: NewSession) -> None:
    small = session(500)
    size = speed_publish.wire(small)
    assert 0 < size["publish_wire_mb"] < size["publish_json_mb"]
    grown = speed_publish.memory(2)(small)["publish_rss_mb/2"]
    assert grown > 0
    notes = small.notes["publish_rss/2"]
    assert len(notes["records"]) == 2
    assert notes["records"][0] == sum(small.notes["publish_document"]["records"].values())


@pytest.mark.process
def test_start_up_is_measured_in_a_fresh_process(session: NewSession) -> None:
    small = session()
    assert speed_start.contract_import(small) == {"contract_import_clean": 1}
    assert speed_start.cli_help(small)["cli_help_s"] > 0
    assert len(small.notes["cli_help_runs_s"]) == speed_start.RUNS


def test_peak_memory_sees_what_is_freed_again() -> None:
    with PeakMemory(os.getpid()) as watched, mmap.mmap(-1, 80 * 1024 * 1024) as block:
        for page in range(0, len(block), mmap.PAGESIZE):
            block[page] = 1
    assert 60 < watched.growth_mb < 160
