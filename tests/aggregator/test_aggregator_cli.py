"""The aggregator's commands, with the aggregator as its own process."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import typer
from loopback import QUICK, compendium
from typer.testing import CliRunner, Result

from compendia.aggregator.cli import register
from compendia.client.publish import publish
from compendia.client.pull import pull
from compendia.contract import ToolMetadata

app = typer.Typer()
register(app)

_PROGRAM = """
import typer
from compendia.aggregator.cli import register
app = typer.Typer()
register(app)
app()
"""


def run(*words: Any) -> Result:
    return CliRunner().invoke(app, [str(word) for word in words])


def told(*words: Any) -> Any:
    """The JSON document of a command that must succeed."""
    result = run(*words, "--json")
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


@contextmanager
def serving(folder: Path, *words: str) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """`aggregator serve` as a process; gives its address."""
    port_file = folder / "port"
    port_file.unlink(missing_ok=True)
    command = [
        sys.executable,
        "-c",
        _PROGRAM,
        "aggregator",
        "serve",
        "--db",
        str(folder / "state.db"),
        "--cache",
        str(folder / "vectors"),
    ]
    command += ["--address", "127.0.0.1:0", "--encoder", "hashing", "--port-file", str(port_file), *words]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=os.environ.copy()) as program:
        try:
            ends = time.monotonic() + 60
            while not port_file.exists():
                assert program.poll() is None, program.communicate()[1]
                assert time.monotonic() < ends
                time.sleep(0.05)
            yield port_file.read_text().strip(), program
        finally:
            program.send_signal(signal.SIGTERM)
            program.communicate(timeout=60)


@pytest.mark.process
def test_a_round_by_hand_with_a_grant(tmp_path: Path) -> None:
    with serving(tmp_path, "--grant", "acme=alpha", "--quorum", "2") as (address, program):
        assert told("round", "status", "-a", address)["phase"] == "none"
        assert told("round", "open", "-a", address, "--deadline", 600)["quorum"] == 2
        assert run("round", "open", "-a", address).exit_code == 1
        tool = compendium().tools[0]
        others: ToolMetadata = tool.model_copy(update={"description": "Something else"})
        for org, described in (("alpha", tool), ("beta", others), ("gamma", others)):
            publish(address, compendium(org, tools=(described,)), patience=QUICK)
        report = told("round", "close", "-a", address)
        assert report["phase"] == "closed"
        assert [kept["org"] for kept in report["contributions"]] == ["alpha", "beta", "gamma"]
        log = told("conflicts", "-a", address)
        assert log["revision"] == report["revision"]
        (conflict,) = log["conflicts"]
        assert (conflict["kind"], conflict["resolved_by"]) == ("definition", "owner")
        assert conflict["winner"] == {"value": "Forecasts", "supporters": ["alpha"]}
        assert f"Conflicts of {log['revision']}" in run("conflicts", "-a", address).stdout
        assert pull(address, patience=QUICK).compendium.tools[0].description == "Forecasts"
        assert "round 1: closed" in run("round", "status", "-a", address).stderr
    assert program.returncode == 0


@pytest.mark.process
def test_a_killed_aggregator_goes_on_where_it_was(tmp_path: Path) -> None:
    with serving(tmp_path) as (address, program):
        told("round", "open", "-a", address)
        first = publish(address, compendium(), patience=QUICK)
        program.kill()
    with serving(tmp_path, "--executor", "process") as (address, _):
        status = told("round", "status", "-a", address)
        assert (status["phase"], status["contributions"][0]["digest"]) == ("open", first.digest)
        assert publish(address, compendium(), patience=QUICK).repeated
        assert told("round", "close", "-a", address)["failure"] == ""


def test_grants_that_are_none(tmp_path: Path) -> None:
    for words, message in (
        (["--grant", "acme"], "not PUBLISHER=ORG"),
        (["--grant", "a=b", "--grant", "a=c"], "two"),
    ):
        result = run("aggregator", "serve", "--db", tmp_path / "x.db", "--encoder", "hashing", *words)
        assert result.exit_code == 1
        assert message in result.stderr
