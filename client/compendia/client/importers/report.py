"""Import every source of the public datasets and count: each operation must become exactly one endpoint.

`expected` counts the things that a file describes in the plainest way, by other code than the importers'.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from compendia.contract import CompendiaError, ErrorCode, error

from . import SourceKind, import_source

_METHODS = {"get", "put", "post", "delete", "options", "head", "patch", "trace"}
_SOURCES: tuple[tuple[SourceKind, str], ...] = (
    ("openapi", "openapi/lite/**/*.json"),
    ("openapi", "openapi/directory/**/*.yaml"),
    ("openapi", "restbench/specs/*.json"),
    ("mcp", "mcp/livemcpbench/tools.json"),
    ("mcp", "mcp/docker_mcp_registry/servers/*/tools.json"),
    ("toolbench", "stabletoolbench/*.json"),
    ("toolbench", "toolbench_g3/apis.jsonl"),
    ("functions", "bfcl/BFCL_v4_*.json"),
    ("functions", "taubench/*_tools.json"),
    ("functions", "sealtools/Seal-Tools_Dataset/tool.jsonl"),
)


@dataclass(frozen=True)
class ImportRow:
    """One file: what it describes (`expected`), what came of it, how long that took; `failure` if nothing."""

    file: str
    kind: SourceKind
    expected: int
    tools: int
    endpoints: int
    parameters: int
    response_fields: int
    definitions: int
    notices: tuple[str, ...]
    seconds: float
    failure: str = ""

    @property
    def whole(self) -> bool:
        """Did the file import with every operation in it?"""
        return not self.failure and self.endpoints == self.expected


@dataclass(frozen=True)
class ImportReport:
    """All files, in the order of their names within each dataset."""

    rows: tuple[ImportRow, ...]

    def of(self, prefix: str) -> ImportReport:
        """The rows whose file starts with a prefix, such as `openapi/`."""
        return ImportReport(tuple(row for row in self.rows if row.file.startswith(prefix)))

    def figures(self) -> dict[str, float]:
        """Flat figures: files, files that failed or lost something, endpoints expected and made, seconds."""
        return {
            "files": len(self.rows),
            "failed": sum(bool(row.failure) for row in self.rows),
            "incomplete": sum(not row.whole for row in self.rows),
            "expected": sum(row.expected for row in self.rows),
            "endpoints": sum(row.endpoints for row in self.rows),
            "seconds": sum(row.seconds for row in self.rows),
        }


def import_report(data_dir: Path, *, clock: Callable[[], float]) -> ImportReport:
    """Import every source below `data_dir` (`time.perf_counter` is a good clock).

    Raises DATA_MISSING if there is none at all; files that do not import are rows with a `failure`.
    """
    return ImportReport(
        tuple(import_row(kind, path, data_dir, clock=clock) for kind, path in find_sources(data_dir))
    )


def find_sources(data_dir: Path) -> list[tuple[SourceKind, Path]]:
    """Every file that an importer reads, with its kind. Raises DATA_MISSING if there is none at all."""
    found = [(kind, path) for kind, pattern in _SOURCES for path in sorted(data_dir.glob(pattern))]
    if not found:
        raise error(ErrorCode.DATA_MISSING, f"no dataset with tool sources lies in {data_dir}", str(data_dir))
    return found


def import_row(kind: SourceKind, path: Path, data_dir: Path, *, clock: Callable[[], float]) -> ImportRow:
    """Import one file below `data_dir` and count what came of it."""
    file = path.relative_to(data_dir).as_posix()
    data = path.read_bytes()
    name = path.parent.name if path.stem == "tools" else path.stem
    expected = _COUNTERS[kind](data)
    start = clock()
    try:
        imported = import_source(kind, data, org="report", source_name=name)
    except CompendiaError as fault:
        return ImportRow(file, kind, expected, 0, 0, 0, 0, 0, (), clock() - start, str(fault))
    seconds = clock() - start
    compendium = imported.compendium
    endpoints = [endpoint for tool in compendium.tools for endpoint in tool.endpoints]
    return ImportRow(
        file=file,
        kind=kind,
        expected=expected,
        tools=len(compendium.tools),
        endpoints=len(endpoints),
        parameters=sum(len(endpoint.parameters) for endpoint in endpoints),
        response_fields=sum(len(endpoint.response_fields) for endpoint in endpoints),
        definitions=len(compendium.definitions),
        notices=imported.notices,
        seconds=seconds,
    )


def _operations(data: bytes) -> int:
    # BaseLoader types nothing, which is all that counting needs; JSON is read as JSON, which is faster.
    tree = json.loads(data) if data.lstrip()[:1] == b"{" else yaml.load(data, _plain_loader())
    return sum(method in _METHODS for item in tree["paths"].values() for method in item)


def _plain_loader() -> Any:
    return getattr(yaml, "CBaseLoader", yaml.BaseLoader)


def _listed_tools(data: bytes) -> int:
    tree = json.loads(data)
    servers = [s for entry in tree for s in entry["tools"].values()] if tree and "tools" in tree[0] else None
    return len(tree) if servers is None else sum(len(server["tools"]) for server in servers)


def _distinct_functions(data: bytes) -> int:
    entries = json.loads(data) if data.lstrip()[:1] == b"[" else [json.loads(x) for x in data.splitlines()]
    functions = [f for e in entries for f in (e["function"] if isinstance(e.get("function"), list) else [e])]
    return len({json.dumps(function, sort_keys=True) for function in functions})


def _distinct_apis(data: bytes) -> int:
    return len(set(_api_keys(data)))


def _api_keys(data: bytes) -> Iterator[tuple[str, str, str]]:
    if data.lstrip()[:1] == b"[":
        for query in json.loads(data):
            for api in query["api_list"]:
                yield api["category_name"], api["tool_name"], api["api_name"]
    else:
        for api in map(json.loads, data.splitlines()):
            yield api["category"], api["tool_name"], api["api_name"]


_COUNTERS: dict[SourceKind, Callable[[bytes], int]] = {
    "openapi": _operations,
    "mcp": _listed_tools,
    "functions": _distinct_functions,
    "toolbench": _distinct_apis,
}
