"""Figures against slow, obvious twins."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compendia.benchmarks.metrics import (
    Interval,
    check_figures,
    distinct,
    grouped,
    harmonic_interval,
    harmonic_mean,
    hit_at_k,
    mean,
    median,
    paired_bootstrap,
    quantile,
    wilson,
)

names = st.lists(st.sampled_from("abcdefgh"), max_size=12)


@given(names, st.sets(st.sampled_from("abcdefgh")), st.integers(1, 10))
def test_a_hit_is_a_gold_name_at_a_rank_up_to_k(ranking: list[str], gold: set[str], k: int) -> None:
    slow = False
    for rank, name in enumerate(ranking, 1):
        if rank <= k and name in gold:
            slow = True
    assert hit_at_k(ranking, gold, k) is slow


@given(names, st.integers(1, 10))
def test_aliases_take_one_place_and_keep_their_order(ranking: list[str], k: int) -> None:
    slow: list[str] = []
    for name in ranking:
        if name not in slow and len(slow) < k:
            slow.append(name)
    assert distinct(ranking, k) == slow


@given(st.lists(st.tuples(st.booleans(), st.sampled_from("xyz")), min_size=1, max_size=40))
def test_groups_and_all_are_plain_shares(rows: list[tuple[bool, str]]) -> None:
    found = grouped([hit for hit, _ in rows], [group for _, group in rows])
    assert list(found) == [*dict.fromkeys(group for _, group in rows), "all"]
    assert found["all"] == [hit for hit, _ in rows]
    for group in {group for _, group in rows}:
        assert found[group] == [hit for hit, of in rows if of == group]


@settings(deadline=None)  # the first example loads scipy
@given(st.lists(st.booleans(), min_size=1, max_size=200))
def test_a_wilson_interval_solves_its_own_equation(hits: list[bool]) -> None:
    share, z = sum(hits) / len(hits), 1.959963984540054
    low, high = wilson(hits)
    assert 0 <= low <= share <= high <= 1
    for end in (low, high):
        # Wilson 1927: the ends are the shares p at which |share - p| is z standard errors of p.
        if 0 < end < 1:
            assert abs(share - end) == pytest.approx(z * (end * (1 - end) / len(hits)) ** 0.5, rel=1e-6)


def test_the_harmonic_mean_leans_to_the_lower_share() -> None:
    one, other = [True] * 80 + [False] * 20, [True] * 40 + [False] * 60
    low, high = harmonic_interval(one, other, seed=1)
    assert low < harmonic_mean(0.8, 0.4) < high
    assert harmonic_mean(0.8, 0.4) == pytest.approx(1 / ((1 / 0.8 + 1 / 0.4) / 2))
    assert harmonic_interval([False] * 5, other, seed=1) == (0.0, 0.0)


def test_several_gold_tools_count_once() -> None:
    assert hit_at_k(["a", "b"], {"a", "b", "c"}, 2)


def slow_bootstrap(after: list[bool], before: list[bool], seed: int, resamples: int) -> Interval:
    """Draws every query of every resample."""
    draw = random.Random(seed)
    count = len(after)
    found = []
    for _ in range(resamples):
        picked = [draw.randrange(count) for _ in range(count)]
        found.append(sum(after[i] - before[i] for i in picked) / count)
    low, high = np.quantile(found, [0.025, 0.975])
    return Interval((sum(after) - sum(before)) / count, float(low), float(high))


def test_the_bootstrap_agrees_with_drawing_every_query() -> None:
    draw = random.Random(7)
    before = [draw.random() < 0.6 for _ in range(200)]
    after = [hit if draw.random() < 0.8 else not hit for hit in before]
    fast = paired_bootstrap(after, before, seed=1, resamples=4000)
    slow = slow_bootstrap(after, before, seed=1, resamples=4000)
    assert fast.mean == pytest.approx(slow.mean)
    assert fast.low == pytest.approx(slow.low, abs=0.011)
    assert fast.high == pytest.approx(slow.high, abs=0.011)


def test_the_bootstrap_repeats_with_its_seed_and_pairs() -> None:
    before = [True, False] * 50
    assert paired_bootstrap(before, before, seed=3) == Interval(0.0, 0.0, 0.0)
    after = [True] * 100
    assert paired_bootstrap(after, before, seed=3) == paired_bootstrap(after, before, seed=3)
    found = paired_bootstrap(after, before, seed=3)
    assert found.low < found.mean == 0.5 < found.high
    with pytest.raises(ValueError, match="paired"):
        paired_bootstrap([True], [True, False], seed=3)


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=30))
def test_the_median_has_half_on_either_side(values: list[float]) -> None:
    ordered = sorted(values)
    middle = len(ordered) // 2
    slow = ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2
    assert median(values) == pytest.approx(slow)


def test_nothing_measured_is_an_error_and_not_zero() -> None:
    for call in (lambda: mean([]), lambda: quantile([], 0.5), lambda: wilson([])):
        with pytest.raises(ValueError, match=r"no queries|no measurements"):
            call()
    with pytest.raises(ValueError, match="not a finite number"):
        check_figures({"x": float("nan")})
