"""`check_plan`: a plan whose every byte is in the snapshot passes, and each single departure is found."""

from __future__ import annotations

from typing import Any

import pytest

from compendia.contract import (
    CallTemplate,
    Claim,
    Compendium,
    Endpoint,
    ErrorCode,
    LicenceConflict,
    Parameter,
    PlannedArgument,
    PlannedField,
    PlannedStep,
    Precaution,
    Provenance,
    ResponseField,
    Snapshot,
    ToolMetadata,
    ToolPlan,
    check_plan,
    seal,
)

FROM = Provenance(source_type="measured", origin="Harbour gauges", version="3")
TOOL = ToolMetadata(
    id="sea.example/tides/levels",
    title="Tide levels",
    licences=("CC-BY-4.0",),
    provenance=(FROM,),
    endpoints=(
        Endpoint(
            name="level",
            title="Water level",
            method="GET",
            path="/level/{gauge}",
            parameters=(
                Parameter(name="gauge", location="path", type="string", required=True),
                Parameter(name="unit", location="query", type="string", enum=("m", "ft"), default="m"),
                Parameter(name="days", location="query", type="integer", unit="d"),
            ),
            response_fields=(
                ResponseField(
                    path="data[].level",
                    type="number",
                    unit="m",
                    semantic_id="tide:level",
                    source_type="measured",
                    licences=("CC-BY-4.0",),
                ),
            ),
        ),
    ),
)
DISPUTE = LicenceConflict(
    tool=TOOL.id,
    field="licences",
    winner=None,
    dissent=(Claim(value="MIT", supporters=("acme",)),),
    resolved_by="kept_all",
)
SNAPSHOT: Snapshot = seal(
    parent="",
    round=1,
    policy="conflict_log",
    encoder="hashing-0",
    members=(),
    compendium=Compendium(
        tools=(TOOL, ToolMetadata(id="sea.example/tides/bare")),
        precautions=(
            Precaution(tool=TOOL.id, text="waves at <TEXT>"),
            Precaution(tool="sea.example/tides/bare", text="storm surges"),
        ),
        templates=(
            CallTemplate(tool=TOOL.id, endpoint="level", arguments={"gauge": "<TEXT>", "unit": "ft"}),
        ),
    ),
    conflicts=(DISPUTE,),
)
GAUGE = PlannedArgument(
    name="gauge", location="path", type="string", required=True, source="query", value="Bergen"
)
UNIT = PlannedArgument(
    name="unit", location="query", type="string", required=False, source="default", value="m"
)
DAYS = PlannedArgument(
    name="days", location="query", type="integer", required=False, source="query", value=2, unit="d"
)
LEVEL = PlannedField(
    path="data[].level",
    type="number",
    why="concept",
    unit="m",
    semantic_id="tide:level",
    source_type="measured",
    licences=("CC-BY-4.0",),
)
STEP = PlannedStep(
    tool=TOOL.id,
    endpoint="level",
    title="Water level",
    method="GET",
    path="/level/{gauge}",
    part="water level at Bergen",
    arguments=(GAUGE, UNIT, DAYS),
    fields=(LEVEL,),
    licences=("CC-BY-4.0",),
    provenance=(FROM,),
)
PLAN = ToolPlan(
    revision=SNAPSHOT.revision, query="water level at Bergen", steps=(STEP,), abstained=False, why="level"
)


def _step(**changes: Any) -> ToolPlan:
    return PLAN.model_copy(update={"steps": (STEP.model_copy(update=changes),)})


def _argument(argument: PlannedArgument, **changes: Any) -> ToolPlan:
    changed = argument.model_copy(update=changes)
    return _step(arguments=tuple(changed if a is argument else a for a in STEP.arguments))


def _field(**changes: Any) -> ToolPlan:
    return _step(fields=(LEVEL.model_copy(update=changes),))


def test_a_plan_from_the_snapshot_passes() -> None:
    assert check_plan(PLAN, SNAPSHOT) == ()


def test_values_and_warnings_of_the_snapshot_pass() -> None:
    warned = _step(precautions=("Do not use for: waves at <TEXT>", DISPUTE.do_not_use_when()))
    assert check_plan(warned, SNAPSHOT) == ()
    assert check_plan(_argument(UNIT, source="template", value="ft"), SNAPSHOT) == ()


def test_an_abstention_passes() -> None:
    assert check_plan(PLAN.model_copy(update={"steps": (), "abstained": True}), SNAPSHOT) == ()


