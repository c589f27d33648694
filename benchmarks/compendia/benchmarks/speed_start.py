"""How fast the command answers, and what the contract pulls in, each in a fresh interpreter."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

from compendia.contract import ErrorCode, error

from .benchmark import Figures, Session
from .metrics import median

RUNS = 5
HEAVY = ("grpc", "torch", "faiss", "ray")


def cli_help(session: Session) -> Figures:
    """Median wall seconds of `compendia --help`, after one run that warms the file cache."""
    command = Path(sys.executable).parent / "compendia"
    if not command.is_file():
        raise error(
            ErrorCode.SOURCE_UNREADABLE,
            f"the command is not installed at {command}",
            "cli_help_s",
            "install the project into this environment: scripts/setup",
        )
    seconds = []
    for run in range(RUNS + 1):
        started = time.perf_counter()
        _run([str(command), "--help"])
        if run:
            seconds.append(time.perf_counter() - started)
    session.notes["cli_help_runs_s"] = [round(value, 3) for value in seconds]
    return {"cli_help_s": median(seconds)}


def contract_import(session: Session) -> Figures:
    """1 where `import compendia.contract` loads none of grpc, torch, faiss and ray; else 0."""
    script = (
        "import sys, compendia.contract\n"
        f"print(*sorted({set(HEAVY)!r} & {{name.partition('.')[0] for name in sys.modules}}))"
    )
    loaded = _run([sys.executable, "-c", script]).split()
    session.notes["contract_import_loaded"] = loaded
    return {"contract_import_clean": int(not loaded)}


def _run(command: list[str]) -> str:
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    if done.returncode:
        raise error(
            ErrorCode.INTERNAL,
            f"{' '.join(command)} left with {done.returncode}: {done.stderr.strip()[-500:]}",
            command[0],
        )
    return done.stdout
