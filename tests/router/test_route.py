"""Plans: valid by construction, several steps where needed, with reasons a person can read."""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest
from harbour import BARE, FERRY, MONEY, PARCEL, TIDES, TOOLS, harbour
from hypothesis import given, settings
from hypothesis import strategies as st

from compendia.contract import CompendiaError, ErrorCode, Snapshot, ToolPlan, check_plan, error
from compendia.router.explain import explanation
from compendia.router.render import Card
from compendia.router.rerank import Scores
from compendia.router.route import Router
from compendia.text.encode import HashingEncoder, load_encoder

TRANSCRIPT = Path(__file__).parent.parent / "golden" / "plans.txt"
QUESTIONS = (
    "When is high water in Visby on 3 May 2026?",
    "Where is my parcel KO774120093PL, and then how much is 20 EUR in SEK?",
    "Is the water level at Turku deep enough in a storm?",
    "Where is my pallet KO774120093PL?",
    "Soil temperature at Uppsala at 30 cm in celsius, measured",
    "Cancel my ferry booking AB1234",
    "Read me the notices on the post office door",
    "Bake me a chocolate cake",
)


@pytest.fixture(scope="module")
def snapshot() -> Snapshot:
    return harbour()


@pytest.fixture(scope="module")
def router(snapshot: Snapshot) -> Router:
    return Router(snapshot, HashingEncoder())


@pytest.mark.model
def test_the_plans_read_as_they_did(snapshot: Snapshot) -> None:
    """Made anew with `COMPENDIA_GOLDEN=write pytest tests/router`."""
    made = Router(snapshot, load_encoder("minilm"))
    found = "\n".join(line for query in QUESTIONS for line in _transcript(made.route(query))) + "\n"
    if os.environ.get("COMPENDIA_GOLDEN") == "write":
        TRANSCRIPT.write_text(found, encoding="utf-8")
    assert found == TRANSCRIPT.read_text(encoding="utf-8")


def _transcript(plan: ToolPlan) -> Iterator[str]:
    """A plan without its measured numbers, whose last digits depend on the machine."""
    yield f"? {plan.query}"
    yield f"  {_rounded(plan.why)}"
    for step in plan.steps:
        yield f"  {step.tool} {step.endpoint} [{step.method} {step.path}] for: {step.part}"
        for argument in step.arguments:
            yield f"    {argument.location} {argument.name} = {argument.value!r} ({argument.source})"
        for field in step.fields:
            facts = " ".join(filter(None, (field.unit, field.source_type, *field.licences)))
            yield f"    keep {field.path} ({field.why}) {facts}"
        yield f"    licences {', '.join(step.licences)}; sources {[p.origin for p in step.provenance]}"
        for warning in step.precautions:
            yield f"    beware: {warning}"
        for reason in step.reasons:
            yield f"    because: {_rounded(reason)}"


def _rounded(text: str) -> str:
    return re.sub(r"[+-]?\d+\.\d+", "#", text)


@settings(max_examples=60, deadline=None)
@given(query=st.text(max_size=120))
def test_every_query_gets_a_valid_plan_or_a_clear_error(query: str) -> None:
    router = _shared()
    if not query.strip() or "\x00" in query:
        with pytest.raises(CompendiaError) as refused:
            router.route(query)
        assert refused.value.code in {ErrorCode.EMPTY_QUERY, ErrorCode.BAD_TEXT}
        return
    plan = router.route(query)
    assert check_plan(plan, router.revision.snapshot) == ()
    assert plan.abstained == (not plan.steps)
    assert plan.query == query


_SHARED: list[Router] = []


def _shared() -> Router:
    if not _SHARED:
        _SHARED.append(Router(harbour(), HashingEncoder()))
    return _SHARED[0]


@pytest.mark.parametrize(
    ("query", "code"),
    [
        ("", ErrorCode.EMPTY_QUERY),
        (" \t\n　", ErrorCode.EMPTY_QUERY),
        ("tide \ud800", ErrorCode.BAD_TEXT),
        ("tide \x00", ErrorCode.BAD_TEXT),
        ("x" * 100_000 + "\udfff", ErrorCode.BAD_TEXT),
    ],
)
def test_what_is_no_query_is_refused(router: Router, query: str, code: ErrorCode) -> None:
    for ask in (router.route, router.retrieve, router.explain):
        with pytest.raises(CompendiaError) as refused:
            ask(query)
        assert refused.value.code is code


def test_200_000_characters_are_read_as_far_as_it_helps(router: Router) -> None:
    query = "When is high water in Visby? " + "tell me more and then " * 10_000
    assert router.route(query).steps[0].tool == TIDES


def test_parts_that_ask_for_different_tools_become_steps(router: Router) -> None:
    plan = router.route("Where is my parcel KO774120093PL, and then how much is 20 EUR in SEK?")
    assert [(step.tool, step.part) for step in plan.steps] == [
        (PARCEL, "Where is my parcel KO774120093PL"),
        (MONEY, "how much is 20 EUR in SEK?"),
    ]
    assert all(step.executable for step in plan.steps)
    assert len(plan.rankings) == 2
    tracked = {argument.name: argument.value for argument in plan.steps[0].arguments}
    assert tracked == {"tracking_number": "KO774120093PL", "detail": "short"}