WRONG: dict[str, tuple[ToolPlan, str]] = {
    "another revision": (PLAN.model_copy(update={"revision": "r9-0"}), ""),
    "an unknown tool": (_step(tool="sea.example/tides/other"), "steps[0]"),
    "an unknown endpoint": (_step(endpoint="other"), "steps[0]"),
    "an endpoint of another tool": (_step(tool="sea.example/tides/bare"), "steps[0]"),
    "another title": (_step(title="Level"), "steps[0].title"),
    "another method": (_step(method="POST"), "steps[0].path"),
    "another path": (_step(path="/level"), "steps[0].path"),
    "a licence left out": (_step(licences=()), "steps[0].licences"),
    "a licence added": (_step(licences=("CC-BY-4.0", "MIT")), "steps[0].licences"),
    "a provenance left out": (_step(provenance=()), "steps[0].provenance"),
    "another provenance": (_step(provenance=(Provenance(origin="x"),)), "steps[0].provenance"),
    "an unknown parameter": (_argument(DAYS, name="weeks"), "steps[0].arguments[weeks]"),
    "another location": (_argument(DAYS, location="body"), "steps[0].arguments[days]"),
    "another type": (_argument(DAYS, type="string"), "steps[0].arguments[days]"),
    "another unit of an argument": (_argument(DAYS, unit="h"), "steps[0].arguments[days]"),
    "required where it is not": (_argument(UNIT, required=True), "steps[0].arguments[unit]"),
    "a value outside the enum": (_argument(UNIT, source="query", value="fathom"), "steps[0].arguments[unit]"),
    "a required parameter left out": (_step(arguments=(UNIT,)), "steps[0].arguments[gauge]"),
    "an unknown response field": (_field(path="data[].depth"), "steps[0].fields[data[].depth]"),
    "another type of a field": (_field(type="string"), "steps[0].fields[data[].level]"),
    "another unit of a field": (_field(unit="ft"), "steps[0].fields[data[].level]"),
    "another semantic id": (_field(semantic_id="tide:depth"), "steps[0].fields[data[].level]"),
    "another source type": (_field(source_type="calculated"), "steps[0].fields[data[].level]"),
    "another licence of a field": (_field(licences=("MIT",)), "steps[0].fields[data[].level]"),
    "a value that is not the default": (_argument(UNIT, value="ft"), "steps[0].arguments[unit]"),
    "a value that no template has": (_argument(UNIT, source="template"), "steps[0].arguments[unit]"),
    "a missing value that is there": (_argument(GAUGE, source="missing"), "steps[0].arguments[gauge]"),
    "an argument twice": (_step(arguments=(GAUGE, DAYS, DAYS)), "steps[0].arguments"),
    "a field twice": (_step(fields=(LEVEL, LEVEL)), "steps[0].fields"),
    "an invented warning": (_step(precautions=("Do not use on Sundays",)), "steps[0].precautions[0]"),
    "a warning about another tool": (_step(precautions=("storm surges",)), "steps[0].precautions[0]"),
    "abstained and still stepping": (PLAN.model_copy(update={"abstained": True}), "abstained"),
    "neither steps nor abstention": (PLAN.model_copy(update={"steps": ()}), "abstained"),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_departure_is_found_at_its_place(name: str) -> None:
    plan, path = WRONG[name]
    found = check_plan(plan, SNAPSHOT)
    assert [(problem.code, problem.path) for problem in found] == [(ErrorCode.INVALID_PLAN, path)]


def test_every_departure_is_told() -> None:
    worse = _step(title="x", licences=(), fields=(LEVEL.model_copy(update={"unit": "ft"}),))
    assert len(check_plan(worse, SNAPSHOT)) == 3


def test_a_missing_value_need_not_be_in_the_enum() -> None:
    assert check_plan(_argument(UNIT, source="missing", value=None), SNAPSHOT) == ()


@pytest.mark.parametrize(
    ("argument", "executable"),
    [
        (GAUGE, True),
        (GAUGE.model_copy(update={"source": "missing", "value": None}), False),
        (DAYS.model_copy(update={"source": "missing", "value": None}), True),
    ],
)
def test_a_step_is_executable_when_nothing_required_is_missing(
    argument: PlannedArgument, executable: bool
) -> None:
    assert STEP.model_copy(update={"arguments": (argument,)}).executable is executable
