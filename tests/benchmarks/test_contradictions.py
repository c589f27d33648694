"""Contradictions: what is put into a split, and that every policy merges the same of it."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from compendia.benchmarks import contradictions, metatool, splits
from compendia.benchmarks.benchmark import Options, Session
from compendia.benchmarks.contradictions import DESIGNS, VOTES, Injected, Votes
from compendia.benchmarks.merge_arms import POLICY, Contest, snapshots
from compendia.benchmarks.rendering import flat_entry
from compendia.benchmarks.splits import Item, Split
from compendia.contract import Precaution, Scenario, StanceConflict
from compendia.text.encode import HashingEncoder

TOOLS = ("tides", "currents", "kiln", "mint")
ASKED = (
    "please show everything about",
    "why does nobody understand",
    "quickly compare yesterday's",
    "forecast upcoming",
    "explain to grandmother",
    "delete all of my",
    "count how many",
    "translate into Portuguese",
    "where can someone buy",
    "is it dangerous with",
)


def split() -> Split:
    rows = tuple((f"{words} {tool}", tool) for tool in TOOLS for words in ASKED)
    held_out = metatool.HoldOut((), tuple(range(0, len(rows), 2)), tuple(range(1, len(rows), 2)))
    descriptions = {tool: f"Tells about {tool}" for tool in TOOLS}
    return splits.metatool(metatool.MetaTool(descriptions, rows, held_out), metatool.PUBLISHED_SEED)


SPLIT = split()
IDS = [tool.id for tool in SPLIT.documentation.tools]
WRONG = dict(zip(IDS, IDS[1:] + IDS[:1], strict=True))


def voices(injected: Injected, query: str) -> tuple[int, int]:
    """Organizations for and against, of a request that is hit."""
    sides = (injected.successes, injected.failures)
    use, do_not = (len({item.client for item in side if item.query == query}) for side in sides)
    return use, do_not


@pytest.mark.parametrize(
    ("votes", "expected"), [("outvoted", (1, 2)), ("tied", (1, 1)), ("outvoting", (2, 1))]
)
def test_a_misattributed_request_credits_the_wrong_tool_and_others_warn(
    votes: Votes, expected: tuple[int, int]
) -> None:
    injected = contradictions.misattribute(SPLIT, WRONG, 0.4, 42, (votes,))
    assert len(injected.removed) == round(0.4 * len(SPLIT.experience))
    for item in injected.removed:
        assert voices(injected, item.query) == expected
        said = [other for other in injected.successes + injected.failures if other.query == item.query]
        assert {other.tool for other in said} == {WRONG[item.tool]}
        assert item.client in {other.client for other in injected.successes}
    warning = {(item.client, item.query) for item in injected.failures}
    assert not warning & {(item.client, item.query) for item in injected.successes}


def test_the_three_ways_of_voting_are_dealt_evenly() -> None:
    injected = contradictions.misattribute(SPLIT, WRONG, 0.6, 42)
    found = [voices(injected, item.query) for item in injected.removed]
    assert [found.count(kind) for kind in ((1, 2), (1, 1), (2, 1))] == [4, 4, 4]
    assert len(VOTES) == 3


def test_a_higher_rate_hits_what_a_lower_one_does_and_another_seed_others() -> None:
    few, many, other = (
        set(contradictions.misattribute(SPLIT, WRONG, rate, seed).removed)
        for rate, seed in ((0.2, 42), (0.6, 42), (0.2, 43))
    )
    assert few < many
    assert few != other


def test_without_a_rate_nothing_is_changed() -> None:
    injected = contradictions.misattribute(SPLIT, WRONG, 0.0, 42)
    assert injected == Injected((), (), ())
    assert contradictions.with_contradictions(SPLIT, injected) == SPLIT


@pytest.mark.parametrize("design", DESIGNS)
def test_the_papers_contradictions_leave_the_truth_and_deny_it(design: contradictions.Design) -> None:
    injected = contradictions.contradict(SPLIT, 0.4, 42, design)
    changed = contradictions.with_contradictions(SPLIT, injected)
    assert set(SPLIT.experience) <= set(changed.experience)
    assert len(injected.successes) == (len(injected.failures) if design == "pairs" else 0)
    true = {(item.query, item.tool): item.client for item in SPLIT.experience}
    assert all(true[item.query, item.tool] != item.client for item in injected.failures)


def test_a_client_documents_what_it_has_an_opinion_about() -> None:
    tides = IDS[0]
    item = Item("client2", "fire my vase", tides)
    bare = contradictions.with_contradictions(SPLIT, Injected((), (), ()))
    poor = replace(bare, holdings={**bare.holdings, "client2": frozenset()})
    assert contradictions.with_contradictions(poor, Injected((), (), (item,))).holdings["client2"] == {tides}


def test_the_confusable_tool_is_the_nearest_that_is_not_an_alias() -> None:
    vectors = np.array([[1, 0], [1, 0], [0.8, 0.6], [0, 1]], np.float32)
    names = {"a": "one", "a2": "one", "b": "two", "c": "three"}
    assert contradictions.confusable(list(names), vectors, names) == {"a": "b", "a2": "b", "b": "a", "c": "b"}


def test_what_was_known_earlier_is_a_share_of_the_requests_with_all_that_is_said_of_each() -> None:
    injected = contradictions.contradict(SPLIT, 1.0, 42, "pairs")
    everything = contradictions.with_contradictions(SPLIT, injected)
    early = contradictions.before(everything, 2 / 3)
    known = {item.query for item in early.experience}
    assert 0 < len(known) < len({item.query for item in everything.experience})
    assert {item.query for item in early.failures} == known
    assert early.experience == tuple(item for item in everything.experience if item.query in known)


def test_every_policy_merges_the_same_and_the_log_alone_keeps_who_was_outvoted() -> None:
    injected = contradictions.misattribute(SPLIT, WRONG, 0.4, 42, ("outvoting",))
    changed = contradictions.with_contradictions(SPLIT, injected)
    made = snapshots(changed, (*POLICY, "centralized", "docs-only"), HashingEncoder())
    assert len({made[arm].members for arm in POLICY}) == 1
    logged = {arm: [c for c in made[arm].conflicts if isinstance(c, StanceConflict)] for arm in POLICY}
    assert len(logged["typed"]) > len(logged["delayed"]) > 0
    assert logged["majority"] == logged["untyped"] == []
    assert made["typed"].compendium == made["majority"].compendium
    wrong = {(item.tool, item.query) for item in injected.failures}
    assert wrong == {(c.tool, c.text) for c in logged["typed"]}
    pooled = made["centralized"].compendium
    assert wrong == {(p.tool, p.text) for p in pooled.precautions if isinstance(p, Precaution)}
    assert wrong < {(s.tool, s.text) for s in pooled.scenarios if isinstance(s, Scenario)}
    assert not made["docs-only"].compendium.scenarios


def test_answers_are_logged_beside_what_was_injected(tmp_path: Path) -> None:
    session = Session(Options(encoder="hashing"), tmp_path)
    contest = Contest(session, SPLIT, SPLIT.queries, HashingEncoder())
    injected = contradictions.misattribute(SPLIT, WRONG, 0.4, 42)
    found = contest.answers("40", injected, ("typed", "majority"))
    assert {arm: len(evaluation.rankings) for arm, evaluation in found.items()} == {
        "typed": len(SPLIT.queries),
        "majority": len(SPLIT.queries),
    }
    rows = [json.loads(line) for line in (tmp_path / "40_injected.jsonl").read_text().splitlines()]
    assert rows == injected.rows()
    assert session.notes["injected/40"]["digest"] == injected.digest()
    assert set(session.logs) == {"40_injected.jsonl", "40_typed.jsonl", "40_majority.jsonl"}


def test_a_flat_entry_holds_all_that_is_said_of_a_tool_and_of_no_other() -> None:
    told = snapshots(SPLIT, ("typed",), HashingEncoder())["typed"].compendium
    entry = flat_entry(told, IDS[0])
    own = [scenario.text for scenario in told.scenarios if scenario.tool == IDS[0]]
    assert own
    assert all(text in entry for text in own)
    assert not any(tool in entry for tool in IDS[1:])
