"""What a set of leaves says: windows that add up, words that are replaced, digests that contradict."""

from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from leaves import TEXTS, leaf, rounds_of_leaves, tool, window

from compendia.aggregator.contribution import (
    Contribution,
    Equivocation,
    accumulates,
    counting,
    fold,
    statements,
    sum_fields,
    union,
)
from compendia.contract import SECTIONS, Precaution, Record, Scenario, Usage
from compendia.contract.signature import record_key

TOOL = "acme/weather/forecast"
SLOW = settings(max_examples=40, deadline=None)


def said(leaves: Sequence[Contribution]) -> dict[str, dict[str, tuple[Record, ...]]]:
    return {s.org: dict(s.sections) for s in statements(counting(leaves)[0])}


def worked(round: int, count: int, *texts: str, **more: object) -> Contribution:
    return leaf(
        "ada",
        round,
        tools=(tool(TOOL),),
        usage=(Usage(tool=TOOL, successes=count),),
        scenarios=tuple(Scenario(tool=TOOL, text=text, count=count) for text in texts),
        **more,
    )


def test_counts_of_a_scenario_that_still_stands_add_up_over_windows() -> None:
    found = said([worked(1, 5, TEXTS[0], TEXTS[2]), worked(2, 3, TEXTS[0])])["ada"]
    assert found["scenarios"] == (Scenario(tool=TOOL, text=TEXTS[0], count=8),)
    assert found["usage"] == (Usage(tool=TOOL, successes=8),)


def test_what_is_said_again_has_all_its_counts() -> None:
    found = said([worked(1, 5, TEXTS[0]), worked(2, 1), worked(3, 2, TEXTS[0])])["ada"]
    assert found["scenarios"] == (Scenario(tool=TOOL, text=TEXTS[0], count=7),)


def test_a_window_that_reached_two_edges_counts_once_as_sent_last() -> None:
    again = worked(2, 6, TEXTS[0], window=window(1))
    found = said([worked(1, 5, TEXTS[0]), again])["ada"]
    assert found["usage"] == (Usage(tool=TOOL, successes=6),)
    assert found["scenarios"] == (Scenario(tool=TOOL, text=TEXTS[0], count=6),)


def test_uploads_without_a_window_replace_each_other() -> None:
    bare = [
        leaf(
            "ada",
            r,
            window=None,
            tools=(tool(TOOL),),
            scenarios=(Scenario(tool=TOOL, text=TEXTS[0], count=4),),
        )
        for r in (1, 2)
    ]
    assert said(bare)["ada"]["scenarios"] == (Scenario(tool=TOOL, text=TEXTS[0], count=4),)


def test_only_usage_is_nothing_but_its_numbers() -> None:
    assert [name for name, kind in SECTIONS.items() if accumulates(kind)] == ["usage"]
    assert [name for name, kind in SECTIONS.items() if sum_fields(kind)] == [
        "usage",
        "scenarios",
        "precautions",
        "templates",
    ]


@SLOW
@given(rounds_of_leaves())
def test_statements_equal_their_slow_twin(leaves: Sequence[Contribution]) -> None:
    """The twin asks, for each record of the newest round and each sum, what every round adds to it."""
    for org, sections in said(leaves).items():
        mine = sorted((c for c in leaves if c.org == org), key=lambda c: c.round)
        for name, kind in SECTIONS.items():
            keys = {record_key(r) for r in getattr(mine[-1].compendium, name)}
            if name == "usage":
                keys = {record_key(r) for c in mine for r in c.compendium.usage}
            assert {record_key(r) for r in sections[name]} == keys
            for record in sections[name]:
                for field in sum_fields(kind):
                    parts = [
                        getattr(r, field)
                        for c in mine
                        for r in getattr(c.compendium, name)
                        if record_key(r) == record_key(record)
                    ]
                    assert getattr(record, field) == sum(parts)


