"""Prompt-all: the real small LLM over every card, whom it is asked, and when."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from compendia.benchmarks import prompt_all as module
from compendia.benchmarks.benchmark import Options, Session
from compendia.benchmarks.datasets import Query, sample
from compendia.benchmarks.prompt_all import prompt_all
from compendia.benchmarks.reranking import local_reranker
from compendia.benchmarks.zero_label import METATOOL_ZERO, SEALTOOLS_ZERO
from compendia.contract import CompendiaError, ErrorCode, ToolMetadata
from compendia.router.render import render_card

TOOLS = tuple(
    ToolMetadata(id=f"acme/port/{name.lower()}", title=name, description=text)
    for name, text in (
        ("Bakery", "Recipes for sourdough bread and cakes."),
        ("Tides", "Times of high and low water for harbours."),
        ("Ferry", "Books ferry tickets between islands."),
        ("Tides2", "Times of high and low tide for harbours of the coast."),
    )
)
NAMES = {tool.id: tool.title.lower().rstrip("2") for tool in TOOLS}


def query(number: int, group: str, text: str, gold: str = "a") -> Query:
    return Query(f"q/{number}", text, group, frozenset({gold}))


@pytest.mark.model
@pytest.mark.parametrize("at_once", [2, 3, 100])
def test_every_tool_is_ranked_by_the_likelihood_of_the_query_and_aliases_take_one_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, at_once: int
) -> None:
    monkeypatch.setattr(module, "CARDS_AT_ONCE", at_once)
    session = Session(Options(llm="local"), tmp_path)
    asked = (
        query(0, "labelled", "When is low tide in the harbour?", "tides"),
        query(1, "zero", "How do I bake a loaf of sourdough?", "bakery"),
    )
    found = prompt_all(session, "every", TOOLS, NAMES, asked)
    assert found.first() == [True, True]
    reranker = local_reranker(session)
    for one, ranking in zip(asked, found.rankings, strict=True):
        scores = reranker.score(one.text, [render_card(tool) for tool in TOOLS])
        best = [NAMES[TOOLS[place].id] for place in np.argsort(-scores)]
        assert list(ranking) == list(dict.fromkeys(best))
        assert sorted(ranking) == ["bakery", "ferry", "tides"]
    assert reranker.scored == len(TOOLS) * len(asked)  # each pair once: the second look was kept
    lines = [json.loads(line) for line in (tmp_path / "every.jsonl").read_text().splitlines()]
    assert [line["found"] for line in lines] == list(found.rankings)


def test_a_sample_goes_by_digest_keeps_both_groups_and_grows_with_its_size() -> None:
    every = tuple(
        query(number, "zero" if number % 5 == 0 else "labelled", f"text {number}") for number in range(100)
    )
    some, more = sample(every, 10), sample(every, 15)
    assert [one.group for one in some].count("zero") == [one.group for one in some].count("labelled") == 10
    assert set(some) < set(more)
    assert set(sample(every[::-1], 10)) == set(some)
    assert list(some) == [one for one in every if one in some] != list(every[:10])
    assert sample(every, 1000) == every


def test_it_runs_where_it_is_asked_for_with_an_llm() -> None:
    def runs(options: Options) -> bool:
        parts = METATOOL_ZERO.parts_for(options)
        return any("labelled@prompt-all" in part.keys for part in parts)

    assert runs(Options(llm="local", arms=("prompt-all",)))
    assert runs(Options(llm="local", arms=("all",)))
    assert not runs(Options(llm="local"))
    assert not runs(Options(arms=("all",)))
    assert not runs(Options(llm="local", arms=("all",), seeds=(123,)))
    only = Options(llm="local", arms=("prompt-all",), only=("*@prompt-all",))
    (part,) = METATOOL_ZERO.parts_for(only)
    assert set(part.keys) == {f"{key}@prompt-all" for key in ("labelled", "zero", "H", "recall@5")}


def test_without_an_llm_or_over_thousands_of_tools_it_is_refused() -> None:
    with pytest.raises(CompendiaError, match="--llm local") as caught:
        METATOOL_ZERO.parts_for(Options(arms=("prompt-all",)))
    assert caught.value.code is ErrorCode.USAGE
    with pytest.raises(CompendiaError, match="no arm 'prompt-all'"):
        SEALTOOLS_ZERO.parts_for(Options(llm="local", arms=("prompt-all",)))
