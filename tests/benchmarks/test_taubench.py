"""taubench: decisions from tasks and conversations, and splits that share no task."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from compendia.benchmarks.cli import register
from compendia.benchmarks.tau_steps import FOLDS, splits_of
from compendia.benchmarks.taubench import airline_decisions, read_taubench, retail_decisions

TASK = {
    "instruction": "Return the lamp. ",
    "actions": [{"name": "get_user_details"}, {"name": "return_items"}],
}


def said(role: str, text: str) -> dict[str, object]:
    return {"role": role, "content": text}


def call(name: str) -> dict[str, object]:
    return {"role": "assistant", "tool_calls": [{"function": {"name": name, "arguments": "{}"}}]}


def test_every_gold_call_is_a_decision_that_knows_those_before() -> None:
    first, second = retail_decisions([TASK])
    assert (first.state, first.tool) == ("Return the lamp.", "get_user_details")
    assert second.state == "Return the lamp. Done so far: get user details."
    assert second.tool == "return_items"


def test_conversations_without_the_reward_are_left_out() -> None:
    messages = [said("user", "Hello"), call("a"), said("user", "Yes, go on"), call("b")]
    made = airline_decisions(
        [
            {"task_id": 3, "reward": 1.0, "messages": messages},
            {"task_id": 4, "reward": 0.0, "messages": messages},
        ]
    )
    assert [(d.task, d.state, d.tool) for d in made] == [
        (3, "Hello", "a"),
        (3, "Yes, go on Done so far: a.", "b"),
    ]


@pytest.mark.data
def test_the_published_files_give_the_known_counts(data_dir: Path) -> None:
    data = read_taubench(data_dir / "taubench")
    assert [len(part) for part in (data.train, data.dev, data.test, data.airline)] == [768, 25, 582, 347]
    assert [len(catalog.tools) for catalog in data.catalogs.values()] == [16, 14]
    (retail,) = splits_of(data, "retail")
    assert len(retail.queries) == 582
    assert {item.client for item in retail.experience} == set(retail.holdings)
    folds = splits_of(data, "airline")
    assert len(folds) == FOLDS
    assert sum(len(split.queries) for split in folds) == 347
    for fold, split in enumerate(folds):
        assert {d.task % FOLDS for d in data.airline if f"{d.id}" in {q.id for q in split.queries}} == {fold}


@pytest.mark.data
def test_a_limited_run_measures_both_domains_in_every_arm(data_dir: Path, tmp_path: Path) -> None:
    app = typer.Typer()
    register(app)
    words = ["--data", str(data_dir), "--limit", "3", "--home", str(tmp_path), "--encoder", "hashing"]
    done = CliRunner().invoke(app, ["bench", "run", "taubench", "--json", *words])
    assert done.exit_code in (0, 1), done.output
    figures = json.loads(done.stdout)["figures"]
    arms = ("federated", "centralized", "docs-only")
    assert set(figures) == {f"acc@1/{domain}@{arm}" for domain in ("retail", "airline") for arm in arms}
