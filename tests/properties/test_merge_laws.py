"""The laws of the merge, over generated contributions (DESIGN section 4)."""

import os
import subprocess
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from leaves import ORGS, TEXTS, leaf, rounds_of_leaves, tool

from compendia.aggregator.executor import SerialExecutor
from compendia.aggregator.view import POLICIES, Contribution, Policy, fold, view
from compendia.aggregator.votes import vote
from compendia.contract import Precaution, Scenario, Snapshot, StanceConflict
from compendia.contract.document import check, snapshot_dumps, snapshot_loads
from compendia.text.encode import HashingEncoder

ENCODER = HashingEncoder(64)
GRANTS = {"acme": "ada"}
SLOW = settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)


def merged(contributions: Iterable[Contribution], policy: Policy = "conflict_log") -> Snapshot:
    return view(
        contributions, grants=GRANTS, encoder=ENCODER, executor=SerialExecutor(), policy=policy, round=2
    )


@SLOW
@given(rounds_of_leaves(), st.randoms(use_true_random=False), st.sampled_from(POLICIES))
def test_arrival_order_does_not_matter(found: Sequence[Contribution], random, policy: Policy) -> None:
    shuffled = list(found)
    random.shuffle(shuffled)
    assert snapshot_dumps(merged(shuffled, policy)) == snapshot_dumps(merged(found, policy))


@SLOW
@given(rounds_of_leaves(), st.data())
def test_a_tree_of_aggregators_gives_the_bytes_of_one(
    found: Sequence[Contribution], data: st.DataObject
) -> None:
    """Edges forward leaves, so grouping and repetition (a leaf that arrives by two ways) change nothing."""
    edges = [data.draw(st.integers(0, 2)) for _ in found]
    forwarded = [c for edge in range(3) for c, mine in zip(found, edges, strict=True) if mine == edge]
    twice = forwarded + [c for c in found if data.draw(st.booleans())]
    assert snapshot_dumps(merged(twice)) == snapshot_dumps(merged(found))


@SLOW
@given(rounds_of_leaves())
def test_folding_old_windows_changes_nothing(found: Sequence[Contribution]) -> None:
    assert snapshot_dumps(merged(fold(found))) == snapshot_dumps(merged(found))


@SLOW
@given(rounds_of_leaves(), st.sampled_from(POLICIES))
def test_a_snapshot_is_valid_and_survives_its_document(found: Sequence[Contribution], policy: Policy) -> None:
    snapshot = merged(found, policy)
    check(snapshot.compendium, computed_allowed=True)
    assert snapshot_loads(snapshot_dumps(snapshot)) == snapshot


@SLOW
@given(rounds_of_leaves())
def test_counts_are_the_sums_of_all_rounds(found: Sequence[Contribution]) -> None:
    snapshot = merged(found)
    registered = {t.id for t in snapshot.compendium.tools}
    expected: dict[str, int] = {}
    for contribution in found:
        for usage in contribution.compendium.usage:
            if usage.tool in registered:
                expected[usage.tool] = expected.get(usage.tool, 0) + usage.successes
    assert {u.tool: u.successes for u in snapshot.compendium.usage} == expected


@SLOW
@given(rounds_of_leaves())
def test_no_side_of_a_dispute_is_lost(found: Sequence[Contribution]) -> None:
    """What an organization says now is, by meaning, in the snapshot or in a conflict that names it."""
    snapshot = merged(found)
    newest = {c.org: max(o.round for o in found if o.org == c.org) for c in found}
    disputed = [c for c in snapshot.conflicts if isinstance(c, StanceConflict)]
    kept = {"use": snapshot.compendium.scenarios, "do_not": snapshot.compendium.precautions}
    for contribution in found:
        if contribution.round != newest[contribution.org]:
            continue
        said = [("use", s) for s in contribution.compendium.scenarios]
        said += [("do_not", p) for p in contribution.compendium.precautions]
        for stance, record in said:
            near = [r.text for r in kept[stance] if r.tool == record.tool]
            near += [c.text for c in disputed if c.tool == record.tool]
            assert _nearest(record.text, near) >= 0.7, (
                f"{stance} {record.text!r} of {contribution.org} is gone"
            )


