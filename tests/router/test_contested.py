"""Contested scenarios: which are, what is left without them, and who is believed."""

from __future__ import annotations

import math

import pytest

from compendia.contract import (
    Claim,
    Compendium,
    Member,
    Precaution,
    Scenario,
    Snapshot,
    StanceConflict,
    ToolMetadata,
    seal,
)
from compendia.router.contested import contested, lost, margin, without
from compendia.router.experience import disputes
from compendia.router.index import HybridIndex
from compendia.router.retrieve import load_revision
from compendia.text.encode import HashingEncoder

ENCODER = HashingEncoder()
TIDES, KILN = "port/sea/tides", "port/craft/kiln"
HIGH, FIRE = "when is high water at the quay", "fire my vase at cone six"


def dispute(tool: str, text: str, use: tuple[str, ...], do_not: tuple[str, ...]) -> StanceConflict:
    claims = [Claim(value="use", supporters=use), Claim(value="do_not", supporters=do_not)]
    first = max(claims, key=lambda claim: len(claim.supporters))
    tied = len(use) == len(do_not)
    return StanceConflict(
        tool=tool,
        field="scenarios",
        text=text,
        winner=None if tied else first,
        dissent=tuple(claim for claim in claims if tied or claim != first),
        resolved_by="none" if tied else "majority",
    )


def snapshot(*conflicts: StanceConflict, precautions: tuple[Precaution, ...] = ()) -> Snapshot:
    tools = (
        ToolMetadata(id=KILN, title="Kiln", description="Fires vases and bowls at a cone"),
        ToolMetadata(id=TIDES, title="Tides", description="Tells high and low water at a quay"),
    )
    said = ((TIDES, HIGH), (KILN, HIGH), (KILN, FIRE))
    return seal(
        parent="",
        round=1,
        policy="conflict_log",
        encoder=ENCODER.fingerprint,
        members=(Member(org="port", round=1, digest="0" * 64),),
        compendium=Compendium(
            org="",
            tools=tools,
            scenarios=tuple(Scenario(tool=tool, text=text) for tool, text in sorted(said)),
            precautions=precautions,
        ),
        conflicts=conflicts,
    )


def keys(index: HybridIndex, rows: tuple[int, ...]) -> list[tuple[str, str]]:
    return [(index.scenarios.entries[row].tool, index.scenarios.entries[row].text) for row in rows]


def test_a_scenario_is_contested_by_a_warning_of_its_own_tool_in_like_words() -> None:
    quiet = HybridIndex(snapshot(), ENCODER)
    assert contested(quiet).rows == ()
    index = HybridIndex(snapshot(dispute(KILN, HIGH + "?", ("a", "b"), ("c",))), ENCODER)
    found = contested(index)
    assert keys(index, found.rows) == [(KILN, HIGH)]
    assert found.margins == pytest.approx((math.log(2),))
    assert found.claims == {(KILN, HIGH), (KILN, HIGH + "?")}
    other = HybridIndex(snapshot(precautions=(Precaution(tool=TIDES, text=FIRE),)), ENCODER)
    assert contested(other).rows == ()


@pytest.mark.parametrize(
    ("use", "do_not", "expected"),
    [(("a",), ("b",), 0.0), (("a",), ("b", "c"), 0.0), (("a", "b", "d"), ("c",), math.log(3))],
)
def test_votes_for_a_tool_allow_it_to_be_behind(
    use: tuple[str, ...], do_not: tuple[str, ...], expected: float
) -> None:
    (entry,) = disputes([dispute(KILN, HIGH, use, do_not)], {KILN})
    assert margin(entry) == pytest.approx(expected)


def test_without_takes_the_claims_out_and_leaves_the_rest() -> None:
    warned = snapshot(
        dispute(KILN, HIGH, ("a",), ("b",)), precautions=(Precaution(tool=KILN, text=HIGH, kind="wrong_for"),)
    )
    bare = without(warned, {(KILN, HIGH)})
    assert [(s.tool, s.text) for s in bare.compendium.scenarios] == [(KILN, FIRE), (TIDES, HIGH)]
    assert (bare.compendium.precautions, bare.conflicts) == ((), ())
    kept = without(warned, {(KILN, HIGH)}, scenarios_alone=True)
    assert kept.compendium.scenarios == bare.compendium.scenarios
    assert (kept.compendium.precautions, kept.conflicts) == (warned.compendium.precautions, warned.conflicts)


@pytest.mark.parametrize(("tool", "text", "believed"), [(KILN, HIGH, False), (KILN, FIRE, True)])
def test_the_undisputed_rest_decides_who_is_believed(tool: str, text: str, believed: bool) -> None:
    told = snapshot(dispute(tool, text, ("a",), ("b",)))
    index = HybridIndex(told, ENCODER)
    found = contested(index)
    settled = load_revision(without(told, found.claims), ENCODER)
    assert keys(index, found.rows) == [(tool, text)]
    assert lost(index, found, settled.rank_each) == (frozenset() if believed else {(tool, text)})
