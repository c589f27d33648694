"""The router's commands, in process: a snapshot file or a router over gRPC, for a person or for a program."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
import typer
from harbour import PARCEL, TIDES, harbour
from typer.testing import CliRunner, Result

from compendia.contract.document import snapshot_dumps
from compendia.router.cli import register
from compendia.router.service import Holder, RouterService
from compendia.text.cache import CachedEncoder
from compendia.text.console import EXIT_FAILED, EXIT_UNAVAILABLE
from compendia.text.encode import HashingEncoder
from compendia.wire.server import start

APP = typer.Typer()
register(APP)
QUERY = "When is high water in Visby on 3 May 2026?"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "snapshot.json"
    path.write_text(snapshot_dumps(harbour()), encoding="utf-8")
    return path


@pytest.fixture
def address() -> Iterator[str]:
    with Holder(lambda _: harbour(), HashingEncoder()) as holder:
        holder.refresh()
        with start([RouterService(holder)], "127.0.0.1:0") as running:
            yield running.address


def _run(*words: object) -> Result:
    return CliRunner().invoke(APP, [str(word) for word in words], env={"COLUMNS": "200"})


def _local(file: Path, *words: object) -> Result:
    return _run(*words, "--snapshot", file, "--encoder", "hashing", "--cache", file.parent / "vectors")


def test_a_plan_for_a_program_is_one_document(file: Path) -> None:
    found = _local(file, "route", QUERY, "--json")
    assert found.exit_code == 0, found.output
    plan = json.loads(found.stdout)
    assert plan["steps"][0]["tool"] == TIDES
    assert plan["elapsed_ms"] > 0


def test_documents_are_kept_in_one_file_for_all_programs(
    file: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("COMPENDIA_CACHE", str(tmp_path / "shared"))
    found = _run("route", QUERY, "--snapshot", file, "--encoder", "hashing", "--json")
    assert found.exit_code == 0, found.output
    kept = CachedEncoder(
        HashingEncoder(), tmp_path / "shared" / "vectors.sqlite"
    )  # as the aggregator opens it
    kept.encode_documents([scenario.text for scenario in harbour().compendium.scenarios])
    assert kept.encoded == 0


def test_a_plan_for_a_person_says_everything(file: Path) -> None:
    shown = _local(file, "route", QUERY).stdout
    for part in (
        TIDES,
        "Visby",
        "from the query",
        "events[].height",
        " m,",
        "CC-BY-4.0",
        "Licence disputed",
        "near request",
    ):
        assert part in shown, part


def test_an_abstention_says_why_and_is_no_error(file: Path) -> None:
    found = _local(file, "route", "zzzz qqqq")
    assert found.exit_code == 0
    assert "Nothing fits" in found.stdout


def test_the_same_plan_comes_from_a_router(file: Path, address: str) -> None:
    here = json.loads(_local(file, "route", QUERY, "--json").stdout)
    there = json.loads(_run("route", QUERY, "--router", address, "--json").stdout)
    assert {**here, "elapsed_ms": 0} == {**there, "elapsed_ms": 0}


def test_explain_names_the_losers_and_by_what_they_lost(file: Path, address: str) -> None:
    for found in (
        _local(file, "explain", QUERY, "--json"),
        _run("explain", QUERY, "--router", address, "--json"),
    ):
        (part,) = json.loads(found.stdout)["parts"]
        assert part["candidates"][0]["tool"] == TIDES
        assert PARCEL in {candidate["tool"] for candidate in part["candidates"]}
        assert all("description_meaning" in candidate["contributions"] for candidate in part["candidates"])
    shown = _local(file, "explain", QUERY).stdout
    assert "description meaning" in shown
    assert "behind" in shown


def test_status_tells_what_answers(address: str) -> None:
    told = json.loads(_run("router", "status", "--router", address, "--json").stdout)
    assert told["revision"] == harbour().revision


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["route", "  ", "--snapshot", "FILE"], EXIT_FAILED, "EMPTY_QUERY"),
        (["route", QUERY, "--snapshot", "missing.json"], EXIT_FAILED, "SOURCE_UNREADABLE"),
        (
            ["route", QUERY, "--snapshot", "FILE", "--router", "127.0.0.1:1"],
            EXIT_FAILED,
            "exclude each other",
        ),
        (["route", QUERY, "--router", "127.0.0.1:1", "--timeout", "2"], EXIT_UNAVAILABLE, "UNREACHABLE"),
        (["route", QUERY, "--snapshot", "FILE", "--reranker", "endpoint"], EXIT_FAILED, "--endpoint-url"),
        (["route", QUERY, "--snapshot", "FILE", "--encoder", "oracle"], EXIT_FAILED, "choose one of"),
        (["router", "serve"], EXIT_FAILED, "--aggregator or --snapshot"),
    ],
)
def test_a_wrong_word_is_answered_with_what_to_do(
    words: list[str], code: int, said: str, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(file.parent)
    hashing = ["--encoder", "hashing"] if "--snapshot" in words and "--encoder" not in words else []
    found = _run(*(file if word == "FILE" else word for word in words), *hashing)
    assert found.exit_code == code, found.output
    assert said in found.stderr


@pytest.mark.parametrize("command", [["route"], ["explain"], ["router", "serve"], ["router", "status"]])
def test_help_has_an_example(command: list[str]) -> None:
    assert "Example: compendia" in _run(*command, "--help").stdout
