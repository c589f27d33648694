"""Every source of the public datasets imports, with every operation in it."""

from __future__ import annotations

import re
import time
from pathlib import Path

import pytest

from compendia.client.importers import import_source
from compendia.client.importers.report import ImportReport, import_report
from compendia.contract import CompendiaError, ErrorCode

pytestmark = pytest.mark.data


@pytest.fixture(scope="module")
def report(data_dir: Path) -> ImportReport:
    return import_report(data_dir, clock=time.perf_counter)


def test_every_file_imports_whole(report: ImportReport) -> None:
    assert [
        (row.file, row.failure, row.expected, row.endpoints) for row in report.rows if not row.whole
    ] == []


def test_openapi_counts_are_those_of_the_index(report: ImportReport, data_dir: Path) -> None:
    index = (data_dir / "openapi" / "INDEX.md").read_text(encoding="utf-8")
    rows = re.findall(
        r"^\| ((?:lite|directory)/\S+) \|.*?\| (?:2|3)\.\d(?:\.\d)? \| (\d+) \|", index, re.MULTILINE
    )
    listed = {f"openapi/{file}": int(count) for file, count in rows}
    assert len(listed) == 46
    assert sum(listed.values()) == 3713
    assert {row.file: row.tools for row in report.of("openapi/").rows} == listed


@pytest.mark.parametrize(
    ("prefix", "files", "tools", "endpoints"),
    [
        ("restbench/specs/tmdb", 1, 54, 54),
        ("restbench/specs/spotify", 1, 40, 40),
        ("mcp/livemcpbench/", 1, 527, 527),
        ("mcp/docker_mcp_registry/", 82, 755, 755),
        ("toolbench_g3/", 1, 241, 1415),
        ("taubench/", 2, 30, 30),
        ("sealtools/", 1, 4076, 4076),
        ("bfcl/", 2, 1990, 1990),
    ],
)
def test_counts(report: ImportReport, prefix: str, files: int, tools: int, endpoints: int) -> None:
    rows = report.of(prefix).rows
    assert len(rows) == files
    assert sum(row.tools for row in rows) == tools
    assert sum(row.endpoints for row in rows) == endpoints


def test_stabletoolbench_meets_across_its_files(report: ImportReport, data_dir: Path) -> None:
    files = [data_dir / row.file for row in report.of("stabletoolbench/").rows]
    assert len(files) == 6
    found: set[tuple[str, str]] = set()
    titles: set[tuple[str, str]] = set()
    for file in files:
        made = import_source("toolbench", file.read_bytes(), org="acme", source_name=file.stem).compendium
        found |= {(tool.id, endpoint.title) for tool in made.tools for endpoint in tool.endpoints}
        titles |= {(tool.category, tool.title) for tool in made.tools}
    assert len(titles) == 814
    assert len({tool for tool, _ in found}) == 814
    assert len(found) == 2490


def test_the_same_api_in_two_formats_meets(data_dir: Path) -> None:
    def ids(file: str) -> set[str]:
        data = (data_dir / "openapi" / file).read_bytes()
        return {t.id for t in import_source("openapi", data, org="acme", source_name="x").compendium.tools}

    assert ids("lite/xkcd.com/1.0.0.json") == ids("directory/xkcd.com/1.0.0/openapi.yaml")
    assert ids("lite/epa.gov/eff/1.0.0.json") == ids("directory/epa.gov/eff/1.0.0/swagger.yaml")


def test_an_empty_folder_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(CompendiaError) as caught:
        import_report(tmp_path, clock=time.perf_counter)
    assert caught.value.code is ErrorCode.DATA_MISSING
