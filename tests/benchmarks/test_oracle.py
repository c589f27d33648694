"""Oracle retrieval: gold tools are forced into the candidates, and nothing else changes places."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from compendia.benchmarks.datasets import Query
from compendia.benchmarks.oracle import forced
from compendia.contract import Candidate

NAMES = {f"p/n/{letter}": letter for letter in "abcdefgh"} | {"p/n/a2": "a"}


def ranked(letters: str) -> list[Candidate]:
    return [
        Candidate(tool=f"p/n/{letter}", score=-float(place), features={})
        for place, letter in enumerate(letters)
    ]


def asked(*gold: str) -> Query:
    return Query("q/0", "tides?", "q", frozenset(gold))


def test_a_gold_tool_takes_the_place_of_the_lowest_other() -> None:
    found = forced(ranked("abcdefgh"), asked("b", "g"), NAMES, 3)
    assert [(c.tool, c.score) for c in found.candidates] == [("p/n/a", 0), ("p/n/b", -1), ("p/n/g", -6)]
    assert found.inserted


def test_nothing_changes_where_every_gold_tool_is_there() -> None:
    found = forced(ranked("abcdefgh"), asked("c"), NAMES, 3)
    assert [c.tool for c in found.candidates] == ["p/n/a", "p/n/b", "p/n/c"]
    assert not found.inserted


def test_a_gold_tool_that_was_not_ranked_comes_last() -> None:
    found = forced(ranked("abcd"), asked("h"), NAMES, 3)
    assert [(c.tool, c.score) for c in found.candidates] == [("p/n/a", 0), ("p/n/b", -1), ("p/n/h", -3)]


def test_an_alias_takes_one_place() -> None:
    twice = [Candidate(tool="p/n/a2", score=1.0, features={}), *ranked("abcd")]
    assert [c.tool for c in forced(twice, asked("b"), NAMES, 3).candidates] == ["p/n/a2", "p/n/b", "p/n/c"]


@given(st.permutations("abcdefgh"), st.sets(st.sampled_from("abcdefgh"), min_size=1), st.integers(1, 8))
def test_as_many_gold_tools_as_fit_are_there_best_first(order: list[str], gold: set[str], k: int) -> None:
    found = forced(ranked("".join(order)), asked(*gold), NAMES, k).candidates
    assert len(found) == k
    assert sum(NAMES[c.tool] in gold for c in found) == min(k, len(gold))
    assert [c.score for c in found] == sorted((c.score for c in found), reverse=True)
