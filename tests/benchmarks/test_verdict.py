"""Bounds, verdicts and the published files."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compendia.benchmarks.expected import load_expected
from compendia.benchmarks.registry import BENCHMARKS
from compendia.benchmarks.verdict import Bound, Verdict, judge, judge_all, overall
from compendia.contract import CompendiaError, ErrorCode

OK, NEAR, FAIL = Verdict.OK, Verdict.NEAR, Verdict.FAIL


@pytest.mark.parametrize(
    ("value", "bound", "verdict"),
    [
        (0.694, Bound(at_least=0.694), OK),
        (0.9, Bound(at_least=0.694), OK),
        (0.6871, Bound(at_least=0.694), NEAR),
        (0.687, Bound(at_least=0.694), FAIL),
        (10, Bound(at_most=10), OK),
        (10.1, Bound(at_most=10), NEAR),
        (10.11, Bound(at_most=10), FAIL),
        (0, Bound(at_least=1), FAIL),
        (1, Bound(at_most=0), FAIL),
        (-0.01, Bound(at_least=0.0001), FAIL),
    ],
)
def test_a_verdict_is_how_far_the_bound_is_missed(value: float, bound: Bound, verdict: Verdict) -> None:
    assert judge(value, bound) is verdict


@given(st.floats(-1e3, 1e3), st.floats(-1e3, 1e3))
def test_the_two_ends_mirror_each_other(value: float, limit: float) -> None:
    assert judge(value, Bound(at_least=limit)) is judge(-value, Bound(at_most=-limit))


def test_the_worst_verdict_is_the_overall_one() -> None:
    assert overall([OK, NEAR]) is NEAR
    assert overall([FAIL, OK]) is FAIL
    assert overall([]) is OK


def test_a_missing_or_unreadable_figure_is_an_error_and_not_a_verdict() -> None:
    with pytest.raises(CompendiaError, match="did not produce b") as caught:
        judge_all({"a": 1.0}, {"a": Bound(at_least=0), "b": Bound(at_least=0)})
    assert caught.value.code is ErrorCode.INTERNAL
    with pytest.raises(CompendiaError, match="not a finite number"):
        judge_all({"a": float("nan")}, {"a": Bound(at_least=0)})


def test_a_bound_has_exactly_one_end() -> None:
    for ends in ({}, {"at_least": 1.0, "at_most": 2.0}):
        with pytest.raises(ValueError, match="one of"):
            Bound(**ends)


REPORTED_WITHOUT_A_BOUND = {"typing", "oracle", "rendering", "two-llms", "taubench", "dev-mixed"}
"""Experiments that compare arms: nobody has published a figure that ours would have to reach."""


@pytest.mark.parametrize("benchmark", BENCHMARKS, ids=lambda benchmark: benchmark.name)
def test_every_published_figure_is_produced_by_its_benchmark_and_names_its_command(benchmark) -> None:
    bounds = load_expected(benchmark.name)
    assert bool(bounds) == (benchmark.name not in REPORTED_WITHOUT_A_BOUND)
    for key, bound in bounds.items():
        assert any(part.produces(key) for part in benchmark.parts), key
        assert bound.command.startswith(f"compendia bench run {benchmark.name}")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("key: [", "not YAML"),
        ("- a", "maps each figure"),
        ("a: 3", "at_least or at_most"),
        ("a: {at_least: 1, at_most: 2, command: x}", "one number"),
        ("a: {at_least: high, command: x}", "one number"),
        ("a: {at_least: 1}", "names the command"),
        ("a: {at_least: 1, command: x, hope: 2}", "at_least or at_most"),
    ],
)
def test_a_malformed_file_of_bounds_says_what_is_wrong(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "b.yaml").write_text(text)
    with pytest.raises(CompendiaError, match=message):
        load_expected("b", tmp_path)


def test_a_missing_file_of_bounds_is_named(tmp_path: Path) -> None:
    with pytest.raises(CompendiaError, match="published figures"):
        load_expected("absent", tmp_path)
