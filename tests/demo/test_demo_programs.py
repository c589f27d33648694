"""The demo's processes end whatever happens, and say why they failed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from compendia.cli.demo_programs import Programs
from compendia.contract import CompendiaError

pytestmark = pytest.mark.process


def processes_in(folder: Path) -> list[psutil.Process]:
    return [process for process in psutil.process_iter(["cwd"]) if process.info["cwd"] == str(folder)]


def test_a_server_is_reached_and_ended(tmp_path: Path) -> None:
    with Programs(tmp_path, {}) as programs:
        server = programs.serve(
            "aggregator", "aggregator", "serve", "--db", "a.db", "--address", "127.0.0.1:0"
        )
        status = programs.run("status", "round", "status", "-a", server.address(60.0), "--json")
        assert status.document["round"] == 0
        assert processes_in(tmp_path)
    assert server.process.poll() == 0
    assert not processes_in(tmp_path)


def test_a_server_that_cannot_start_shows_the_end_of_its_log(tmp_path: Path) -> None:
    with Programs(tmp_path, {}) as programs:
        server = programs.serve("router", "router", "serve")
        with pytest.raises(CompendiaError, match="name where snapshots come from"):
            server.address(60.0)


def test_a_command_that_fails_ends_everything(tmp_path: Path) -> None:
    words = ("aggregator", "serve", "--db", "a.db", "--address", "127.0.0.1:0")

    def fail_beside_a_server() -> None:
        with Programs(tmp_path, {}) as programs:
            programs.serve("aggregator", *words).address(60.0)
            programs.run("check", "validate", "missing.json")

    with pytest.raises(CompendiaError, match="No such file"):
        fail_beside_a_server()
    assert not processes_in(tmp_path)


def test_a_refusal_that_was_expected_is_an_outcome(tmp_path: Path) -> None:
    with Programs(tmp_path, {}) as programs:
        outcome = programs.run("check", "validate", "missing.json", refused=[1])
    assert outcome.code == 1
    assert "SOURCE_UNREADABLE" in outcome.told
    assert "$ compendia validate missing.json" in (tmp_path / "check.log").read_text(encoding="utf-8")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_demo_that_is_stopped_leaves_no_process(tmp_path: Path, number: signal.Signals) -> None:
    kept = tmp_path / "kept"
    demo = subprocess.Popen(
        [sys.executable, "-m", "compendia.cli", "demo", "--keep", str(kept)],
        cwd=tmp_path,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        start_new_session=True,
        env={**os.environ, "COLUMNS": "100"},
    )
    give_up = time.monotonic() + 120
    while not (kept / "aggregator.address").exists():
        assert demo.poll() is None, demo.communicate()[1]
        assert time.monotonic() < give_up
        time.sleep(0.1)
    assert processes_in(kept)
    demo.send_signal(number)
    _, told = demo.communicate(timeout=60)
    assert demo.returncode == 128 + number
    assert b"Traceback" not in told
    assert not processes_in(kept)


def test_a_folder_in_use_is_not_written_over(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine", encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "compendia.cli", "demo", "--keep", str(tmp_path)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert "not empty" in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]
