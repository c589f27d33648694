"""The cost benchmark at a small size: that whole rounds run, and that every encoded text is counted."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from compendia.benchmarks import cost_rerank, cost_round, cost_route
from compendia.benchmarks.benchmark import Options, Session
from compendia.benchmarks.cost_world import changed, compendia
from compendia.contract.document import check
from compendia.text.encode import HashingEncoder

NewSession = Callable[..., Session]


@pytest.fixture
def session(tmp_path: Path) -> NewSession:
    # No datasets, so that every text is generated and the test is the same everywhere.
    def make(limit: int | None = None) -> Session:
        options = Options(data=tmp_path / "absent", limit=limit, encoder="hashing")
        return Session(options, tmp_path / "home")

    return make


def test_two_rounds_encode_every_text_once(session: NewSession) -> None:
    small = session(400)
    figures = cost_round.rounds(small)
    assert figures["texts_encoded_twice"] == 0
    assert figures["round_warm_s"] > 0
    notes = small.notes["rounds"]
    world = small.notes["world"]
    assert notes["texts_encoded_cold"] > world["scenarios_and_precautions"] * 0.9 > 0
    assert 0 < notes["texts_encoded_warm"] < notes["texts_encoded_cold"] / 20
    assert set(notes["cold_parts_s"]) == {"publish", "merge", "fetch", "load"}


def test_a_text_that_is_encoded_twice_is_counted() -> None:
    counting = cost_round.CountingDocuments(HashingEncoder())
    counting.encode_documents(["tides", "ferry"])
    vectors = counting.encode_documents(["tides"])
    np.testing.assert_array_equal(vectors, HashingEncoder().encode_documents(["tides"]))
    assert counting.documents == {"tides": 2, "ferry": 1}


def test_a_hundredth_of_what_is_said_changes(session: NewSession) -> None:
    before = compendia(session(2000))
    after = changed(before)
    for old, new in zip(before, after, strict=True):
        check(new)
        said = [(record.tool, record.text) for record in old.scenarios]
        says = [(record.tool, record.text) for record in new.scenarios]
        for was, now in ((said, says), (old.tools, new.tools)):
            share = np.mean([before != after for before, after in zip(was, now, strict=True)])
            assert 0.005 < share < 0.04


def test_routing_is_timed_over_different_queries(session: NewSession) -> None:
    small = session(400)
    figures = cost_route.route(small)
    assert 0 < figures["route_ms_p50"] <= figures["route_ms_p95"]
    assert small.notes["route"]["queries"] > 100


@pytest.mark.model
@pytest.mark.data
def test_reranking_is_timed_with_cards_kept_and_with_each_alone(data_dir: Path, tmp_path: Path) -> None:
    few = Session(Options(data=data_dir, limit=3, encoder="hashing"), tmp_path)
    figures = cost_rerank.rerank(few)
    assert set(figures) == {"rerank_ms_p50", "rerank_speedup", "card_hit_rate", "card_cache_mb"}
    assert figures["rerank_speedup"] > 1
    assert 0 <= figures["card_hit_rate"] < 1
    assert 0 < figures["card_cache_mb"] * 1e6 <= cost_rerank.CACHE_BYTES
