"""What `cost` is measured on: five organizations with 3,180 tools, 28,000 scenarios and precautions.

Tools are the datasets' own as far as there are any, requests those of ToolBench G3; the rest is generated
(`catalog`). Where there are no datasets all of it is generated, and the manifest says so.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

from compendia.contract import Compendium, Scenario, SchemaDefinition, ToolMetadata, Window
from compendia.contract.document import sorted_compendium
from compendia.contract.references import json_refs

from .benchmark import Session
from .large import sources
from .speed_merge import SCENARIOS, contributions

NEXT_WINDOW = Window(start="2026-02-01T00:00:00Z", end="2026-03-01T00:00:00Z")


def compendia(session: Session) -> list[Compendium]:
    """The organizations' compendia, made once a run; --limit is the number of scenarios and precautions."""
    return session.once("cost_world", lambda: _compendia(session))


def _compendia(session: Session) -> list[Compendium]:
    size = session.options.limit or SCENARIOS
    made = [leaf.compendium for leaf in contributions(session.options.seed, size)]
    ids = sorted({tool.id for compendium in made for tool in compendium.tools})
    real, requests, definitions = _documented(session, len(ids))
    new = dict(zip(ids, real, strict=False))
    found = [_defined(_moved(compendium, new, requests), definitions) for compendium in made]
    session.notes["world"] = {
        "organizations": len(found),
        "tools": len(ids),
        "tools_from_datasets": len(new),
        "scenarios_and_precautions": sum(len(c.scenarios) + len(c.precautions) for c in found),
        "requests_from_datasets": sum(
            scenario.text in set(requests.get(scenario.tool, ())) for c in found for scenario in c.scenarios
        ),
    }
    return found


def _documented(
    session: Session, wanted: int
) -> tuple[list[ToolMetadata], dict[str, list[str]], dict[str, SchemaDefinition]]:
    """Different tools of the datasets, those with requests first; requests by tool id; schemas by name."""
    tools: dict[str, ToolMetadata] = {}
    definitions: dict[str, SchemaDefinition] = {}
    requests: dict[str, list[str]] = defaultdict(list)
    for part in sources(session, "benchmark"):
        for tool in part.tools:
            tools.setdefault(tool.id, tool)
        definitions |= {record.id: record for record in part.definitions}
        for scenario in part.scenarios:
            requests[scenario.tool].append(scenario.text)
        if requests and len(tools) >= wanted:
            break
    ordered = sorted(tools.values(), key=lambda tool: tool.id not in requests)
    return ordered[:wanted], requests, definitions


def _moved(
    compendium: Compendium, new: dict[str, ToolMetadata], requests: dict[str, list[str]]
) -> Compendium:
    """The same with the tools of the datasets in the place of generated ones, and their requests."""
    left: dict[str, Iterator[str]] = {}
    scenarios = {}
    for scenario in compendium.scenarios:
        moved = scenario
        if scenario.tool in new:
            tool = new[scenario.tool].id
            asked = left.setdefault(tool, iter(requests.get(tool, ())))
            moved = Scenario(tool=tool, text=next(asked, scenario.text), count=scenario.count)
        scenarios[moved.tool, moved.text] = moved
    precautions = [
        caution.model_copy(update={"tool": new[caution.tool].id}) if caution.tool in new else caution
        for caution in compendium.precautions
    ]
    return sorted_compendium(
        compendium.model_copy(
            update={
                "tools": tuple(new.get(tool.id, tool) for tool in compendium.tools),
                "usage": tuple(
                    use.model_copy(update={"tool": new[use.tool].id}) if use.tool in new else use
                    for use in compendium.usage
                ),
                "templates": tuple(t for t in compendium.templates if t.tool not in new),
                "scenarios": tuple(scenarios.values()),
                "precautions": tuple(precautions),
            }
        )
    )


def _defined(compendium: Compendium, known: dict[str, SchemaDefinition]) -> Compendium:
    """The same with the schemas that its tools lead to."""
    used: dict[str, SchemaDefinition] = {}
    pending = {target for tool in compendium.tools for _, target in json_refs(tool, "")}
    while pending:
        name = pending.pop()
        if name not in used:
            used[name] = known[name]
            pending |= {target for _, target in json_refs(known[name], "")}
    return compendium.model_copy(update={"definitions": tuple(used[name] for name in sorted(used))})


def changed(compendia: Sequence[Compendium], every: int = 100) -> list[Compendium]:
    """What the organizations say a month later: one scenario and one tool's description in `every` is new.

    Nothing was called meanwhile: counts of the new window are 0, so that only these records change the merge.
    """
    quiet = {"count": 0}
    return [
        compendium.model_copy(
            update={
                "window": NEXT_WINDOW,
                "usage": (),
                "scenarios": tuple(
                    record.model_copy(
                        update={"text": f"{record.text} as soon as possible"} if n % every == 0 else quiet
                    )
                    for n, record in enumerate(compendium.scenarios)
                ),
                "precautions": tuple(record.model_copy(update=quiet) for record in compendium.precautions),
                "templates": tuple(record.model_copy(update=quiet) for record in compendium.templates),
                "tools": tuple(
                    record.model_copy(update={"description": f"{record.description} Now faster."})
                    if n % every == 0
                    else record
                    for n, record in enumerate(compendium.tools)
                ),
            }
        )
        for compendium in compendia
    ]
