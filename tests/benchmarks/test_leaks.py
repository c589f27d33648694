"""The leak filter: what a test query repeats goes, what is only near is told, the rest stays."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from compendia.benchmarks.datasets import Query
from compendia.benchmarks.leaks import find_leaks, nearest_cosines, normalized, without_leaks
from compendia.benchmarks.load import load_split
from compendia.benchmarks.splits import Item, Split
from compendia.contract import CompendiaError, Compendium, ErrorCode, ToolMetadata
from compendia.text.encode import HashingEncoder


class Compass:
    """Texts that end in a number of degrees point there, the others to 90: cosines that can be read off."""

    def encode_queries(self, texts: Sequence[str]) -> NDArray[np.float32]:
        last = [text.split()[-1] for text in texts]
        angles = np.radians([float(word) if word.lstrip("-").isdigit() else 90.0 for word in last])
        return np.stack([np.cos(angles), np.sin(angles)], axis=1).astype(np.float32)

    encode_documents = encode_queries


def split_of(*requests: str, queries: Sequence[str]) -> Split:
    tool = ToolMetadata(id="a/b/c", title="c")
    return Split(
        "made",
        Compendium(org="benchmark", tools=(tool,)),
        tuple(Item("client1", text, tool.id) for text in requests),
        tuple(Query(str(at), text, "g", frozenset({"c"})) for at, text in enumerate(queries)),
        {tool.id: "c"},
        {"client1": frozenset({tool.id})},
    )


@pytest.mark.parametrize(
    ("one", "other"),
    [("High tide, at 5?", "high TIDE at  5"), ("\uff34ides!", "tides"), ("wind_speed", "Wind speed")],
)
def test_normalized_texts_differ_in_words_alone(one: str, other: str) -> None:
    assert normalized(one) == normalized(other)
    assert normalized(one) != normalized(one + " now")


def test_equal_and_nearly_equal_requests_go_and_near_ones_are_told() -> None:
    # cos 17 deg = .956, cos 20 deg = .940, cos 30 deg = .866
    split = split_of("Tides!", "at 17", "at 20", "at 30", "at 17", queries=["at 0", "tides"])
    clean, found = without_leaks(split, Compass())
    assert found.equal == ("Tides!",)
    assert found.removed == ("at 17",)
    assert found.near == ("at 20",)
    assert found.counts() == {"equal": 1, "removed": 1, "near": 1}
    assert [item.query for item in clean.experience] == ["at 20", "at 30"]
    assert clean.queries == split.queries


def test_what_still_leaks_is_an_error() -> None:
    class Drifting(Compass):
        """Says something else every time it is asked: the second look finds what the first one missed."""

        calls = 0

        def encode_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
            self.calls += 1
            return self.encode_queries([f"x {60 if self.calls == 1 else 0}" for _ in texts])

    with pytest.raises(CompendiaError, match="still leak") as caught:
        without_leaks(split_of("at 60", queries=["at 0"]), Drifting())
    assert caught.value.code is ErrorCode.INTERNAL


def test_the_nearest_query_counts_in_every_block(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("compendia.benchmarks.leaks.BLOCK", 2)
    requests, queries = [f"at {angle}" for angle in (0, 40, 80, 120, 160)], ["at 10", "at 150"]
    slow = [max(np.cos(np.radians(abs(a - b))) for b in (10, 150)) for a in (0, 40, 80, 120, 160)]
    assert nearest_cosines(requests, queries, Compass()) == pytest.approx(slow, abs=1e-6)
    assert nearest_cosines(requests, [], Compass()).tolist() == [-1.0] * 5
    assert find_leaks([], queries, Compass()).counts() == {"equal": 0, "removed": 0, "near": 0}


@pytest.mark.data
def test_no_g3_request_is_a_stabletoolbench_query(data_dir: Path) -> None:
    clean, found = without_leaks(load_split("stb-g3", data_dir), HashingEncoder())
    assert found.equal == ()
    assert len(clean.experience) > 10_000
