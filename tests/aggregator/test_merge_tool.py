"""One tool merged: stances, endpoints that are gone, agreement that only looks like one."""

from typing import Any

from leaves import ORGS, TEXTS, leaf, tool

from compendia.aggregator.executor import SerialExecutor
from compendia.aggregator.view import Contribution, view
from compendia.contract import (
    Annex,
    CallTemplate,
    Conflict,
    Endpoint,
    LicenceConflict,
    Parameter,
    Precaution,
    Scenario,
    SchemaDefinition,
    Snapshot,
    StanceConflict,
)
from compendia.contract.document import check
from compendia.text.encode import HashingEncoder

TOOL = "acme/weather/forecast"
TEXT = TEXTS[0]


def merged(*leaves: Contribution, grants: dict[str, str] | None = None) -> Snapshot:
    snapshot = view(
        leaves, grants=grants or {}, encoder=HashingEncoder(64), executor=SerialExecutor(), round=1
    )
    check(snapshot.compendium, computed_allowed=True)
    return snapshot


def says(org: str, use: int | None, do_not: int | None, **more: Any) -> Contribution:
    """An organization that saw TEXT work and fail so many times; None: it says nothing on that side."""
    return leaf(
        org,
        tools=(tool(TOOL),),
        scenarios=() if use is None else (Scenario(tool=TOOL, text=TEXT, count=use),),
        precautions=() if do_not is None else (Precaution(tool=TOOL, text=TEXT, count=do_not, **more),),
    )


def stance(snapshot: Snapshot) -> StanceConflict:
    (found,) = [c for c in snapshot.conflicts if isinstance(c, StanceConflict)]
    return found


def kept(snapshot: Snapshot) -> tuple[int, int]:
    return len(snapshot.compendium.scenarios), len(snapshot.compendium.precautions)


def test_an_organization_speaks_with_one_voice_from_its_own_counts() -> None:
    snapshot = merged(says("ada", 5, 1), says("bee", None, 9), says("cyd", 1, None))
    assert kept(snapshot) == (1, 0)
    assert snapshot.compendium.scenarios[0].support == 2
    conflict = stance(snapshot)
    assert conflict.winner is not None
    assert conflict.winner.supporters == ("ada", "cyd")
    assert [c.supporters for c in conflict.dissent] == [("bee",)]


def test_what_an_organization_says_against_its_own_majority_is_logged_under_its_name() -> None:
    """No record leaves the snapshot without a conflict that names who wrote it."""
    snapshot = merged(says("ada", 5, 1, evidence="slow at night"))
    assert kept(snapshot) == (1, 0)
    assert [c.supporters for c in stance(snapshot).dissent] == [("ada",)]
    assert "1 organization said not to use it" in stance(snapshot).do_not_use_when()
    assert "slow at night" in stance(snapshot).do_not_use_when()


def test_equal_counts_abstain_and_a_tie_keeps_both_sides() -> None:
    alone = merged(says("ada", 2, 2))
    assert kept(alone) == (1, 1)
    assert stance(alone).winner is None
    assert [c.supporters for c in stance(alone).dissent] == [("ada",), ("ada",)]
    decided = merged(says("ada", 2, 2), says("bee", None, 1))
    assert kept(decided) == (0, 1)
    assert stance(decided).winner is not None
    assert merged(says("ada", 1, None), says("bee", None, 50)).compendium.scenarios != ()


def test_a_noised_count_below_zero_is_still_a_stance() -> None:
    noised = leaf(
        "ada", stage="noised", tools=(tool(TOOL),), scenarios=(Scenario(tool=TOOL, text=TEXT, count=-3),)
    )
    snapshot = merged(noised, says("bee", 5, None))
    assert snapshot.compendium.scenarios[0].count == 2
    assert snapshot.compendium.scenarios[0].support == 2
    assert snapshot.compendium.stage == "noised"
    assert snapshot.conflicts == ()


def test_a_flood_of_reasons_does_not_drown_one_that_more_organizations_give() -> None:
    loud = leaf(
        "ada",
        tools=(tool(TOOL),),
        precautions=tuple(
            Precaution(tool=TOOL, text=TEXT + " " * n, evidence=f"a reason, the {n}th") for n in range(20)
        ),
    )
    calm = [says(org, None, 1, evidence="the server was moved") for org in ("bee", "cyd")]
    conflict = stance(merged(loud, *calm, says("dot", 1, None)))
    assert conflict.reasons[0] == "the server was moved"
    assert sum("a reason" in reason for reason in conflict.reasons) == 1


