"""Laws of ranking: experience adds evidence and never lends its absence."""

from __future__ import annotations

import doctest
from collections.abc import Iterable
from functools import cache

import pytest
from harbour import CONFLICTS, FERRY, MONEY, PARCEL, PRECAUTIONS, SCENARIOS, TIDES, TOOLS, harbour
from hypothesis import given, settings
from hypothesis import strategies as st

import compendia.router.calibrate
import compendia.router.rank
from compendia.contract import Precaution, Ranking, Scenario, Snapshot, Usage
from compendia.router.query import encode_query
from compendia.router.retrieve import load_revision
from compendia.router.route import Router
from compendia.text.encode import HashingEncoder


class Remembering(HashingEncoder):
    """Encodes each text once: the probes come back with every snapshot."""

    _row = cache(HashingEncoder._row)


ENCODER = Remembering()
IDS = [tool.id for tool in TOOLS]
WORDS = st.text(alphabet="abcdefgh åßд水 -.,?'", min_size=1, max_size=60).filter(str.strip)
SCENARIO_LISTS = st.lists(
    st.builds(Scenario, tool=st.sampled_from(IDS), text=WORDS),
    max_size=8,
    unique_by=lambda s: (s.tool, s.text),
)


@pytest.mark.parametrize("module", [compendia.router.rank, compendia.router.calibrate])
def test_examples_in_docstrings_hold(module: object) -> None:
    assert doctest.testmod(module).failed == 0  # type: ignore[arg-type]


def _ranking(snapshot: Snapshot, query: str, k: int = 10) -> Ranking:
    return load_revision(snapshot, ENCODER).rank(encode_query(query, ENCODER), k)


def _scores(snapshot: Snapshot, query: str) -> dict[str, float]:
    return {candidate.tool: candidate.score for candidate in _ranking(snapshot, query).candidates}


@settings(max_examples=25, deadline=None)
@given(scenarios=SCENARIO_LISTS, query=WORDS)
def test_experience_of_others_never_lowers_an_unexperienced_tool(
    scenarios: list[Scenario], query: str
) -> None:
    bare = harbour(scenarios=(), precautions=(), conflicts=(), usage=())
    taught = harbour(scenarios=scenarios, precautions=(), conflicts=(), usage=())
    before, after = _scores(bare, query), _scores(taught, query)
    experienced = {scenario.tool for scenario in scenarios}
    for tool in IDS:
        assert after[tool] >= before[tool]
        assert tool in experienced or after[tool] == before[tool]


@settings(max_examples=25, deadline=None)
@given(scenarios=SCENARIO_LISTS, query=WORDS, order=st.randoms(use_true_random=False))
def test_the_order_of_entries_changes_nothing(scenarios: list[Scenario], query: str, order: object) -> None:
    def shuffled(items: Iterable[object]) -> list[object]:
        kept = list(items)
        order.shuffle(kept)  # type: ignore[attr-defined]
        return kept

    one = harbour(scenarios=scenarios)
    other = harbour(
        scenarios=shuffled(scenarios),  # type: ignore[arg-type]
        tools=shuffled(TOOLS),  # type: ignore[arg-type]
        precautions=shuffled(PRECAUTIONS),  # type: ignore[arg-type]
        conflicts=shuffled(CONFLICTS),  # type: ignore[arg-type]
    )
    assert _ranking(one, query) == _ranking(other, query)


@settings(max_examples=25, deadline=None)
@given(query=WORDS, k=st.integers(1, 8))
def test_tools_are_distinct_sorted_and_their_features_make_the_score(query: str, k: int) -> None:
    ranking = _ranking(harbour(), query, k)
    found, weights = ranking.candidates, ranking.weights
    assert len({candidate.tool for candidate in found}) == len(found) == min(k, len(TOOLS))
    assert [c.score for c in found] == sorted((c.score for c in found), reverse=True)
    for candidate in found:
        made = sum(weights[n] * value for n, value in candidate.features.items() if n in weights)
        assert candidate.score == pytest.approx(made, abs=1e-4)


def test_what_worked_for_the_same_request_decides() -> None:
    query = "a request that no documentation resembles"
    taught = harbour(scenarios=[Scenario(tool=FERRY, text=query)])
    assert _ranking(taught, query).candidates[0].tool == FERRY


def test_a_precaution_costs_its_own_tool_and_never_vetoes() -> None:
    query = "Where is my parcel now?"
    free = _scores(harbour(precautions=(), scenarios=()), query)
    mild = _scores(harbour(precautions=[Precaution(tool=PARCEL, text=query)], scenarios=()), query)
    severe = _scores(
        harbour(precautions=[Precaution(tool=PARCEL, text=query, severity=3)], scenarios=()), query
    )
    assert severe[PARCEL] < mild[PARCEL] < free[PARCEL]
    assert {t: s for t, s in mild.items() if t != PARCEL} == {t: s for t, s in free.items() if t != PARCEL}


def test_a_dispute_costs_less_than_a_precaution_and_both_count_once() -> None:
    query = "Is the water at Turku deep enough in a storm?"
    neither = _scores(harbour(precautions=(), conflicts=()), query)[TIDES]
    disputed = _scores(harbour(precautions=()), query)[TIDES]
    warned = _scores(harbour(precautions=[Precaution(tool=TIDES, text=query)], conflicts=()), query)[TIDES]
    both = _scores(harbour(precautions=[Precaution(tool=TIDES, text=query)]), query)[TIDES]
    assert both == warned < disputed < neither


def test_reliability_is_small_evidence() -> None:
    query = "money"
    good = _scores(harbour(usage=[Usage(tool=MONEY, successes=1000)]), query)[MONEY]
    bad = _scores(harbour(usage=[Usage(tool=MONEY, successes=-40, failures=1000)]), query)[MONEY]
    none = _scores(harbour(usage=()), query)[MONEY]
    assert bad < none < good
    assert good - bad < 0.25


def test_a_sentence_of_its_own_is_heard_in_a_long_request() -> None:
    query = (
        "I pack for a long trip with my aunt and my two dogs. Where is my parcel? Nobody answers the phone."
    )
    router = Router(harbour(), ENCODER)
    assert router.retrieve(query).candidates[0].tool == PARCEL


def test_the_same_text_twice_in_a_snapshot_counts_once() -> None:
    doubled = [*SCENARIOS, Scenario(tool=MONEY, text=SCENARIOS[0].text)]
    found = _ranking(harbour(scenarios=doubled), "When is high water in Visby?")
    assert len(found.candidates) == len(TOOLS)
