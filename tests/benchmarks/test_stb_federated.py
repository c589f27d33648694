"""stb-federated and stb-scale: what is compared with what, and both end to end on a few queries."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
import typer
from numpy.typing import NDArray
from typer.testing import CliRunner

from compendia.benchmarks.benchmark import Options, Session
from compendia.benchmarks.cli import register
from compendia.benchmarks.datasets import Query
from compendia.benchmarks.evaluation import Evaluation
from compendia.benchmarks.splits import LABELLED, ZERO
from compendia.benchmarks.stb_federated import ARMS, compared, split_by_use
from compendia.benchmarks.stb_scale import FreshQueries, functions_of, grown
from compendia.benchmarks.systems import mean_figures
from compendia.contract import Compendium, ToolMetadata
from compendia.text.encode import HashingEncoder

QUERIES = [
    Query(f"{group}/{at}", "q", group, frozenset({"a"}))
    for group, count in (("G1_tool", 6), ("G2_category", 4), ("G3_instruction", 10))
    for at in range(count)
]


def answered(hits: Sequence[bool]) -> tuple[Evaluation, ...]:
    return (Evaluation(QUERIES, [["a" if hit else "b"] for hit in hits]),)


def test_loss_is_over_g1_and_g2_and_the_gap_over_all(tmp_path: Path) -> None:
    session = Session(Options(), tmp_path)
    made = {
        "docs-only": answered([True] * 8 + [False] * 2 + [False] * 10),
        "federated": answered([True] * 7 + [False] * 3 + [True] * 9 + [False]),
        "centralized": answered([True] * 7 + [False] * 3 + [True] * 10),
    }
    for arm, evaluation in made.items():
        session.once(f"answers/{arm}", lambda evaluation=evaluation: evaluation)
    figures = compared(session)
    assert figures == pytest.approx({"loss_g1g2": 100 * 1 / 10, "federated_gap": 100 * 1 / 20})
    low, high = session.intervals["loss_g1g2"]
    assert low <= 10 <= high


def test_queries_of_g1_and_g2_are_split_by_whether_a_gold_tool_has_experience() -> None:
    golds = [frozenset({"a"}), frozenset({"b", "c"}), frozenset({"b"}), frozenset({"a"})]
    groups = ["G1_tool", "G2_category", "G1_category", "G3_instruction"]
    queries = [Query(group, "q", group, gold) for group, gold in zip(groups, golds, strict=True)]
    found = split_by_use(Evaluation(queries, [["a"], ["b"], ["c"], ["a"]]), frozenset({"a", "c"}))
    assert [query.group for query in found.queries] == [LABELLED, LABELLED, ZERO]
    assert found.first() == [True, True, False]


def test_of_several_clients_the_mean_counts() -> None:
    clients = [answered([True] * 20)[0], answered([False] * 10 + [True] * 10)[0]]
    figures = mean_figures(clients)
    assert figures["acc@1/all"] == pytest.approx(0.75)
    assert figures["acc@1/G1_tool"] == pytest.approx(0.5)
    assert figures["acc@1/G3_instruction"] == 1


def run(tmp_path: Path, data_dir: Path, *words: str) -> dict[str, dict[str, object]]:
    app = typer.Typer()
    register(app)
    common = ["--data", str(data_dir), "--home", str(tmp_path), "--encoder", "hashing", "--json"]
    done = CliRunner().invoke(app, ["bench", "run", *words, *common])
    assert done.exit_code in (0, 1), done.output
    document: dict[str, dict[str, object]] = json.loads(done.stdout)
    return document


@pytest.mark.data
@pytest.mark.full
def test_a_limited_run_of_stb_federated_answers_in_every_arm(data_dir: Path, tmp_path: Path) -> None:
    document = run(tmp_path, data_dir, "stb-federated", "--limit", "24")
    figures = document["figures"]
    assert {key.split("@")[-1] for key in figures if key.startswith("acc@1")} == set(ARMS)
    expected = {
        "loss_g1g2",
        "federated_gap",
        "H/g1g2@federated",
        "recall@5/g1g2@paper",
        "acc@1/all@federated",
        "acc@1/G3_instruction@svm",
    }
    assert expected <= set(figures)
    logs = document["manifest"]["logs"]
    assert isinstance(logs, dict)
    assert len(logs) == len(ARMS) - 2 + 2 * 5  # the two local arms answer once per client


@pytest.mark.data
def test_one_arm_alone_can_be_run(data_dir: Path, tmp_path: Path) -> None:
    document = run(tmp_path, data_dir, "stb-federated", "--limit", "6", "--only", "acc@1/all@paper")
    assert set(document["figures"]) == {"acc@1/all@paper"}
    notes = document["manifest"]["notes"]
    assert isinstance(notes, dict)
    assert notes["split/stb-g3/42"]["tools_with_experience"] == 235


@pytest.mark.data
@pytest.mark.full
def test_a_limited_run_of_stb_scale_counts_its_tools(data_dir: Path, tmp_path: Path) -> None:
    document = run(tmp_path, data_dir, "stb-scale", "--limit", "6", "--only", "*/3000")
    figures = document["figures"]
    assert set(figures) == {"recall@5/3000", "acc@1/3000", "route_ms_p50/3000", "route_ms_p95/3000"}
    notes = document["manifest"]["notes"]
    assert isinstance(notes, dict)
    assert notes["tools/3000"] == {"tools": 3_000, "from_datasets": 3_000, "generated": 0}


def test_a_catalogue_grows_by_real_tools_of_other_names_and_then_by_generated_ones(tmp_path: Path) -> None:
    session = Session(Options(), tmp_path)
    own = Compendium(org="benchmark", tools=(ToolMetadata(id="a/b/tides", title="Tide Table"),))
    others = tuple(
        ToolMetadata(id=f"x/y/{name}", title=title)
        for name, title in (("one", "tide  table"), ("two", "Kiln"), ("three", "Mill"))
    )
    session.once("distractors", lambda: [Compendium(org="benchmark", tools=others)])
    small, generated = grown(session, own, 2)
    assert generated == 0
    assert len(small.tools) == 2
    large, generated = grown(session, own, 10)
    assert generated == 7
    ids = {tool.id for tool in large.tools}
    assert {"a/b/tides", "x/y/two", "x/y/three"} <= ids
    assert "x/y/one" not in ids  # it bears the name of a tool that is judged
    assert len(ids) == 10


def test_toolsdk_rows_become_functions(tmp_path: Path) -> None:
    path = tmp_path / "tools.jsonl"
    path.write_text('{"package": "@sea/tides", "tool_name": "get-tides", "description": "heights"}\n')
    assert json.loads(functions_of(path)) == [
        {"name": "get-tides", "description": "heights", "field": "@sea/tides"}
    ]


def test_timed_queries_always_go_through_the_model() -> None:
    class Counting(HashingEncoder):
        seen = 0

        def encode_queries(self, texts: Sequence[str]) -> NDArray[np.float32]:
            self.seen += len(texts)
            return super().encode_queries(texts)

    model, documents = Counting(), HashingEncoder()
    fresh = FreshQueries(documents, model)
    for _ in range(3):
        fresh.encode_queries(["tides"])
    assert model.seen == 3
    assert (fresh.encode_documents(["tides"]) == documents.encode_documents(["tides"])).all()
    assert (fresh.fingerprint, fresh.dimension) == (documents.fingerprint, documents.dimension)
