"""The figures of a run, pure: accuracy, recall, their paired difference with its interval, quantiles.

A *ranking* is a sequence of tool names, best first, each once; *gold* is the set of names that are right.
On a query with several gold tools any of them counts, for acc@1 and for recall@k alike (`hit_at_k`): so do
the published tables that these figures are compared with.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

ALL = "all"


def hit_at_k(ranking: Sequence[str], gold: AbstractSet[str], k: int) -> bool:
    """Whether any gold tool is among the first k of the ranking.

    >>> hit_at_k(["a", "b", "c"], {"c", "z"}, 2), hit_at_k(["a", "b", "c"], {"c", "z"}, 3)
    (False, True)
    """
    return any(name in gold for name in ranking[:k])


def distinct(names: Sequence[str], k: int) -> list[str]:
    """The first k different names, in order: aliases of one tool take one place.

    >>> distinct(["a", "b", "a", "c"], 3)
    ['a', 'b', 'c']
    """
    return list(dict.fromkeys(names))[:k]


def mean(values: Sequence[float] | NDArray[np.float64]) -> float:
    """Their mean. Raises ValueError on none: a figure over nothing is not 0."""
    if len(values) == 0:
        raise ValueError("a mean over no queries")
    return float(np.mean(values))


def grouped(hits: Sequence[bool], groups: Sequence[str]) -> dict[str, list[bool]]:
    """The hits of each group in order of first appearance, then of `all`.

    >>> grouped([True, False, True], ["x", "x", "y"])
    {'x': [True, False], 'y': [True], 'all': [True, False, True]}
    """
    members: dict[str, list[bool]] = {}
    for hit, group in zip(hits, groups, strict=True):
        members.setdefault(group, []).append(hit)
    return members | {ALL: list(hits)}


@dataclass(frozen=True)
class Interval:
    """A mean paired difference and the ends of its bootstrap interval."""

    mean: float
    low: float
    high: float


def paired_bootstrap(
    after: Sequence[bool],
    before: Sequence[bool],
    *,
    seed: int,
    resamples: int = 10_000,
    confidence: float = 0.95,
) -> Interval:
    """Mean of (after - before) over the same queries, with its percentile bootstrap interval.

    Queries are resampled with replacement (Efron & Tibshirani 1993, chapter 13). A paired difference takes
    three values only, so a resample is one multinomial draw over their counts: the same distribution as
    drawing each query, at a cost that does not grow with their number.
    """
    if len(after) != len(before):
        raise ValueError(f"{len(after)} results are paired with {len(before)}")
    difference = np.asarray(after, dtype=np.int64) - np.asarray(before, dtype=np.int64)
    count = len(difference)
    observed = mean(difference.astype(np.float64))
    shares = np.array([np.sum(difference == value) for value in (-1, 0, 1)]) / count
    draws = np.random.default_rng(seed).multinomial(count, shares, size=resamples)
    means = (draws[:, 2] - draws[:, 0]) / count
    tail = (1 - confidence) / 2
    low, high = np.quantile(means, [tail, 1 - tail])
    return Interval(observed, float(low), float(high))


def wilson(hits: Sequence[bool], confidence: float = 0.95) -> tuple[float, float]:
    """The score interval of a share (Wilson 1927). Raises ValueError on none."""
    from scipy.stats import binomtest

    if len(hits) == 0:
        raise ValueError("an interval over no queries")
    ends = binomtest(sum(hits), len(hits)).proportion_ci(confidence, method="wilson")
    return float(ends.low), float(ends.high)


def harmonic_mean(one: float, other: float) -> float:
    """The harmonic mean of two shares; 0 where either is.

    >>> harmonic_mean(0.5, 1.0), harmonic_mean(0.8, 0.0)
    (0.6666666666666666, 0.0)
    """
    return 2 * one * other / (one + other) if one and other else 0.0


def harmonic_interval(
    one: Sequence[bool],
    other: Sequence[bool],
    *,
    seed: int,
    resamples: int = 10_000,
    confidence: float = 0.95,
) -> tuple[float, float]:
    """The percentile bootstrap interval of the harmonic mean of two shares, each resampled by itself."""
    draw = np.random.default_rng(seed)
    first = draw.binomial(len(one), mean(one), resamples) / len(one)
    second = draw.binomial(len(other), mean(other), resamples) / len(other)
    both = first + second
    means = np.divide(2 * first * second, both, out=np.zeros(resamples), where=both > 0)
    tail = (1 - confidence) / 2
    low, high = np.quantile(means, [tail, 1 - tail])
    return float(low), float(high)


def quantile(values: Sequence[float], q: float) -> float:
    """The q-quantile (0..1), linear between neighbours. Raises ValueError on none."""
    if len(values) == 0:
        raise ValueError("a quantile of no measurements")
    return float(np.quantile(np.asarray(values, dtype=np.float64), q))


def median(values: Sequence[float]) -> float:
    """The middle of the measurements. Raises ValueError on none."""
    return quantile(values, 0.5)


def check_figures(figures: Mapping[str, float]) -> None:
    """Raise ValueError for a figure that is not a finite number."""
    for key, value in figures.items():
        if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
            raise ValueError(f"{key} is {value!r}, not a finite number")
