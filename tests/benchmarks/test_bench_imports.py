"""imports: a limited run over the real files."""

from __future__ import annotations

from pathlib import Path

import pytest

from compendia.benchmarks.benchmark import Options, Session
from compendia.benchmarks.imports import measure
from compendia.contract import CompendiaError


@pytest.mark.data
def test_files_are_counted_in_all_and_per_dataset(data_dir: Path, tmp_path: Path) -> None:
    session = Session(Options(data=data_dir, limit=6), tmp_path)
    figures = measure(session)
    assert figures["files"] == figures["files/openapi"] == 6
    assert figures["operations"] == figures["operations_expected"] > 0
    assert len(session.inputs) == 6
    assert len((tmp_path / "files.jsonl").read_text().splitlines()) == 6


def test_a_dataset_that_is_not_there_is_named(tmp_path: Path) -> None:
    (tmp_path / "openapi").mkdir()
    with pytest.raises(CompendiaError, match="LiveMCPBench"):
        measure(Session(Options(data=tmp_path), tmp_path / "home"))