def test_an_endpoint_that_the_owner_does_not_list_loses_its_vote_and_its_templates() -> None:
    """One endpoint is enough to call the tool by; a record that named another keeps its text."""
    wider = tool(TOOL)
    wider = wider.model_copy(update={"endpoints": (*wider.endpoints, Endpoint(name="legacy"))})
    others = [
        leaf(
            org,
            tools=(wider,),
            scenarios=(Scenario(tool=TOOL, text=TEXT, endpoint="legacy"),),
            templates=(CallTemplate(tool=TOOL, endpoint="legacy", arguments={}),),
        )
        for org in ("bee", "cyd")
    ]
    own = leaf("ada", tools=(tool(TOOL),), scenarios=(Scenario(tool=TOOL, text=TEXT, endpoint="call"),))
    snapshot = merged(own, *others, grants={"acme": "ada"})
    assert [e.name for e in snapshot.compendium.tools[0].endpoints] == ["call"]
    (scenario,) = snapshot.compendium.scenarios
    assert (scenario.endpoint, scenario.support) == ("call", 3)
    assert snapshot.compendium.templates == ()
    (conflict,) = snapshot.conflicts
    assert (conflict.field, conflict.resolved_by) == ("endpoints[legacy]", "owner")


def test_without_an_owner_endpoints_of_all_are_known() -> None:
    """Leaving an endpoint out is silence, not a claim that it is not there."""
    wider = tool(TOOL)
    wider = wider.model_copy(update={"endpoints": (*wider.endpoints, Endpoint(name="extra"))})
    snapshot = merged(*(leaf(org, tools=(tool(TOOL),)) for org in ORGS[:3]), leaf("dot", tools=(wider,)))
    assert [e.name for e in snapshot.compendium.tools[0].endpoints] == ["call", "extra"]


def test_values_that_python_calls_equal_are_not_one_claim() -> None:
    def defaulting(value: object) -> Any:
        endpoint = Endpoint(name="call", parameters=(Parameter(name="n", default=value),))  # type: ignore[arg-type]
        return tool(TOOL).model_copy(update={"endpoints": (endpoint,)})

    snapshot = merged(
        leaf("ada", tools=(defaulting(True),)),
        leaf("bee", tools=(defaulting(1),)),
        leaf("cyd", tools=(defaulting(1),)),
    )
    assert snapshot.compendium.tools[0].endpoints[0].parameters[0].default == 1
    (conflict,) = snapshot.conflicts
    assert [c.value for c in conflict.dissent] == [True]
    assert conflict.field == "endpoints[call].parameters[n, argument].default"


def test_every_licence_is_kept_and_names_who_said_it() -> None:
    snapshot = merged(
        leaf("ada", tools=(tool(TOOL, licences=("MIT", "CC-BY-4.0")),)),
        leaf("bee", tools=(tool(TOOL, licences=("MIT",)),)),
        leaf("cyd", tools=(tool(TOOL),)),
    )
    assert snapshot.compendium.tools[0].licences == ("CC-BY-4.0", "MIT")
    found: list[Conflict] = [c for c in snapshot.conflicts if isinstance(c, LicenceConflict)]
    assert [(c.value, c.supporters) for c in found[0].dissent] == [
        ("CC-BY-4.0", ("ada",)),
        ("MIT", ("ada", "bee")),
    ]


def test_a_ref_in_an_annex_value_stays_resolvable() -> None:
    place = SchemaDefinition(id="acme/weather/place", body={"type": "string"})
    unused = SchemaDefinition(id="acme/weather/unused", body={"type": "string"})
    snapshot = merged(
        leaf(
            "ada",
            tools=(tool(TOOL),),
            definitions=(place, unused),
            annex=(Annex(tool=TOOL, key="x-shape", value={"$ref": place.id}),),
        )
    )
    assert snapshot.compendium.definitions == (place,)


def test_sums_outgrow_what_one_organization_may_send() -> None:
    most = [
        leaf(org, tools=(tool(TOOL),), scenarios=(Scenario(tool=TOOL, text=TEXT, count=1_000_000),))
        for org in ORGS
    ]
    assert merged(*most).compendium.scenarios[0].count == 4_000_000
