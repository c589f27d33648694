"""`imports`: every description file of the datasets through the importers; what came out, and what did not.

A file imports, or fails with one clear message: a `CompendiaError` that says what is wrong and what to do.
Anything else that is raised counts as an unclear failure, of which there may be none.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from compendia.contract import CompendiaError
from compendia.contract.document import read_bytes

from .benchmark import Benchmark, Figures, Part, Session

if TYPE_CHECKING:
    from compendia.client.importers import SourceKind

ORG = "benchmark"


@dataclass(frozen=True)
class SourceFile:
    """One file to import: the dataset it is of, the importer for it, and where it is."""

    dataset: str
    kind: SourceKind
    path: Path


def source_files(session: Session) -> list[SourceFile]:
    """Every description file of the four datasets, in the order of their paths. Raises DATA_MISSING."""
    found = []
    for name, kind, path in _patterns():
        folder = session.dataset(name)
        files = sorted(p for p in folder.glob(path) if p.is_file())
        found += [SourceFile(name, kind, file) for file in files]
    return found


def _patterns() -> Iterator[tuple[str, SourceKind, str]]:
    yield "openapi", "openapi", "lite/**/*.json"
    yield "openapi", "openapi", "directory/**/*.y*ml"
    yield "mcp", "mcp", "livemcpbench/tools.json"
    yield "mcp", "mcp", "docker_mcp_registry/servers/*/tools.json"
    yield "restbench", "openapi", "specs/*.json"
    yield "stabletoolbench", "toolbench", "*.json"


def source_name(source: SourceFile) -> str:
    """What a file without a name of its own is called: its stem, or its folder's name for a `tools.json`."""
    return source.path.parent.name if source.path.stem == "tools" else source.path.stem


def measure(session: Session) -> Figures:
    """Files, failures, tools, operations (endpoints) and notices, over all and per dataset."""
    from compendia.client.importers import import_source

    files = source_files(session)[: session.options.limit]
    totals = dict.fromkeys(("files", "failures", "unclear_failures", "tools", "operations", "notices"), 0)
    per_dataset: dict[str, int] = {}
    failed = []
    with session.log("files") as log:
        for source in session.track(files, "imports"):
            name = f"{source.dataset}/{source.path.parent.name}/{source.path.name}"
            session.record_input(name, source.path)
            counted = {"files": 1}
            try:
                imported = import_source(
                    source.kind, read_bytes(source.path), org=ORG, source_name=source_name(source)
                )
                tools = imported.compendium.tools
                counted |= {
                    "tools": len(tools),
                    "operations": sum(len(tool.endpoints) for tool in tools),
                    "notices": len(imported.notices),
                }
                log.write(file=name, **counted)
            except CompendiaError as fault:
                counted["failures"] = 1
                failed.append(f"{name}: {fault.problems[0]}")
                log.write(file=name, failure=str(fault))
            except Exception as fault:  # noqa: BLE001 - counting what is no clear message is the purpose
                counted |= {"failures": 1, "unclear_failures": 1}
                failed.append(f"{name}: {fault!r}")
                log.write(file=name, unclear=repr(fault))
            for key, value in counted.items():
                totals[key] += value
                per_dataset[f"{key}/{source.dataset}"] = per_dataset.get(f"{key}/{source.dataset}", 0) + value
    session.notes["failed"] = failed
    return totals | per_dataset


IMPORTS = Benchmark(
    "imports",
    "every OpenAPI, MCP and ToolBench file of the datasets through the importers",
    (
        Part(
            ("files*", "failures*", "unclear_failures*", "tools*", "operations*", "notices*"),
            measure,
        ),
    ),
)