def test_one_request_with_an_and_stays_one_step(router: Router) -> None:
    plan = router.route("Times and heights of high and low water in Visby")
    assert [step.tool for step in plan.steps] == [TIDES]


def test_the_endpoint_is_the_one_that_is_asked_for(router: Router) -> None:
    plan = router.route("Cancel the booking AB1234 of my ferry ticket")
    assert [(step.tool, step.endpoint) for step in plan.steps] == [(FERRY, "cancel_booking")]
    assert "Unsafe: Cancel every booking" in plan.steps[0].precautions


def test_a_tool_that_declares_no_endpoint_is_named_but_not_planned(router: Router) -> None:
    plan = router.route("Announcements: notices on the post office door")
    assert plan.abstained
    assert BARE in plan.why


def test_what_is_missing_is_said(router: Router) -> None:
    plan = router.route("High and low water at a harbour on a day")
    assert not plan.steps[0].executable
    assert f"Still to be given: port of {TIDES}, date of {TIDES}." in plan.why


def test_an_explanation_adds_up_and_names_who_lost(router: Router) -> None:
    found = router.explain("When is high water in Visby on 3 May 2026?", k=3)
    (part,) = found["parts"]
    assert part["candidates"][0]["tool"] == TIDES
    assert len(part["candidates"]) == 3
    for candidate in part["candidates"]:
        assert sum(candidate["contributions"].values()) == pytest.approx(candidate["score"], abs=1e-3)
        assert candidate["behind"] >= 0
    assert any("It worked for a near request" in reason for reason in found["steps"][0]["reasons"])
    refused = explanation(router.route("zzzz qqqq"))
    assert refused["abstained"]
    assert refused["steps"] == []


class Scripted:
    """A reranker that does what the test says."""

    fingerprint = "scripted"

    def __init__(self, answer: Callable[[Sequence[Card]], object]) -> None:
        self._answer = answer

    def score(self, query: str, cards: Sequence[Card]) -> Scores:
        return np.asarray(self._answer(cards), np.float64)


def test_a_reranker_orders_and_nothing_else(snapshot: Snapshot) -> None:
    plain = Router(snapshot, HashingEncoder())
    reranked = Router(
        snapshot, HashingEncoder(), Scripted(lambda cards: [9.0 * ("Parcel" in c.prefix) for c in cards])
    )
    query = "When is high water in Visby?"
    before, after = plain.retrieve(query), reranked.retrieve(query)
    assert {c.tool for c in before.candidates} == {c.tool for c in after.candidates}
    assert before.candidates[0].rerank_score is None
    by_tool = {c.tool: c for c in after.candidates}
    assert by_tool[PARCEL].rerank_score == 9.0
    assert check_plan(reranked.route(query), snapshot) == ()


def _down(cards: Sequence[Card]) -> object:
    raise error(ErrorCode.RERANKER_FAILED, "the server is down")


@pytest.mark.parametrize(
    "answer",
    [lambda cards: [float("nan")] * len(cards), lambda cards: [1.0], _down],
    ids=["nan", "few", "down"],
)
def test_a_failed_reranker_is_left_out_and_the_plan_says_so(
    snapshot: Snapshot, answer: Callable[[Sequence[Card]], object]
) -> None:
    router = Router(snapshot, HashingEncoder(), Scripted(answer))
    query = "When is high water in Visby?"
    plan = router.route(query)
    assert plan.steps == Router(snapshot, HashingEncoder()).route(query).steps
    assert "The reranker failed" in plan.why
    with pytest.raises(CompendiaError) as failed:
        router.retrieve(query)
    assert failed.value.code is ErrorCode.RERANKER_FAILED


def test_a_query_sees_one_revision_while_snapshots_are_swapped() -> None:
    snapshots = [harbour(round=1), harbour(tools=TOOLS[:2], round=2), harbour(scenarios=(), round=3)]
    known = {snapshot.revision: snapshot for snapshot in snapshots}
    router = Router(snapshots[0], HashingEncoder())
    stop, faults, seen = threading.Event(), [], set()

    def ask() -> None:
        while not stop.is_set():
            plan = router.route("Where is my parcel KO774120093PL, and then when is high water in Visby?")
            seen.add(plan.revision)
            faults.extend(check_plan(plan, known[plan.revision]))

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for turn in range(12):
        router.refresh(snapshots[turn % 3])
    stop.set()
    for thread in threads:
        thread.join()
    assert faults == []
    assert seen == set(known)
    assert router.revision.snapshot.revision == snapshots[2].revision


def test_a_refresh_that_changes_nothing_encodes_nothing() -> None:
    router = Router(harbour(), HashingEncoder())
    assert router.refresh(harbour(round=2)) == 0
    changed = [t.model_copy(update={"description": "New."}) if t.id == PARCEL else t for t in TOOLS]
    assert router.refresh(harbour(tools=changed, round=3)) == 1
    assert router.retrieve("parcel").candidates[0].tool == PARCEL
