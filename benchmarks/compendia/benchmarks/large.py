"""A compendium of a given size as JSON: real texts where the datasets are, else generated ones.

Real texts matter here, for generated ones compress better than people's.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import chain, count
from pathlib import Path

from compendia.contract import SECTIONS, CompendiaError, Compendium, ErrorCode, Record, Scenario, ToolMetadata
from compendia.contract.document import dumps, record_json, records, sorted_compendium
from compendia.contract.signature import record_key
from compendia.contract.strict_json import canonical

from .benchmark import Session
from .catalog import WINDOW, contribution
from .datasets import alias, data_directory

MEGABYTE = 1_000_000
KINDS = ("toolbench", "mcp", "functions", "openapi")
"""Sources in the order they are taken: the least repetitive documentation first, so nothing is made easy."""

STEP_TOOLS = 100
STEP_SCENARIOS = 600


def large_compendium(session: Session, org: str, megabytes: float) -> Compendium:
    """A valid compendium whose canonical JSON is `megabytes` (1e6 bytes) long, to the next record.

    Sources of the datasets as far as they go, with the recorded requests of ToolBench G3 as scenarios, then
    generated tools with scenarios; the manifest says how many are which.
    """
    sections: dict[str, dict[tuple[object, ...], Record]] = {section: {} for section in SECTIONS}
    header = Compendium(org=org, window=WINDOW)
    size = len(dumps(header))
    from_datasets = 0
    for part, real in chain(
        ((part, True) for part in sources(session, org)),
        ((part, False) for part in _generated(session, org)),
    ):
        for section, record in _fresh(part, sections):
            if size >= megabytes * MEGABYTE:
                break
            sections[section][record_key(record)] = record
            size += len(canonical(record_json(record)).encode()) + 2
            from_datasets += real
        if size >= megabytes * MEGABYTE:
            break
    made = sorted_compendium(
        header.model_copy(update={section: tuple(found.values()) for section, found in sections.items()})
    )
    session.notes["publish_document"] = {
        "records": {section: len(found) for section, found in sections.items()},
        "records_from_datasets": from_datasets,
        "json_bytes": len(dumps(made).encode()),
    }
    return made


def _generated(session: Session, org: str) -> Iterator[Compendium]:
    for start in count(0, STEP_TOOLS):
        yield contribution(session.options.seed, org, range(start, start + STEP_TOOLS), STEP_SCENARIOS)


def documented_tools(session: Session, wanted: int) -> list[ToolMetadata]:
    """`wanted` different tools of the datasets, or as many as there are; none where there are no datasets."""
    tools: dict[str, ToolMetadata] = {}
    for part in sources(session, "benchmark"):
        tools |= {tool.id: tool for tool in part.tools if tool.id not in tools}
        if len(tools) >= wanted:
            break
    return list(tools.values())[:wanted]


def _fresh(
    part: Compendium, sections: dict[str, dict[tuple[object, ...], Record]]
) -> Iterator[tuple[str, Record]]:
    """The records of a part that are not there yet, without those about a tool that is not there."""
    for section, record in records(part):
        about = getattr(record, "tool", None)
        known = about is None or (about,) in sections["tools"]
        if known and record_key(record) not in sections[section]:
            yield section, record


def sources(session: Session, org: str) -> Iterator[Compendium]:
    """The datasets' documentation, with the requests of ToolBench G3; nothing where there are no datasets."""
    try:
        directory = data_directory(session.options.data)
    except CompendiaError as fault:
        if fault.code is not ErrorCode.DATA_MISSING:
            raise
        return  # everything is generated, and the manifest says so
    yield from _documentation(session, directory, org)


def _documentation(session: Session, directory: Path, org: str) -> Iterator[Compendium]:
    from compendia.client.importers import import_source
    from compendia.client.importers.report import find_sources

    sources = sorted(find_sources(directory), key=lambda source: KINDS.index(source[0]))
    for kind, path in sources:
        name = path.parent.name if path.stem == "tools" else path.stem
        session.record_input(path.relative_to(directory).as_posix(), path)
        imported = import_source(kind, path.read_bytes(), org=org, source_name=name).compendium
        if path.parent.name == "toolbench_g3":
            imported = imported.model_copy(
                update={"scenarios": tuple(_recorded(imported, path.with_name("experience.jsonl")))}
            )
        yield imported


def _recorded(imported: Compendium, path: Path) -> Iterator[Scenario]:
    """The requests of ToolBench G3 as scenarios of the first tool that each called."""
    from compendia.text.mask import mask

    tools = {alias(tool.title): tool.id for tool in imported.tools}
    seen: set[tuple[str, str]] = set()
    for line in path.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        tool = tools.get(alias(row["relevant_apis"][0]["tool_name"]))
        text = mask(row["query"])
        if tool is not None and (tool, text) not in seen:
            seen.add((tool, text))
            yield Scenario(tool=tool, text=text)
