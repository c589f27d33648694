"""The default weights' training data, which no test may share."""

from __future__ import annotations

import pytest

from compendia.benchmarks.default_weights import SPLITS, committed_weights, training_split
from compendia.benchmarks.load import load_split
from compendia.router.weights import Weights


def test_the_committed_weights_are_whole() -> None:
    committed = committed_weights()
    assert sorted(committed) == sorted(SPLITS)
    for entry in committed.values():
        assert Weights.of(entry["weights"]).flat() == entry["weights"]
        assert entry["words"] >= 1


@pytest.mark.data
def test_training_shares_no_query_and_no_gold_tool_with_stabletoolbench() -> None:
    tested = load_split("stb-docs")
    training = training_split("toolbench_g3", None, lambda *_: None)
    assert not training.experienced() & set(tested.names.values())
    assert not {item.query for item in training.experience} & {query.text for query in tested.queries}
    assert len({item.query for item in training.experience}) > 2_000
    assert {tool.id for tool in training.documentation.tools} == set(training.names)


@pytest.mark.data
def test_training_shares_no_query_with_metatool() -> None:
    tested = load_split("metatool")
    training = training_split("metatool", None, lambda *_: None)
    assert not {item.query for item in training.experience} & {query.text for query in tested.queries}
    assert training.queries == ()