def _nearest(text: str, others: Sequence[str]) -> float:
    if not others:
        return 0.0
    return float((ENCODER.encode_documents(others) @ ENCODER.encode_documents([text])[0]).max())


@given(st.integers(1, 50))
def test_one_organization_is_one_vote_whatever_its_volume(volume: int) -> None:
    text, id = TEXTS[0], "acme/weather/forecast"
    loud = leaf("ada", tools=(tool(id),), precautions=(Precaution(tool=id, text=text, count=volume),))
    calm = [leaf(org, tools=(tool(id),), scenarios=(Scenario(tool=id, text=text),)) for org in ("bee", "cyd")]
    snapshot = merged([loud, *calm])
    assert [s.text for s in snapshot.compendium.scenarios] == [text]
    assert snapshot.compendium.precautions == ()
    (conflict,) = snapshot.conflicts
    assert isinstance(conflict, StanceConflict)
    assert conflict.dissent[0].supporters == ("ada",)
    assert "1 organization said not to use it" in conflict.do_not_use_when()


def test_leaving_out_retracts_but_counts_stay() -> None:
    id = "acme/weather/forecast"
    first = leaf("ada", 1, tools=(tool(id),), scenarios=(Scenario(tool=id, text=TEXTS[0]),))
    second = leaf("ada", 2, tools=(tool(id, "Better."),))
    snapshot = merged([first, second])
    assert snapshot.compendium.scenarios == ()
    assert snapshot.compendium.tools[0].description == "Better."
    gone = leaf("ada", 2, tools=(tool("acme/weather/history"),))
    assert {t.id for t in merged([first, gone]).compendium.tools} == {"acme/weather/history"}


@given(
    st.lists(
        st.tuples(st.sampled_from(ORGS), st.sampled_from(["", "x", "y", "z"])),
        min_size=1,
        unique_by=lambda c: c[0],
    )
)
def test_a_vote_equals_its_slow_twin(claims: list[tuple[str, str]]) -> None:
    counts = {value: sum(1 for _, said in claims if said == value) for _, value in claims if value}
    result = vote(claims)
    if not counts:
        assert result.value == ""
    else:
        assert counts[result.value] == max(counts.values())
        assert {c.value for c in result.dissent} == set(counts) - {result.value}
    assert vote(list(reversed(claims))) == result


def test_an_unheard_dispute_shows_one_round_later() -> None:
    id = "acme/weather/forecast"
    use = leaf("ada", 1, tools=(tool(id),), scenarios=(Scenario(tool=id, text=TEXTS[0]),))
    avoid = leaf("bee", 1, tools=(tool(id),), precautions=(Precaution(tool=id, text=TEXTS[0]),))
    again = leaf("ada", 2, tools=(tool(id),), scenarios=(Scenario(tool=id, text=TEXTS[0]),))

    def shown(leaves: list[Contribution], round: int) -> int:
        return len(
            view(
                leaves,
                grants={},
                encoder=ENCODER,
                executor=SerialExecutor(),
                policy="round_delayed",
                round=round,
            ).conflicts
        )

    assert shown([use, avoid], 1) == 0
    assert shown([use, avoid, again], 2) == 1


_CHILD = """
import sys
sys.path[:0] = sys.argv[1:]
from test_merge_laws import merged
from golden_leaves import GOLDEN
print(merged(GOLDEN).revision)
"""


@pytest.mark.process
def test_every_process_makes_the_same_bytes() -> None:
    """Also with other hash seeds, which reorder sets."""
    here = Path(__file__).parent
    paths = [str(here), str(here.parent / "aggregator")]
    found = {
        subprocess.run(
            [sys.executable, "-c", _CHILD, *paths],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("0", "1", "77")
    }
    assert len(found) == 1
    assert found.pop().startswith("r2-")
