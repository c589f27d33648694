"""The shape of the source tree: one namespace over several roots, files of one subject, no loose ends."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOTS = ("proto", "client", "aggregator", "router", "benchmarks", "scripts")
MAX_LINES = 300


@pytest.fixture(scope="module")
def tracked(checkout: Path) -> list[Path]:
    """Every file that git knows or would add, without generated code."""
    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard", "-z"], cwd=checkout, capture_output=True, check=False
    )
    if listed.returncode:
        pytest.skip("not a git checkout, so what belongs to it cannot be told")
    names = [name for name in listed.stdout.decode().split("\0") if "_pb2" not in name]
    return [checkout / name for name in names if (checkout / name).is_file()]


def test_the_namespace_package_has_no_init(checkout: Path) -> None:
    assert [root for root in ROOTS if (checkout / root / "compendia" / "__init__.py").exists()] == []


def test_every_sub_package_says_what_it_is(checkout: Path) -> None:
    packages = [p for root in ROOTS for p in (checkout / root / "compendia").iterdir() if p.is_dir()]
    packages = [p for p in packages if p.name != "__pycache__"]
    assert len(packages) >= 8
    for package in packages:
        assert (package / "__init__.py").read_text(encoding="utf-8").startswith('"""'), package


def test_python_files_have_one_subject(tracked: list[Path], checkout: Path) -> None:
    ours = [p for p in tracked if p.suffix == ".py" and "tests" not in p.parts]
    long = {
        str(p.relative_to(checkout)): lines
        for p in ours
        if (lines := len(p.read_text(encoding="utf-8").splitlines())) > MAX_LINES
    }
    assert not long, f"over {MAX_LINES} lines: split them by subject"


def test_test_files_have_names_of_their_own(checkout: Path) -> None:
    names = [p.name for p in (checkout / "tests").rglob("test_*.py")]
    assert sorted(names) == sorted(set(names))
    assert not list((checkout / "tests").rglob("__init__.py"))


def test_nothing_is_left_to_do(tracked: list[Path], checkout: Path) -> None:
    forbidden = re.compile(r"\b(?:TODO|FIXME|XXX)\b|raise NotImplementedError")
    this = Path(__file__).resolve()
    found = [
        f"{path.relative_to(checkout)}:{number}: {line.strip()[:100]}"
        for path in tracked
        if path.suffix in {".py", ".md", ".toml", ".yaml", ".proto", ".sh", ""} and path.resolve() != this
        for number, line in enumerate(path.read_text(encoding="utf-8", errors="replace").splitlines(), 1)
        if forbidden.search(line)
    ]
    assert found == []


def test_the_contract_needs_no_heavy_library() -> None:
    heavy = {"grpc", "torch", "faiss", "ray", "numpy", "sqlalchemy", "typer", "rich"}
    script = "import sys, compendia.contract; print(*{name.partition('.')[0] for name in sys.modules})"
    loaded = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert not heavy & set(loaded.stdout.split())
