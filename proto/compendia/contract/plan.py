"""The plan: what a router answers. Every byte of it comes from the snapshot, and every part names where.

`check_plan` proves that: it looks each tool, endpoint, parameter, response field, licence and precaution up
in the snapshot that the plan names, and each value that is not the user's.
"""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from typing import Annotated, Literal

from pydantic import Field, JsonValue

from .compendium import Endpoint, Licences, Parameter, Provenances, Record, ToolMetadata
from .errors import ErrorCode, Problem
from .snapshot import Snapshot

Strings = Annotated[tuple[str, ...], Field(strict=False)]


class Candidate(Record):
    """A tool that was considered. `features` are the numbers that made `score`; higher is better.

    rerank_score is null where no reranker looked at it.
    """

    tool: str
    score: float
    features: dict[str, float]
    rerank_score: float | None = None


class Ranking(Record):
    """Distinct tools, best first. `best_evidence` is what abstention judges, against `threshold`.

    weights: the ranker's, by name. The product of each with the feature of the same name adds up to a
    candidate's score; names with a `/` are weights within a feature.
    """

    candidates: Annotated[tuple[Candidate, ...], Field(strict=False)]
    best_evidence: float = 0.0
    threshold: float = 0.0
    weights: dict[str, float] = Field(default_factory=dict)


class PlannedArgument(Record):
    """An argument of the call. source says where the value is from; `missing` ones the caller must give."""

    name: str
    location: str
    type: str
    required: bool
    source: Literal["query", "template", "default", "missing"]
    value: JsonValue = None
    unit: str = ""


class PlannedField(Record):
    """A response field to keep. `why` is the rule that chose it."""

    path: str
    type: str
    why: Literal["identifier", "concept", "group", "all"]
    unit: str = ""
    semantic_id: str = ""
    source_type: str = "unknown"
    licences: Licences = ()


class PlannedStep(Record):
    """One call: tool, endpoint, arguments, the exact fields to keep, and what to beware of."""

    tool: str
    endpoint: str
    title: str
    method: str = ""
    path: str = ""
    part: str  # the part of the query that this step answers
    arguments: Annotated[tuple[PlannedArgument, ...], Field(strict=False)] = ()
    fields: Annotated[tuple[PlannedField, ...], Field(strict=False)] = ()
    precautions: Strings = ()
    licences: Licences = ()
    provenance: Provenances = ()
    reasons: Strings = ()

    @property
    def executable(self) -> bool:
        """True when no required argument is missing."""
        return not any(a.required and a.source == "missing" for a in self.arguments)


class ToolPlan(Record):
    """The answer to a query. When `abstained`, there are no steps and `why` says why nothing fits."""

    revision: str
    query: str
    steps: Annotated[tuple[PlannedStep, ...], Field(strict=False)]
    abstained: bool
    why: str
    rankings: Annotated[tuple[Ranking, ...], Field(strict=False)] = ()


def check_plan(plan: ToolPlan, snapshot: Snapshot) -> tuple[Problem, ...]:
    """Problems of a plan against its snapshot; empty when everything it names is there."""
    if plan.revision != snapshot.revision:
        return (
            Problem(ErrorCode.INVALID_PLAN, f"made from {plan.revision}, checked with {snapshot.revision}"),
        )
    named = {step.tool for step in plan.steps}
    tools = {tool.id: tool for tool in snapshot.compendium.tools if tool.id in named}
    shown = _Shown(snapshot, named)
    found: list[Problem] = []
    for index, step in enumerate(plan.steps):
        path = f"steps[{index}]"
        tool = tools.get(step.tool)
        endpoint = next((e for e in tool.endpoints if e.name == step.endpoint), None) if tool else None
        if tool is None or endpoint is None:
            found.append(
                Problem(ErrorCode.INVALID_PLAN, f"no {step.tool} {step.endpoint} in the snapshot", path)
            )
            continue
        found.extend(_check_step(step, tool, endpoint, path))
        found.extend(_check_origins(step, endpoint, shown, path))
    if plan.abstained == bool(plan.steps):
        found.append(Problem(ErrorCode.INVALID_PLAN, "a plan either abstains or has steps", "abstained"))
    return tuple(found)


