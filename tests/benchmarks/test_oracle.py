"""Oracle retrieval: gold tools are forced into the candidates, and nothing else changes places."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from yard import ENCODER, yard

from compendia.benchmarks.benchmark import Options, Session
from compendia.benchmarks.datasets import Query
from compendia.benchmarks.oracle import forced, ordered_by_llm, typed_card
from compendia.benchmarks.rendering import flat_card
from compendia.contract import Candidate
from compendia.router.route import Router

METRICS, CARDS = ("acc@1", "llm_alone"), ("typed", "flat")
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


@pytest.mark.model
def test_the_llm_orders_a_forced_tool_beside_those_that_were_ranked(tmp_path: Path) -> None:
    session = Session(Options(llm="local"), tmp_path)
    router = Router(yard(used=4), ENCODER)
    names = {tool.id: tool.title for tool in router.revision.index.tools}
    query = Query("q/0", "Please paint the keel of our boat.", "q", frozenset({"paint keel"}))
    ranked = router.retrieve("Book a barge at Visby.", 8).candidates
    found = [forced(ranked, query, names)]
    assert found[0].candidates[-1].features == {}
    figures = ordered_by_llm(session, router, found, names, "typed", typed_card)
    figures |= ordered_by_llm(session, router, found, names, "flat", flat_card)
    assert figures["llm_alone/q@typed"] == 1
    keys = {f"{metric}/{group}@{card}" for metric in METRICS for group in ("q", "all") for card in CARDS}
    assert set(figures) == keys