@SLOW
@given(rounds_of_leaves(), st.data())
def test_union_is_commutative_associative_and_idempotent(
    leaves: Sequence[Contribution], data: st.DataObject
) -> None:
    cuts = sorted(data.draw(st.lists(st.integers(0, len(leaves)), min_size=2, max_size=2)))
    a, b, c = leaves[: cuts[0]], leaves[cuts[0] : cuts[1]], leaves[cuts[1] :]
    assert union(a, b, c) == union(c, b, a) == union(union(a, b), c) == union(a, union(b, c))
    assert union(a, a) == union(a)


@SLOW
@given(rounds_of_leaves())
def test_folding_twice_is_folding_once_and_the_whole_leaf_wins(leaves: Sequence[Contribution]) -> None:
    folded = fold(leaves)
    assert fold(folded) == folded
    assert union(leaves, folded) == union(folded, leaves) == union(leaves)


@SLOW
@given(rounds_of_leaves(), st.integers(1, 2))
def test_a_checkpoint_says_the_same_also_when_later_rounds_join(
    leaves: Sequence[Contribution], until: int
) -> None:
    earlier = [c for c in leaves if c.round <= until]
    later = [c for c in leaves if c.round > until]
    assert said([*fold(earlier), *later]) == said(leaves)


def test_folding_keeps_numbers_and_drops_words() -> None:
    first = leaf(
        "ada",
        1,
        tools=(tool(TOOL, "Old words."),),
        usage=(Usage(tool=TOOL, successes=5),),
        precautions=(Precaution(tool=TOOL, text=TEXTS[0], evidence="it broke", severity=3, count=2),),
    )
    old, newest = fold([first, worked(2, 1)])
    assert old.folded
    assert old.key == first.key
    assert old.compendium.tools == ()
    assert old.compendium.precautions == (Precaution(tool=TOOL, text=TEXTS[0], count=2),)
    assert old.compendium.usage == first.compendium.usage
    assert not newest.folded


def test_two_digests_in_one_round_count_neither_and_the_round_before_stands() -> None:
    before = worked(1, 5, TEXTS[0])
    one, other = worked(2, 1, TEXTS[1]), worked(2, 2, TEXTS[2])
    counted, (conflict,) = counting([other, before, one])
    assert counted == [before]
    assert (conflict.winner, conflict.resolved_by) == (None, "none")
    assert {claim.value for claim in conflict.dissent} == {one.digest, other.digest}


def test_the_first_digest_counts_where_one_edge_refused_the_second() -> None:
    only = worked(1, 5, TEXTS[0])
    refused = [Equivocation("ada", 1, only.digest, mark) for mark in ("e" * 64, "f" * 64)]
    counted, (conflict,) = counting([only], [*refused, refused[0]])
    assert counted == [only]
    assert conflict.winner is not None
    assert conflict.winner.value == only.digest
    assert [claim.value for claim in conflict.dissent] == ["e" * 64, "f" * 64]


def test_two_edges_that_kept_what_the_other_refused_count_neither() -> None:
    """Also when only one of the two leaves has been forwarded so far."""
    here, there = worked(1, 1, TEXTS[0]), worked(1, 2, TEXTS[1])
    evidence = [
        Equivocation("ada", 1, kept=here.digest, refused=there.digest),
        Equivocation("ada", 1, kept=there.digest, refused=here.digest),
    ]
    for leaves in ([here, there], [here], [there]):
        counted, (conflict,) = counting(leaves, evidence)
        assert counted == []
        assert {claim.value for claim in conflict.dissent} == {here.digest, there.digest}


@pytest.mark.parametrize("name", list(SECTIONS))
def test_a_statement_has_one_record_a_key(name: str) -> None:
    found = said([worked(1, 5, *TEXTS), worked(2, 5, *TEXTS)])["ada"][name]
    keys = [record_key(record) for record in found]
    assert len(keys) == len(set(keys))
