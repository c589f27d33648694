"""The harness: the one document, choosing parts, missing data, exit codes."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from compendia.benchmarks import registry
from compendia.benchmarks.benchmark import Benchmark, Options, Part, Session
from compendia.benchmarks.cli import register
from compendia.benchmarks.datasets import alias, data_directory, dataset, stratified
from compendia.benchmarks.run import run
from compendia.benchmarks.stabletoolbench import pool
from compendia.benchmarks.verdict import Bound
from compendia.contract import CompendiaError, ErrorCode

runner = CliRunner()


def app() -> typer.Typer:
    made = typer.Typer()
    register(made)
    return made


def squares(session: Session) -> dict[str, float]:
    with session.log("steps") as log:
        for number in session.track([1, 2, 3], "squares"):
            log.write(number=number)
    return {"sum/3": 14, "largest": 9}


def halves(session: Session) -> dict[str, float]:
    return {"half": 0.5}


TOY = Benchmark("toy", "adds up", (Part(("sum/*", "largest"), squares), Part(("half",), halves)))
BOUNDS = {"sum/3": Bound(at_least=14), "half": Bound(at_most=0.4)}


def test_the_document_has_five_keys_and_its_manifest_what_is_needed_to_repeat_it(tmp_path: Path) -> None:
    document = run(TOY, Options(), BOUNDS, tmp_path).as_json()
    assert list(document) == ["benchmark", "figures", "expected", "verdict", "manifest"]
    assert document["benchmark"] == "toy"
    assert document["figures"] == {"sum/3": 14, "largest": 9, "half": 0.5}
    assert document["expected"] == {"sum/3": {"at_least": 14}, "half": {"at_most": 0.4}}
    assert document["verdict"] == "FAIL"
    manifest = document["manifest"]
    assert manifest["verdicts"] == {"sum/3": "OK", "half": "FAIL"}
    for key in ("inputs", "commit", "versions", "cpu_count", "seeds", "arguments", "seconds"):
        assert key in manifest
    log = tmp_path / "toy" / "default" / "steps.jsonl"
    assert [json.loads(line) for line in log.read_text().splitlines()] == [{"number": n} for n in (1, 2, 3)]
    assert manifest["logs"] == {"steps.jsonl": hashlib.sha256(log.read_bytes()).hexdigest()}
    json.dumps(document, allow_nan=False)


@pytest.mark.parametrize(
    ("only", "figures"),
    [
        (("half",), {"half"}),
        (("sum",), {"sum/3"}),
        (("sum/3",), {"sum/3"}),
        (("lar*", "half"), {"largest", "half"}),
    ],
)
def test_only_chooses_figures_and_their_bounds(
    tmp_path: Path, only: tuple[str, ...], figures: set[str]
) -> None:
    result = run(TOY, Options(only=only), BOUNDS, tmp_path)
    assert set(result.figures) == figures
    assert set(result.expected) == figures & set(BOUNDS)


def test_only_something_unknown_says_what_there_is(tmp_path: Path) -> None:
    with pytest.raises(CompendiaError, match="largest, half") as caught:
        run(TOY, Options(only=("nothing",)), BOUNDS, tmp_path)
    assert caught.value.code is ErrorCode.USAGE


def test_a_part_that_does_not_deliver_a_bounded_figure_is_an_error(tmp_path: Path) -> None:
    lazy = Benchmark("lazy", "", (Part(("sum/*", "half"), halves),))
    with pytest.raises(CompendiaError, match="did not produce sum/3"):
        run(lazy, Options(), BOUNDS, tmp_path)


def test_the_command_prints_one_document_and_fails_with_its_verdict(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(registry, "BENCHMARKS", (TOY,))
    monkeypatch.setattr("compendia.benchmarks.expected.load_expected", lambda name: BOUNDS)
    failed = runner.invoke(app(), ["bench", "run", "toy", "--json", "--home", str(tmp_path)])
    assert failed.exit_code == 1
    assert json.loads(failed.stdout)["verdict"] == "FAIL"
    passed = runner.invoke(app(), ["bench", "run", "toy", "--only", "sum", "--home", str(tmp_path)])
    assert passed.exit_code == 0
    assert "sum/3" in passed.stdout
    assert "half" not in passed.stdout


def test_the_list_names_every_benchmark_with_its_bounds() -> None:
    listed = runner.invoke(app(), ["bench", "list", "--json"])
    assert listed.exit_code == 0
    rows = {row["benchmark"]: row for row in json.loads(listed.stdout)["benchmarks"]}
    assert rows["stb-docs"]["expected"]["acc@1/all"] == {"at_least": 0.79}
    assert set(rows) == {benchmark.name for benchmark in registry.BENCHMARKS}


def test_an_unknown_benchmark_names_those_there_are() -> None:
    failed = runner.invoke(app(), ["bench", "run", "nothing"])
    assert failed.exit_code == 1
    assert "stb-docs" in failed.stderr


def test_missing_data_says_how_to_get_it(tmp_path: Path) -> None:
    failed = runner.invoke(
        app(), ["bench", "run", "stb-docs", "--data", str(tmp_path), "--home", str(tmp_path / "home")]
    )
    assert failed.exit_code == 1
    assert "DATA_MISSING" in failed.stderr
    assert "THUNLP-MT/StableToolBench at aa4ed9f4" in failed.stderr


def test_the_data_directory_is_the_argument_then_the_variable_then_the_default(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COMPENDIA_DATA", str(tmp_path))
    assert data_directory() == tmp_path
    (tmp_path / "given" / "openapi").mkdir(parents=True)
    assert dataset("openapi", tmp_path / "given") == tmp_path / "given" / "openapi"
    assert dataset("openapi", tmp_path / "given" / "openapi") == tmp_path / "given" / "openapi"
    monkeypatch.setenv("COMPENDIA_DATA", str(tmp_path / "absent"))
    with pytest.raises(CompendiaError, match="COMPENDIA_DATA") as caught:
        data_directory()
    assert caught.value.code is ErrorCode.DATA_MISSING


def api(tool: str, name: str, category: str = "Data") -> dict[str, str]:
    return {"category_name": category, "tool_name": tool, "api_name": name, "api_description": f"{name} it"}


def test_pooling_joins_aliases_and_keeps_every_api_once() -> None:
    entry = {
        "query": "q",
        "relevant APIs": [["Big  Tool", "Get"]],
        "api_list": [api("Big Tool", "Get"), api("big tool", "Put", "Other"), api("Big Tool", "Get")],
    }
    corpus = pool([("G1_tool", [entry, entry])])
    assert list(corpus.tools) == ["big_tool"]
    assert [found["api_name"] for found in corpus.tools["big_tool"]] == ["Get", "Put"]
    assert [query.id for query in corpus.queries] == ["G1_tool/0", "G1_tool/1"]
    assert corpus.queries[0].gold == {alias("BIG tool")}


def test_a_limited_run_draws_from_every_group() -> None:
    groups = [(f"g{n}", [{"query": "q", "relevant APIs": [], "api_list": []}] * 10) for n in range(3)]
    queries = pool(groups).queries
    assert {query.group for query in stratified(queries, 6)} == {"g0", "g1", "g2"}
    assert stratified(queries, None) == stratified(queries, 99) == queries