def _check_step(step: PlannedStep, tool: ToolMetadata, endpoint: Endpoint, path: str) -> list[Problem]:
    found: list[Problem] = []

    def expect(holds: bool, message: str, where: str) -> None:
        if not holds:
            found.append(Problem(ErrorCode.INVALID_PLAN, message, f"{path}.{where}"))

    parameters: dict[tuple[str, str], Parameter] = {(p.name, p.location): p for p in endpoint.parameters}
    fields = {f.path: f for f in endpoint.response_fields}
    expect(step.title == endpoint.title, "title differs from the snapshot", "title")
    expect((step.method, step.path) == (endpoint.method, endpoint.path), "method or path differs", "path")
    expect(step.licences == tool.licences, "licences differ from the snapshot", "licences")
    expect(step.provenance == tool.provenance, "provenance differs from the snapshot", "provenance")
    for argument in step.arguments:
        parameter = parameters.get((argument.name, argument.location))
        where = f"arguments[{argument.name}]"
        expect(parameter is not None, "no such parameter", where)
        if parameter is not None:
            expect(
                (argument.type, argument.required, argument.unit)
                == (parameter.type, parameter.required, parameter.unit),
                "type, required or unit differs",
                where,
            )
            allowed = argument.source == "missing" or not parameter.enum or argument.value in parameter.enum
            expect(allowed, f"{argument.value!r} is not in the enum", where)
    named = {(a.name, a.location) for a in step.arguments}
    for key, parameter in parameters.items():
        expect(
            not parameter.required or key in named, "a required parameter is left out", f"arguments[{key[0]}]"
        )
    for field in step.fields:
        known = fields.get(field.path)
        where = f"fields[{field.path}]"
        expect(known is not None, "no such response field", where)
        if known is not None:
            expect(
                (field.type, field.unit, field.semantic_id, field.source_type, field.licences)
                == (known.type, known.unit, known.semantic_id, known.source_type, known.licences),
                "type, unit, semantic id, source type or licence differs",
                where,
            )
    return found


class _Shown:
    """What a snapshot says about the tools of a plan, besides their documentation."""

    def __init__(self, snapshot: Snapshot, tools: AbstractSet[str]) -> None:
        self.templates = [t for t in snapshot.compendium.templates if t.tool in tools]
        self.warned = [(p.tool, p.text) for p in snapshot.compendium.precautions if p.tool in tools]
        self.disputed = {(c.tool, c.do_not_use_when()) for c in snapshot.conflicts if c.tool in tools}


def _check_origins(step: PlannedStep, endpoint: Endpoint, shown: _Shown, path: str) -> Iterator[Problem]:
    """Values and warnings are from where the plan says, and nothing is named twice."""
    defaults = {(p.name, p.location): p.default for p in endpoint.parameters}
    of_endpoint = [t for t in shown.templates if (t.tool, t.endpoint) == (step.tool, step.endpoint)]
    for argument in step.arguments:
        key, value = (argument.name, argument.location), argument.value
        holds = {
            "query": True,
            "missing": value is None,
            "default": key in defaults and value == defaults[key],
            "template": any(t.arguments.get(argument.name) == value for t in of_endpoint),
        }[argument.source]
        if not holds:
            where = f"{path}.arguments[{argument.name}]"
            yield Problem(
                ErrorCode.INVALID_PLAN, f"{value!r} is not from where it says: {argument.source}", where
            )
    for index, line in enumerate(step.precautions):
        known = (step.tool, line) in shown.disputed
        if not known and not any(tool == step.tool and text in line for tool, text in shown.warned):
            yield Problem(
                ErrorCode.INVALID_PLAN, "no precaution or conflict says so", f"{path}.precautions[{index}]"
            )
    for what, names in (
        ("arguments", [(a.name, a.location) for a in step.arguments]),
        ("fields", [f.path for f in step.fields]),
    ):
        if len(set(names)) < len(names):
            yield Problem(ErrorCode.INVALID_PLAN, "one of them stands twice", f"{path}.{what}")
