"""The demo, run as a user runs it: its document, what it routes where, and that it leaves nothing behind."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import psutil
import pytest
from rich.cells import cell_len

from compendia.cli.demo_cast import ORGANIZATIONS, QUESTIONS
from compendia.cli.demo_view import show
from compendia.contract import Snapshot, ToolPlan, check_plan
from compendia.contract.document import snapshot_loads
from compendia.router.route import Router
from compendia.text.encode import load_encoder

pytestmark = [pytest.mark.process, pytest.mark.model, pytest.mark.timeout(600)]

HARBOUR, MATERIALS = "nordport.example/harbour_data/", "lindqvist.example/materials_desk/"
FX, PARCELS = "openmarket.example/finance/fx_desk", "openmarket.example/logistics/parcel_trail"
EXPECTED = {
    "one tool": [HARBOUR + "get_tides"],
    "two tools": [HARBOUR + "get_wind_forecast", FX],
    "unit and licence": [MATERIALS + "get_material_property"],
    "against a precaution": [HARBOUR + "track_container"],
    "disputed": [HARBOUR + "get_wind_forecast"],
    "learnt from others": [FX],
    "in Chinese": [HARBOUR + "get_wind_forecast"],
    "nothing fits": [],
}
Document = dict[str, Any]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("demo") / "kept"


@pytest.fixture(scope="module")
def found(folder: Path) -> Document:
    """The document of one run."""
    done = subprocess.run(
        [sys.executable, "-m", "compendia.cli", "demo", "--json", "--keep", str(folder)],
        cwd=folder.parent,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    document: Document = json.loads(done.stdout)
    return document


@pytest.fixture(scope="module")
def snapshot(found: Document, folder: Path) -> Snapshot:
    return snapshot_loads((folder / "snapshot.json").read_bytes())


@pytest.fixture(scope="module")
def plans(found: Document) -> dict[str, ToolPlan]:
    """The plans by what they show."""
    fields = ToolPlan.model_fields
    return {p["about"]: ToolPlan.model_validate({f: p[f] for f in fields}) for p in found["plans"]}


def of_kind(found: Document, kind: str) -> list[Document]:
    return [conflict for conflict in found["conflicts"] if conflict["kind"] == kind]


def test_the_document_has_its_parts(found: Document) -> None:
    assert set(found) == {"organizations", "round", "conflicts", "plans", "timings_s"}
    assert found["timings_s"]["total"] > 0


def test_three_organizations_bring_three_kinds_of_source(found: Document) -> None:
    organizations = found["organizations"]
    assert [org["organization"] for org in organizations] == [org.name for org in ORGANIZATIONS]
    assert {source["kind"] for org in organizations for source in org["sources"]} == {
        "openapi",
        "mcp",
        "toolbench",
    }
    for org in organizations:
        assert org["compendium"]["scenarios"] > 0
        assert org["compendium"]["templates"] > 0


def test_what_was_sent_is_what_the_round_holds(found: Document, snapshot: Snapshot) -> None:
    sent = {org["organization"]: org["receipt"]["digest"] for org in found["organizations"]}
    assert {c["org"]: c["digest"] for c in found["round"]["contributions"]} == sent
    assert {member.org: member.digest for member in snapshot.members} == sent
    assert found["round"]["revision"] == snapshot.revision


def test_the_snapshot_knows_every_tool_once(snapshot: Snapshot) -> None:
    ids = [tool.id for tool in snapshot.compendium.tools]
    assert len(ids) == len(set(ids)) == 18


def test_a_stance_is_settled_by_majority_and_one_stays_open(found: Document) -> None:
    stances = {conflict["tool"]: conflict for conflict in of_kind(found, "stance")}
    settled, tied = stances[PARCELS], stances[HARBOUR + "get_wind_forecast"]
    assert settled["winner"] == {"value": "do_not", "supporters": ["lindqvist", "nordport"]}
    assert settled["dissent"] == [{"value": "use", "supporters": ["kestrel"]}]
    assert settled["resolved_by"] == "majority"
    assert tied["winner"] is None
    assert {claim["value"]: claim["supporters"] for claim in tied["dissent"]} == {
        "use": ["lindqvist"],
        "do_not": ["nordport"],
    }


def test_definitions_are_settled_by_their_owner_or_by_majority(found: Document) -> None:
    rules = {(c["tool"], c["resolved_by"]) for c in of_kind(found, "definition")}
    assert rules == {(HARBOUR + "get_wind_forecast", "owner"), (FX, "majority")}


def test_licences_and_sources_are_all_kept(found: Document, snapshot: Snapshot) -> None:
    assert {c["tool"] for c in of_kind(found, "licence")} >= {FX, HARBOUR + "get_tides"}
    assert {c["tool"] for c in of_kind(found, "provenance")} >= {FX, PARCELS, HARBOUR + "get_tides"}
    tides = next(tool for tool in snapshot.compendium.tools if tool.id == HARBOUR + "get_tides")
    assert tides.licences == ("CC-BY-4.0", "CC-BY-SA-4.0")
    assert {source.version for source in tides.provenance} == {"2.0.0", "2.1.0"}


def test_a_second_compendium_in_one_round_is_refused_and_logged(found: Document) -> None:
    assert found["round"]["refused"]["code"] == "EQUIVOCATION"
    (conflict,) = of_kind(found, "equivocation")
    first = {c["org"]: c["digest"] for c in found["round"]["contributions"]}["lindqvist"]
    assert (conflict["org"], conflict["round"]) == ("lindqvist", 1)
    assert conflict["winner"] == {"value": first, "supporters": ["lindqvist"]}


def test_all_questions_are_answered(plans: dict[str, ToolPlan]) -> None:
    assert [plan.query for plan in plans.values()] == [question.query for question in QUESTIONS]
    assert set(plans) == set(EXPECTED)


@pytest.mark.parametrize("about", EXPECTED)
def test_the_right_tools_are_called(plans: dict[str, ToolPlan], about: str) -> None:
    assert [step.tool for step in plans[about].steps] == EXPECTED[about]


@pytest.mark.parametrize("about", EXPECTED)
def test_every_plan_can_be_executed_and_comes_from_the_snapshot(
    plans: dict[str, ToolPlan], snapshot: Snapshot, about: str
) -> None:
    assert check_plan(plans[about], snapshot) == ()
    assert all(step.executable and step.fields and step.reasons for step in plans[about].steps)


def test_the_local_llm_has_looked_at_the_candidates(plans: dict[str, ToolPlan]) -> None:
    asked = [plan for plan in plans.values() if not plan.abstained]
    assert all(c.rerank_score is not None for plan in asked for r in plan.rankings for c in r.candidates)


def test_arguments_are_read_from_the_requests(plans: dict[str, ToolPlan]) -> None:
    given = {
        about: {a.name: a.value for step in plan.steps for a in step.arguments if a.source == "query"}
        for about, plan in plans.items()
    }
    assert given["one tool"] == {"port": "Rotterdam", "date": "2026-12-03"}
    assert given["two tools"] == {
        "port": "Hamburg",
        "date": "2026-12-02",
        "amount": 2400,
        "from_currency": "EUR",
        "to_currency": "NOK",
    }
    assert given["against a precaution"] == {"container_number": "NPTU5520917"}
    assert given["in Chinese"] == {"port": "Hamburg", "date": "2026-12-02"}


def test_unit_and_licence_come_with_the_field(plans: dict[str, ToolPlan]) -> None:
    (step,) = plans["unit and licence"].steps
    field = next(field for field in step.fields if field.path == "thermal_conductivity")
    assert (field.unit, field.source_type, field.licences) == (
        "W/(m·K)",
        "experimental",
        ("CC-BY-NC-4.0",),
    )
    assert "density" not in {field.path for field in step.fields}


def test_a_dispute_is_shown_where_it_matters(plans: dict[str, ToolPlan]) -> None:
    (disputed,) = plans["disputed"].steps
    assert any("three days" in warning for warning in disputed.precautions)
    (plain,) = plans["one tool"].steps
    assert not any("three days" in warning for warning in plain.precautions)


def test_the_precaution_decides(found: Document, snapshot: Snapshot) -> None:
    """Without what two organizations warned of, the parcel service would be called for a sea container."""
    query = next(question.query for question in QUESTIONS if question.about == "against a precaution")
    silent = snapshot.model_copy(
        update={
            "compendium": snapshot.compendium.model_copy(update={"precautions": ()}),
            "conflicts": tuple(c for c in snapshot.conflicts if c.kind != "stance"),
        }
    )
    encoder = load_encoder("minilm")
    first = [Router(s, encoder).retrieve(query).candidates[0].tool for s in (snapshot, silent)]
    assert first == [HARBOUR + "track_container", PARCELS]


def test_nothing_fits_is_an_answer(plans: dict[str, ToolPlan]) -> None:
    plan = plans["nothing fits"]
    assert plan.abstained
    assert plan.rankings[0].best_evidence < plan.rankings[0].threshold


def test_nothing_is_left_running(found: Document, folder: Path) -> None:
    assert working_in(folder) == []


def working_in(folder: Path) -> list[str]:
    """Command lines of the processes that work in a folder."""
    everyone = psutil.process_iter(["cwd", "cmdline"])
    return [" ".join(p.info["cmdline"] or []) for p in everyone if p.info["cwd"] == str(folder)]


@pytest.mark.parametrize("columns", ["80", "110", "200"])
def test_a_person_sees_who_said_what_and_each_plan(
    found: Document, columns: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    show(found)
    shown = capsys.readouterr().out
    told = " ".join(shown.replace("│", " ").split())
    assert max(map(cell_len, shown.splitlines())) <= int(columns)
    for org in ORGANIZATIONS:
        assert org.title in told
    for kind in ("stance", "definition", "licence", "provenance", "equivocation"):
        assert f" {kind} " in told
    for question in QUESTIONS:
        assert f"─ {question.about} ─" in told
        assert question.query.replace(" ", "") in told.replace(" ", "")
    assert "no tool Nothing fits" in told
