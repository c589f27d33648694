"""The import rules hold, and each of them can fail: one that finds nothing would look just the same."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOTS = ("proto", "client", "aggregator", "router", "benchmarks", "scripts")


def _lint(folder: Path) -> subprocess.CompletedProcess[str]:
    roots = os.pathsep.join(str(folder / root) for root in ROOTS)
    return subprocess.run(
        [str(Path(sys.executable).parent / "lint-imports"), "--no-cache", "--no-logo"],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": roots},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture(scope="module")
def copy(checkout: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the sources that a test may spoil."""
    folder = tmp_path_factory.mktemp("checkout")
    for root in ROOTS:
        shutil.copytree(checkout / root, folder / root, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(checkout / "pyproject.toml", folder)
    return folder


@pytest.mark.process
def test_the_rules_hold(checkout: Path) -> None:
    done = _lint(checkout)
    assert done.returncode == 0, done.stdout
    assert "0 broken" in done.stdout


@pytest.mark.process
@pytest.mark.parametrize(
    ("module", "statement"),
    [
        ("proto/compendia/contract/spoiled.py", "import grpc"),
        ("proto/compendia/contract/spoiled.py", "import numpy"),
        ("proto/compendia/contract/spoiled.py", "import compendia.text.console"),
        ("proto/compendia/wire/spoiled.py", "import compendia.text.console"),
        ("proto/compendia/text/spoiled.py", "import compendia.client.cli"),
        ("client/compendia/client/spoiled.py", "import compendia.router.route"),
        ("client/compendia/client/importers/spoiled.py", "import sqlalchemy"),
        ("client/compendia/client/importers/spoiled.py", "import compendia.wire.channel"),
        ("router/compendia/router/spoiled.py", "import compendia.aggregator.merge"),
        ("aggregator/compendia/aggregator/spoiled.py", "import compendia.client.publish"),
        ("router/compendia/router/spoiled.py", "import compendia.benchmarks.cli"),
        ("benchmarks/compendia/benchmarks/spoiled.py", "import compendia.cli.main"),
    ],
)
def test_a_forbidden_import_is_found(copy: Path, module: str, statement: str) -> None:
    path = copy / module
    path.write_text(f"{statement}\n", encoding="utf-8")
    try:
        done = _lint(copy)
    finally:
        path.unlink()
    assert done.returncode == 1, done.stdout
    assert ".spoiled" in done.stdout
