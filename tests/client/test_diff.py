"""The typed difference: nothing for equal documents, and exactly what was changed for others."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from loopback import JANUARY, TOOL, compendium

from compendia.client.diff import Difference, diff
from compendia.contract import (
    Compendium,
    DefinitionConflict,
    Endpoint,
    Member,
    Parameter,
    Scenario,
    Snapshot,
    ToolMetadata,
    seal,
)


def _tool(**changes: Any) -> ToolMetadata:
    endpoint = Endpoint(name="main", parameters=(Parameter(name="city"), Parameter(name="day")))
    return ToolMetadata(id=TOOL, description="old", endpoints=(endpoint,)).model_copy(update=changes)


def _snapshot(made: Compendium, conflicts: tuple[DefinitionConflict, ...] = ()) -> Snapshot:
    return seal(
        parent="",
        round=1,
        policy="conflict_log",
        encoder="hashing",
        members=(Member(org="alpha", round=1, digest="0"),),
        compendium=made.model_copy(update={"org": ""}),
        conflicts=conflicts,
    )


@given(st.randoms(use_true_random=False))
def test_a_moved_entry_is_no_difference(order: random.Random) -> None:
    scenarios = tuple(Scenario(tool=TOOL, text=str(number)) for number in range(6))
    parameters = tuple(Parameter(name=str(number)) for number in range(4))
    before = compendium(
        scenarios=scenarios, tools=(_tool(endpoints=(Endpoint(name="main", parameters=parameters),)),)
    )
    shuffled = tuple(order.sample(parameters, 4))
    after = compendium(
        scenarios=tuple(order.sample(scenarios, 6)),
        tools=(_tool(endpoints=(Endpoint(name="main", parameters=shuffled),)),),
    )
    assert diff(before, after) == ()


def test_a_changed_field_is_named_at_its_depth() -> None:
    deep = Endpoint(name="main", parameters=(Parameter(name="city", type="string"), Parameter(name="day")))
    before, after = compendium(tools=(_tool(),)), compendium(tools=(_tool(endpoints=(deep,)),))
    assert diff(before, after) == (
        Difference("tools", TOOL, "endpoints[main].parameters[city argument].type", "any", "string"),
    )


def test_an_entry_on_one_side_is_whole() -> None:
    gone = Scenario(tool=TOOL, text="gone", count=4)
    (found,) = diff(compendium(scenarios=(gone,)), compendium(scenarios=()))
    assert (found.kind, found.section, found.key, found.after) == (
        "removed",
        "scenarios",
        f"{TOOL} gone",
        None,
    )
    assert found.before == {"tool": TOOL, "text": "gone", "count": 4}
    (found,) = diff(compendium(scenarios=()), compendium(scenarios=(gone,)))
    assert (found.kind, found.before) == ("added", None)


def test_a_nested_entry_on_one_side() -> None:
    shorter = Endpoint(name="main", parameters=(Parameter(name="city"),))
    (found,) = diff(compendium(tools=(_tool(),)), compendium(tools=(_tool(endpoints=(shorter,)),)))
    assert found.field == "endpoints[main].parameters[day argument]"
    assert (found.kind, found.before, found.after) == ("changed", {"name": "day"}, None)


def test_the_header_counts() -> None:
    later = JANUARY.model_copy(update={"end": "2026-03-01T00:00:00Z"})
    found = diff(compendium("alpha"), compendium("beta", window=later))
    assert [(one.section, one.field) for one in found] == [("header", "org"), ("header", "window")]


def test_snapshots_differ_in_frame_and_conflicts() -> None:
    conflict = DefinitionConflict(tool=TOOL, field="title", winner=None, dissent=(), resolved_by="none")
    before, after = _snapshot(compendium()), _snapshot(compendium(), (conflict,))
    found = diff(before, after)
    assert [(one.kind, one.section, one.field) for one in found] == [
        ("changed", "snapshot", "revision"),
        ("added", "conflicts", ""),
    ]
    assert diff(before, before) == ()


@pytest.mark.parametrize("field", ["title", "description", "category"])
def test_the_difference_turns_around(field: str) -> None:
    before, after = compendium(tools=(_tool(),)), compendium(tools=(_tool(**{field: "new"}),))
    (there,) = diff(before, after)
    (back,) = diff(after, before)
    assert (there.before, there.after) == (back.after, back.before)
    assert there.field == field
