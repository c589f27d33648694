"""abstain: what is read of BFCL, worlds with and without a right tool, the fit, and a run on real data."""

from __future__ import annotations

import json
import random
from pathlib import Path

import numpy as np
import pytest
import typer
from typer.testing import CliRunner

from compendia.benchmarks.abstain import catalog
from compendia.benchmarks.abstain_fit import AGAINST, SIGNS, fit, worlds
from compendia.benchmarks.bfcl import Question, questions
from compendia.benchmarks.cli import register
from compendia.benchmarks.splits import CLIENTS, Item, Split
from compendia.contract import Compendium, Endpoint, ToolMetadata

TURNS = [
    {"role": "system", "content": "You are helpful."},
    {"role": "user", "content": "Is there a tide table?"},
    {"role": "assistant", "content": "For which port?"},
    {"role": "user", "content": "For Visby."},
]
TIDES = {
    "name": "tides",
    "description": "Tides of a port.",
    "parameters": {"type": "dict", "required": ["port"], "properties": {"port": {"type": "string"}}},
}


def test_a_question_is_what_the_user_said() -> None:
    (question,) = questions([{"id": "q-1", "question": [TURNS], "function": [TIDES]}])
    assert question.text == "Is there a tide table?\nFor Visby."
    assert [tool.title for tool in catalog(question).tools] == ["tides"]
    assert catalog(question).tools[0].endpoints[0].parameters[0].required


def test_halves_are_about_equal_and_depend_on_the_id_alone() -> None:
    halves = [Question(f"live_{number}", "text", b"[]").half for number in range(1000)]
    assert 400 < sum(halves) < 600
    assert Question("live_3", "other", b"[{}]").half == halves[3]


def split(tools: int, requests: int) -> Split:
    described = tuple(
        ToolMetadata(id=f"p/n/t{at}", title=f"Tool {at}", endpoints=(Endpoint(name="get"),))
        for at in range(tools)
    )
    names = {tool.id: tool.title for tool in described}
    items = tuple(
        Item(CLIENTS[0], f"request {at}", f"p/n/t{(at + step) % tools}")
        for at in range(requests)
        for step in (0, 1)
    )
    holdings = dict.fromkeys(CLIENTS, frozenset(names))
    return Split("made", Compendium(org="o", tools=described), items, (), names, holdings)


def test_worlds_come_in_pairs_with_a_right_tool_and_without() -> None:
    made = split(30, 900)
    right: dict[str, set[str]] = {}
    for item in made.experience:
        right.setdefault(item.query, set()).add(item.tool)
    found = list(worlds(made, [[(at + 5) % 30] for at in range(30)], random.Random(1)))
    assert [world.fits for world in found] == [True, False] * 800
    for world in found:
        there = {tool.id for tool in world.catalog.tools} & right[world.query]
        assert len(there) == world.fits
        assert world.query not in {scenario.text for scenario in world.catalog.scenarios}
    assert any(world.catalog.scenarios for world in found)


def test_the_fit_finds_what_speaks_for_a_tool() -> None:
    draw = np.random.default_rng(2)
    fits = np.arange(600) % 2 == 0
    found = []
    for one in fits:
        rows = draw.normal(size=(3, len(SIGNS)))
        rows[0, 0] += 3.0 * one
        rows[:, [SIGNS.index(name) for name in AGAINST]] = draw.random((3, len(AGAINST)))
        found.append(rows)
    weights, bias = fit(found, ["a", "b", "b"] * 200, fits)
    assert weights[0] > 0.5
    assert weights[0] > 3 * max(weights[1:])
    assert all(weights[SIGNS.index(name)] <= 0 for name in AGAINST)
    best = np.asarray([(rows @ weights).max() + bias for rows in found])
    assert np.mean((best > 0) == fits) > 0.75


@pytest.mark.data
@pytest.mark.parametrize(
    "encoder", ["hashing", pytest.param("minilm", marks=[pytest.mark.model, pytest.mark.full])]
)
def test_a_limited_run_agrees_with_its_log(data_dir: Path, tmp_path: Path, encoder: str) -> None:
    app = typer.Typer()
    register(app)
    words = ["--data", str(data_dir), "--limit", "60", "--home", str(tmp_path), "--encoder", encoder]
    done = CliRunner().invoke(app, ["bench", "run", "abstain", "--json", *words])
    assert done.exit_code in (0, 1), done.output
    document = json.loads(done.stdout)
    assert set(document["figures"]) == {
        f"{name}{suffix}" for name in ("declined", "false_rejects") for suffix in ("", "@cosine", "/snapshot")
    }
    (log,) = tmp_path.rglob("irrelevance.jsonl")
    rows = [json.loads(line) for line in log.read_text().splitlines()]
    assert len(rows) == 60
    level = document["manifest"]["notes"]["threshold"]
    assert document["figures"]["declined"] == pytest.approx(sum(r["evidence"] < level for r in rows) / 60)
    refused = sum(row["evidence"] < row["threshold"] for row in rows) / 60
    assert document["figures"]["declined/snapshot"] == pytest.approx(refused)
