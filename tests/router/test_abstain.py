"""Abstention: out-of-scope requests get no tool, whatever the encoder and however small the catalog."""

from __future__ import annotations

import pytest
from harbour import SOIL, TIDES, TOOLS, harbour

from compendia.contract import Snapshot
from compendia.router.abstain import FLOOR
from compendia.router.calibrate import Background, probes
from compendia.router.retrieve import load_revision
from compendia.router.route import Router
from compendia.text.encode import Encoder, HashingEncoder, load_encoder

OUT_OF_SCOPE = (
    "Bake a chocolate cake",
    "Tell me a joke about penguins",
    "How do I iron a silk blouse?",
    "Wie stricke ich einen Schal?",
)
IN_SCOPE = {
    TIDES: "When is low tide at the harbour tomorrow?",
    SOIL: "How moist is the soil near Uppsala?",
}
ONLY_TIDES = harbour(tools=TOOLS[:1], scenarios=(), precautions=(), conflicts=())
LOADED: dict[str, Encoder] = {}


@pytest.fixture(params=["minilm", "e5"])
def encoder(request: pytest.FixtureRequest) -> Encoder:
    if request.param not in LOADED:
        LOADED[request.param] = load_encoder(request.param)
    return LOADED[request.param]


@pytest.mark.model
@pytest.mark.parametrize("snapshot", [harbour(), harbour(scenarios=()), ONLY_TIDES])
def test_out_of_scope_is_refused_and_in_scope_is_not(snapshot: Snapshot, encoder: Encoder) -> None:
    router = Router(snapshot, encoder)
    for query in OUT_OF_SCOPE:
        plan = router.route(query)
        assert plan.abstained, query
        assert plan.why.startswith("Nothing fits")
    known = {tool.id for tool in snapshot.compendium.tools}
    for tool, query in IN_SCOPE.items():
        if tool in known:
            plan = router.route(query)
            assert [step.tool for step in plan.steps] == [tool]


def test_an_empty_catalog_answers_nothing() -> None:
    router = Router(harbour(tools=(), conflicts=()), HashingEncoder())
    plan = router.route("When is high water?")
    assert plan.abstained
    assert plan.rankings[0].candidates == ()
    assert router.retrieve("anything").candidates == ()


@pytest.mark.parametrize("query", ["zzzz qqqq", "???!!!", "🦀", "的"])
def test_a_query_that_matches_nothing_is_refused(query: str) -> None:
    assert Router(harbour(), HashingEncoder()).route(query).abstained


def test_the_threshold_is_the_same_each_time_and_has_a_floor() -> None:
    made = {load_revision(harbour(), HashingEncoder()).threshold for _ in range(3)}
    assert len(made) == 1
    assert made.pop() >= FLOOR


def test_probes_are_many_distinct_and_do_not_count_themselves() -> None:
    assert len(probes()) == len(set(probes())) == 60
    level = Background(HashingEncoder())
    probe = level.probes[0]
    assert level.level(probe.vector, "something else") > level.level(probe.vector, probe.text)
