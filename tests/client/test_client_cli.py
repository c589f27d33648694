"""The client's commands as a user runs them: results on stdout, the rest on stderr, useful exit codes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import typer
from loopback import QUICK, TOOL, Loopback, aggregator, compendium
from typer.testing import CliRunner, Result

from compendia.aggregator.control import close_round, open_round
from compendia.client.cli import register
from compendia.client.files import read_compendium
from compendia.contract.document import dump

app = typer.Typer()
register(app)

OPENAPI = {
    "openapi": "3.0.3",
    "info": {"title": "Tides", "version": "1"},
    "servers": [{"url": "https://tides.example"}],
    "paths": {
        "/tides/{port}": {
            "get": {
                "operationId": "getTides",
                "summary": "High and low water of a port",
                "parameters": [
                    {"name": "port", "in": "path", "required": True, "schema": {"type": "string"}}
                ],
                "responses": {"200": {"description": "ok"}},
            }
        }
    },
}


def run(*words: Any) -> Result:
    return CliRunner().invoke(app, [str(word) for word in words])


def told(*words: Any) -> Any:
    """The JSON document of a command that must succeed."""
    result = run(*words, "--json")
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


@pytest.fixture
def imported(tmp_path: Path) -> Path:
    source = tmp_path / "tides.json"
    source.write_text(json.dumps(OPENAPI))
    out = tmp_path / "imported.json"
    report = told("import", "openapi", source, "--org", "alpha", "--out", out)
    assert report["out"] == str(out)
    assert report["tools"] == 1
    return out


def test_import_build_validate(imported: Path, tmp_path: Path) -> None:
    tool = read_compendium(imported).tools[0].id
    log = tmp_path / "log.jsonl"
    rows = [
        {"query": "Tides at Antwerp", "tool": tool, "outcome": "success", "arguments": {"port": "Antwerp"}},
        {"query": "Weather at Antwerp", "tool": tool, "outcome": "failure", "comment": "no weather here"},
    ]
    log.write_text("".join(json.dumps({**row, "time": "2026-09-04T10:00:00Z"}) + "\n" for row in rows))
    out = tmp_path / "alpha.json"
    report = told("client", "build", imported, "--experience", log, "--out", out)
    assert report["window"] == {"start": "2026-09-04T10:00:00Z", "end": "2026-09-04T10:00:01Z"}
    assert (report["org"], report["scenarios"], report["precautions"]) == ("alpha", 1, 1)
    month = ("--from", "2026-09-01T00:00:00Z", "--to", "2026-10-01T00:00:00Z")
    assert (
        told("client", "build", imported, "--experience", log, *month, "--out", out)["window"]["end"]
        == month[3]
    )
    checked = told("validate", out)
    assert checked["valid"]
    assert checked["usage"] == 1


@pytest.mark.parametrize(
    ("window", "words"),
    [
        (("--from", "2026-09-01T00:00:00Z"), "a window has two ends"),
        (("--from", "September", "--to", "October"), "is not a window"),
        ((), "no experience"),
    ],
)
def test_a_window_that_is_none(imported: Path, tmp_path: Path, window: tuple[str, ...], words: str) -> None:
    result = run("client", "build", imported, *window, "--out", tmp_path / "out.json")
    assert result.exit_code == 1
    assert words in result.stderr
    assert not (tmp_path / "out.json").exists()


def test_validate_names_every_problem(tmp_path: Path) -> None:
    path = tmp_path / "bad.json"
    path.write_text(
        '{"schema_version": 1, "org": "Alpha",'
        '"tools": [{"id": "a/b"}, {"id": "a/b/c", "licences": ["Mine"]}]}'
    )
    result = run("validate", path, "--json")
    assert result.exit_code == 1
    document = json.loads(result.stdout)
    assert not document["valid"]
    assert {(p["code"], p["path"]) for p in document["problems"]} == {
        ("BAD_ID", "org"),
        ("BAD_ID", "tools[0].id"),
        ("BAD_LICENCE", "tools[1].licences[0]"),
    }
    assert all(p["fix"] for p in document["problems"])
    assert result.stderr.count("error:") == 3


def test_schema_shows_every_field() -> None:
    fields = {row["field"]: row for row in told("schema")["fields"]}
    assert fields["usage[].successes"]["merge"] == "sum"
    assert fields["usage[].successes"]["range_on_wire"] != fields["usage[].successes"]["range"]
    assert fields["tools[].endpoints[].parameters[].type"]["role"] == "documentation"
    table = run("schema")
    assert table.exit_code == 0
    assert "tools[].endpoints[].parameters[]" in table.stdout


def test_diff_has_the_exit_code_of_diff(tmp_path: Path) -> None:
    one, other = tmp_path / "one.json", tmp_path / "other.json"
    dump(compendium(), one)
    dump(compendium(text="else"), other)
    assert run("diff", one, one).exit_code == 0
    result = run("diff", one, other, "--json")
    assert result.exit_code == 1
    assert [entry["kind"] for entry in json.loads(result.stdout)] == ["added", "removed"]
    shown = run("diff", one, other)
    assert shown.exit_code == 1
    assert "2 differences" in shown.stdout


@pytest.fixture
def merged(tmp_path: Path) -> Any:
    with aggregator() as server:
        open_round(server.address, patience=QUICK)
        path = tmp_path / "alpha.json"
        dump(compendium(), path)
        receipt = told("client", "publish", path, "--aggregator", server.address)
        assert (receipt["round"], receipt["repeated"], receipt["records"]) == (1, False, 3)
        assert "it was there already" in run("client", "publish", path, "-a", server.address).stderr
        close_round(server.address, patience=QUICK)
        yield server


def test_publish_and_pull(merged: Loopback, tmp_path: Path) -> None:
    out = tmp_path / "snapshot.json"
    report = told("client", "pull", "--aggregator", merged.address, "--out", out)
    assert report["organizations"] == ["alpha"]
    assert told("validate", out)["revision"] == report["revision"]
    again = run("client", "pull", "-a", merged.address, "--revision", "r9-0", "--out", tmp_path / "none.json")
    assert again.exit_code == 1
    assert "UNKNOWN_REVISION" in again.stderr
    assert not (tmp_path / "none.json").exists()


def test_a_closed_round_tells_the_next(merged: Loopback, tmp_path: Path) -> None:
    path = tmp_path / "beta.json"
    dump(compendium("beta"), path)
    result = run("client", "publish", path, "-a", merged.address, "--round", 1)
    assert result.exit_code == 1
    assert "round 1 is closed, the next is 2" in result.stderr
    open_round(merged.address, patience=QUICK)
    report = told("client", "publish", path, "-a", merged.address, "--round", 1, "--next-round")
    assert report["round"] == 2


def test_a_pinned_compendium_is_checked_against_its_revision(merged: Loopback, tmp_path: Path) -> None:
    out = tmp_path / "snapshot.json"
    revision = told("client", "pull", "-a", merged.address, "--out", out)["revision"]
    path = tmp_path / "beta.json"
    bare = compendium("beta", tools=(), usage=(), window=None, pinned=revision)
    dump(bare, path)
    assert run("validate", path).exit_code == 1
    assert told("validate", path, "--pinned", out)["valid"]
    open_round(merged.address, patience=QUICK)
    assert told("client", "publish", path, "-a", merged.address)["records"] == 1
    dump(bare.model_copy(update={"pinned": "r7-0123456789abcdef"}), path)
    result = run("validate", path, "--pinned", out)
    assert "pins r7-0123456789abcdef" in result.stderr


def test_nobody_there_has_its_own_exit_code(tmp_path: Path) -> None:
    path = tmp_path / "alpha.json"
    dump(compendium(), path)
    result = run("client", "publish", path, "-a", "127.0.0.1:1", "--timeout", 5)
    assert result.exit_code == 3
    assert "UNREACHABLE" in result.stderr
    assert TOOL not in result.stderr
