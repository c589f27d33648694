"""A compendium of a given size as JSON: real texts where the datasets are, else generated ones.

Real texts matter here, for generated ones compress better than people's.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from compendia.contract import SECTIONS, CompendiaError, Compendium, ErrorCode, Record, Scenario, ToolMetadata
from compendia.contract.document import dumps, record_json, sorted_compendium
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
    """A valid compendium whose canonical JSON is at least `megabytes` (1e6 bytes) long, and hardly more.

    Whole sources of the datasets as far as they fit, the recorded requests of ToolBench G3 as scenarios, and
    generated tools with scenarios for the rest; the manifest says how many are which.
    """
    target = megabytes * MEGABYTE
    sections: dict[str, dict[tuple[object, ...], Record]] = {}
    size = 0
    for part in _sources(session, org):
        fresh = list(_fresh(part, sections))
        cost = sum(len(canonical(record_json(record))) + 2 for _, record in fresh)
        if size + cost <= target:
            size += cost
            for section, record in fresh:
                sections.setdefault(section, {})[record_key(record)] = record
    real = {section: len(found) for section, found in sections.items()}
    start = 0
    while size < target:
        part = contribution(session.options.seed, org, range(start, start + STEP_TOOLS), STEP_SCENARIOS)
        start += STEP_TOOLS
        for section, record in _fresh(part, sections):
            size += len(canonical(record_json(record))) + 2
            sections.setdefault(section, {})[record_key(record)] = record
    made = sorted_compendium(
        Compendium(org=org, window=WINDOW).model_copy(
            update={section: tuple(found.values()) for section, found in sections.items()}
        )
    )
    session.notes["publish_document"] = {
        "from_datasets": real,
        "in_all": {section: len(found) for section, found in sections.items()},
        "json_bytes": len(dumps(made).encode()),
    }
    return made


def documented_tools(session: Session, count: int) -> list[ToolMetadata]:
    """`count` different tools of the datasets, or as many as there are; none where there are no datasets."""
    tools: dict[str, ToolMetadata] = {}
    for part in _sources(session, "benchmark"):
        tools |= {tool.id: tool for tool in part.tools if tool.id not in tools}
        if len(tools) >= count:
            break
    return list(tools.values())[:count]


def _fresh(
    part: Compendium, sections: dict[str, dict[tuple[object, ...], Record]]
) -> Iterator[tuple[str, Record]]:
    """The records of a part that are not there yet."""
    for section in SECTIONS:
        for record in getattr(part, section):
            if record_key(record) not in sections.get(section, {}):
                yield section, record


def _sources(session: Session, org: str) -> Iterator[Compendium]:
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
