"""multilingual: fifty requests in five languages, and how far other languages stay behind English."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from compendia.benchmarks.cli import register
from compendia.benchmarks.multilingual import LANGUAGES, queries, requests
from compendia.client.importers import import_source

SCRIPTS = {"zh": ("\u4e00", "\u9fff"), "ru": ("\u0400", "\u04ff"), "ko": ("\uac00", "\ud7af")}


def test_every_request_is_there_in_every_language() -> None:
    asked = requests()
    assert len(asked) == 50
    assert len({query.text for query in queries()}) == 50 * len(LANGUAGES)
    for request in asked:
        assert request.tools
        for language, (first, last) in SCRIPTS.items():
            assert any(first <= letter <= last for letter in request.texts[language])


@pytest.mark.data
def test_every_right_tool_is_in_the_catalog(data_dir: Path) -> None:
    source = (data_dir / "mcp" / "livemcpbench" / "tools.json").read_bytes()
    known = {
        tool.id for tool in import_source("mcp", source, org="o", source_name="livemcpbench").compendium.tools
    }
    assert {tool for request in requests() for tool in request.tools} <= known


@pytest.mark.data
@pytest.mark.model
def test_other_languages_stay_within_fifteen_points_of_english(data_dir: Path, tmp_path: Path) -> None:
    app = typer.Typer()
    register(app)
    words = ["--data", str(data_dir), "--home", str(tmp_path)]
    done = CliRunner().invoke(app, ["bench", "run", "multilingual", "--json", *words])
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["figures"]["gap"] <= 0.15
