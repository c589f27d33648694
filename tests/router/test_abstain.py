"""Abstention: out-of-scope requests get no tool, whatever the encoder and however small the catalog."""

from __future__ import annotations

import numpy as np
import pytest
from harbour import SOIL, TIDES, TOOLS, harbour

from compendia.contract import Endpoint, Parameter, Scenario, Snapshot, ToolMetadata
from compendia.router.abstain import DEFAULT, FLOOR, Signs, best_evidence, evidence, lacked
from compendia.router.calibrate import LEAST_USUAL, Background, capabilities, probes
from compendia.router.coverage import WordCoverage
from compendia.router.index import HybridIndex
from compendia.router.query import encode_all, encode_query, join, requests
from compendia.router.retrieve import load_revision
from compendia.router.route import Router
from compendia.router.understand import clauses
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
REQUESTS = (
    "show high water",
    "book the ferry",
    "track a parcel",
    "convert some euros",
    "read soil moisture",
    "cancel my crossing",
    "list every notice",
    "send the letter",
)
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


def test_a_request_for_a_tool_is_near_to_tools_of_its_field_and_another_as_if_it_hardly_were() -> None:
    assert len(capabilities()) == len(set(capabilities()))
    level = Background(HashingEncoder())
    asked = encode_query("This tool allows you to search for flights to Oslo", HashingEncoder())
    assert level.usual(asked) > LEAST_USUAL
    assert level.usual(level.probes[0]) == LEAST_USUAL


def test_evidence_grows_with_everything_that_speaks_for_a_tool() -> None:
    nothing, something = np.zeros(1), np.full(1, 0.5)
    english = np.ones(1, bool)
    for at in range(4):
        columns = [something if place == at else nothing for place in range(4)]
        found = evidence(Signs(*columns, english, nothing, nothing, nothing))
        assert found > evidence(Signs(*[nothing] * 4, english, nothing, nothing, nothing))
    sure = evidence(Signs(*[np.ones(1)] * 4, english, nothing, nothing, nothing))
    assert 0.9 < sure < 1
    for at in range(3):
        against = [np.ones(1) if place == at else nothing for place in range(3)]
        assert evidence(Signs(*[np.ones(1)] * 4, english, *against)) < sure


@pytest.mark.parametrize(
    ("query", "told"),
    [("Ferry departures", False), ("Ferry departures at Turku", True), ("Ferry departures at <TEXT>", True)],
)
def test_an_argument_that_the_request_does_not_give_speaks_against_a_tool(query: str, told: bool) -> None:
    needed = Parameter(name="port", type="string", required=True, enum=("Turku", "Visby"))
    wanted = needed.model_copy(update={"required": False})
    demanding, content = (
        _evidence(
            harbour(
                tools=(
                    ToolMetadata(
                        id="a/b/ferry",
                        title="Ferry departures",
                        endpoints=(Endpoint(name="next", parameters=(parameter,)),),
                    ),
                ),
                scenarios=(),
                precautions=(),
                conflicts=(),
            ),
            query,
        )
        for parameter in (needed, wanted)
    )
    assert demanding == content if told else demanding < content


def test_what_a_request_lacks_counts_by_clause_and_a_part_lacks_nothing() -> None:
    needed = Parameter(name="port", type="string", required=True, enum=("Turku", "Visby"))
    endpoint = Endpoint(name="next", parameters=(needed,))
    tool = ToolMetadata(id="a/b/ferry", title="Ferry", endpoints=(endpoint,))
    text = "Show ferry departures and then tell me the weather"
    whole, *parts = encode_all([text, *clauses(text)], HashingEncoder())
    assert len(parts) == 2
    assert lacked(whole, tool) == 0.5
    assert lacked(encode_query("Show ferry departures", HashingEncoder()), tool) == 1.0
    assert [lacked(part, tool) for part in parts] == [0.0, 0.0]
    assert join(parts).part
    assert lacked(join(parts), tool) == 0.0


def test_words_refuse_only_what_they_could_have_matched() -> None:
    near, usual, nothing = np.full(1, 0.5), np.full(1, 0.25), np.zeros(1)
    foreign, english = (
        evidence(Signs(near, nothing, nothing, nothing, np.full(1, same), nothing, usual, nothing))
        for same in (False, True)
    )
    assert foreign > english + 0.2


def test_scenarios_asked_without_themselves_set_the_threshold() -> None:
    asked = [f"{request} {when}" for request in REQUESTS for when in ("today", "tomorrow", "at noon", "now")]
    scenarios = tuple(Scenario(tool=TOOLS[number % 3].id, text=text) for number, text in enumerate(asked))
    snapshot = harbour(scenarios=scenarios, conflicts=())
    revision = load_revision(snapshot, HashingEncoder())
    found = sorted(_without_itself(snapshot, scenario) for scenario in revision.snapshot.compendium.scenarios)
    below = sum(value < revision.threshold for value in found) / len(found)
    assert 0.01 <= below <= 0.1
    assert (
        load_revision(harbour(scenarios=scenarios[:5], conflicts=()), HashingEncoder()).threshold >= DEFAULT
    )


def _without_itself(snapshot: Snapshot, asked: Scenario) -> float:
    """The slow way: a snapshot without the scenario, its words as a query."""
    others = tuple(s for s in snapshot.compendium.scenarios if s.text != asked.text)
    return _evidence(harbour(scenarios=others, conflicts=()), asked.text)


def _evidence(snapshot: Snapshot, text: str) -> float:
    index = HybridIndex(snapshot, HashingEncoder())
    query = encode_query(text, HashingEncoder())
    words = WordCoverage(index.read)
    level = Background(HashingEncoder())
    (found,) = best_evidence(requests([[query]]), index.search(query), level, words, index.tools)
    return float(found)
