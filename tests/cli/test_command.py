"""The `compendia` command as a user's shell sees it: help, exit codes, pipes."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
import typer

from compendia.cli.main import app

COMMAND = str(Path(sys.executable).parent / "compendia")

pytestmark = pytest.mark.process


def run(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([COMMAND, *words], capture_output=True, text=True, check=False, timeout=60)


def commands(node: Any, path: tuple[str, ...] = ()) -> list[tuple[tuple[str, ...], Any]]:
    """Every command with its words: groups are walked."""
    if not hasattr(node, "commands"):
        return [(path, node)]
    return [found for name, child in node.commands.items() for found in commands(child, (*path, name))]


ALL = commands(typer.main.get_command(app))


def test_version() -> None:
    done = run("--version")
    assert done.returncode == 0
    assert done.stdout.startswith("compendia 0.")


def test_what_a_user_needs_is_there() -> None:
    names = {" ".join(path) for path, _ in ALL}
    wanted = "import|client build|client publish|client pull|validate|schema|diff|aggregator serve|round open"
    wanted += "|round close|round status|conflicts|router serve|route|explain|bench list|bench run|demo"
    assert set(wanted.split("|")) <= names


@pytest.mark.parametrize(("path", "command"), ALL, ids=[" ".join(path) for path, _ in ALL])
def test_every_command_helps_with_an_example(path: tuple[str, ...], command: Any) -> None:
    assert f"Example: compendia {' '.join(path)}" in " ".join((command.help or "").split())


@pytest.mark.parametrize(("path", "command"), ALL, ids=[" ".join(path) for path, _ in ALL])
def test_every_option_says_what_it_does(path: tuple[str, ...], command: Any) -> None:
    assert [p.name for p in command.params if not getattr(p, "help", None)] == []


def test_help_of_a_group_without_a_command() -> None:
    assert "Commands" in run("client").stderr + run("client").stdout


def test_unknown_command_is_a_usage_error() -> None:
    done = run("brew", "coffee")
    assert done.returncode == 2
    assert "brew" in done.stderr
    assert not done.stdout


def test_an_error_names_place_and_fix(tmp_path: Path) -> None:
    bad = tmp_path / "bad.json"
    bad.write_text('{"schema_version": 7}', encoding="utf-8")
    done = run("validate", str(bad))
    assert done.returncode == 1
    assert "SCHEMA_VERSION" in done.stderr
    assert "Fix:" in done.stderr
    assert "Traceback" not in done.stderr


def test_json_stands_alone_on_stdout() -> None:
    done = run("schema", "--json")
    assert done.returncode == 0
    assert json.loads(done.stdout)["fields"]


def test_a_reader_that_leaves_early_hears_no_complaint() -> None:
    # `true` has left long before the first byte is written.
    shell = f"'{COMMAND}' schema --json | true; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", shell], capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode != 0
    assert done.stderr == ""


def test_ctrl_c_ends_quietly(tmp_path: Path) -> None:
    # A server that accepts and never answers: once it was called, the command is known to wait.
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(60)
        address = f"127.0.0.1:{listener.getsockname()[1]}"
        words = ["client", "pull", "--aggregator", address, "--out", str(tmp_path / "s.json"), "--wait"]
        with subprocess.Popen([COMMAND, *words], stderr=subprocess.PIPE, text=True) as process:
            accepted, _ = listener.accept()
            with accepted:
                time.sleep(0.5)
                process.send_signal(signal.SIGINT)
                _, told = process.communicate(timeout=30)
    assert process.returncode == 130, told
    assert "Traceback" not in told


@pytest.mark.parametrize(("chosen", "threads"), [(None, "1"), ("3", "3")])
def test_products_take_one_thread_unless_somebody_says_more(chosen: str | None, threads: str) -> None:
    environment = {name: value for name, value in os.environ.items() if name != "OPENBLAS_NUM_THREADS"}
    told = environment | ({"OPENBLAS_NUM_THREADS": chosen} if chosen else {})
    look = (
        "import sys, os, compendia.cli.main; "
        "print(os.environ['OPENBLAS_NUM_THREADS'], 'numpy' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", look], env=told, capture_output=True, text=True, check=True)
    # The variable is read when numpy is first imported, so nothing may import it earlier.
    assert done.stdout.split() == [threads, "False"]
