"""Laws of the score: experience only adds, and to the tools that have it."""

from __future__ import annotations

import doctest
from dataclasses import replace

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import expit

import compendia.router.evidence
import compendia.router.terms
from compendia.router.evidence import (
    DOCUMENTATION,
    EXPERIENCE,
    SHORTLIST,
    Columns,
    TitleWords,
    nearest_by_tool,
    standardized,
)
from compendia.router.mixture import bonus, gate_columns, gate_odds, log_shares, total
from compendia.router.weights import GATE, Weights, default_weights, no_weights

WEIGHTS = default_weights(20)


def test_examples_in_docstrings_hold() -> None:
    assert doctest.testmod(compendia.router.terms).failed == 0
    assert doctest.testmod(compendia.router.evidence).failed == 0


def _columns(seed: int, tools: int) -> tuple[Columns, Columns]:
    draw = np.random.default_rng(seed)
    documentation = {name: draw.normal(size=(3, tools)) for name in DOCUMENTATION}
    return documentation, {name: draw.random((3, tools)) for name in EXPERIENCE}


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 10_000), tools=st.integers(1, 12), data=st.data())
def test_the_bonus_is_what_makes_the_mixture(seed: int, tools: int, data: st.DataObject) -> None:
    """log D + bonus orders tools as P = g E + (1 - g) D does: the slow, obvious twin."""
    used = np.asarray(data.draw(st.lists(st.booleans(), min_size=tools, max_size=tools)))
    unlike = data.draw(st.floats(0, 2))
    weights = replace(WEIGHTS, unlike=unlike)
    documentation, experience = _columns(seed, tools)
    added = bonus(documentation, experience, used, weights)
    assert (added >= 0).all()
    assert not added[:, ~used].any()
    if not used.any():
        return
    spoken = total(documentation, weights.documentation)
    documented = np.exp(log_shares(spoken - unlike * used))
    shares = np.exp(log_shares(total({**documentation, **experience}, weights.experience), used))
    opened = gate_columns(experience["nearest_scenario"], spoken, used)
    gate = expit(gate_odds(opened, weights.gate))[:, None]
    both = np.log(gate * shares + (1 - gate) * documented)
    made = spoken - unlike * used + added
    np.testing.assert_allclose(made - made[:, :1], both - both[:, :1], atol=1e-6)


def test_a_nearer_scenario_opens_the_gate() -> None:
    used = np.asarray([True, False])
    spoken = np.asarray([[2.0, 2.0]])
    odds = [
        float(gate_odds(gate_columns(np.asarray([[near, 0.0]]), spoken, used), WEIGHTS.gate)[0])
        for near in (0.0, 0.5, 1.0)
    ]
    assert odds == sorted(odds)
    assert odds[0] < -2 < 0 < odds[2]


def test_an_unused_tool_that_fits_by_itself_closes_the_gate_whatever_leads() -> None:
    used, near = np.asarray([True, False]), np.asarray([[0.5, 0.0]])
    odds = [
        float(gate_odds(gate_columns(near, np.asarray([[fits, fits]]), used), WEIGHTS.gate)[0])
        for fits in (0.0, 2.0, 4.0)
    ]
    assert odds == sorted(odds, reverse=True) != sorted(odds)


def test_without_unused_tools_documentation_does_not_move_the_gate() -> None:
    found = gate_columns(np.asarray([[0.5, 0.2]]), np.asarray([[3.0, 1.0]]), np.asarray([True, True]))
    assert {name: float(column[0]) for name, column in found.items()} == {
        "nearest": 0.5,
        "documentation": 0.0,
        "unused": 0.0,
    }


def test_the_default_weights_lie_between_the_two_catalogs_they_are_from() -> None:
    brief, middle, full = (default_weights(words).flat() for words in (1, 18, 500))
    for name, value in middle.items():
        low, high = sorted((brief[name], full[name]))
        assert low <= value <= high
    assert set(brief) == set(no_weights().flat())
    assert all(value >= 0 for name, value in brief.items() if name != "gate/bias")
    assert Weights.of(brief).flat() == brief
    assert {f"gate/{name}" for name in GATE} <= set(brief)


def test_a_title_counts_by_the_rarity_of_its_words() -> None:
    titles = [["tide", "table"], ["time", "table"], []]
    said = TitleWords(titles, [["tide", "table"], ["time", "table"], ["table"]]).said(
        [["tide"], ["table"], []]
    )
    assert said[0, 0] > 0.5 > said[1, 0] > 0
    assert said[0, 1] == 0
    assert not said[2].any()
    assert not said[:, 2].any()


def test_standardized_scores_have_no_scale_and_equal_ones_say_nothing() -> None:
    scores = np.asarray([[1.0, 2.0, 3.0], [5.0, 5.0, 5.0]])
    np.testing.assert_allclose(standardized(scores)[0], standardized(scores * 10 + 3)[0])
    assert not standardized(scores)[1].any()


def test_tools_that_no_word_matches_leave_the_scale_as_it_is() -> None:
    few = np.arange(SHORTLIST, dtype=np.float64)[None, :] + 1
    many = np.concatenate([few, np.zeros((1, 10_000))], axis=1)
    np.testing.assert_allclose(standardized(many)[:, :SHORTLIST], standardized(few))


def test_a_tool_beyond_the_hits_lies_no_nearer_than_the_farthest_of_them() -> None:
    hits = np.asarray([[0.9, 0.8, 0.5], [0.7, 0.6, 0.6]], np.float32)
    nearest = nearest_by_tool(hits, np.asarray([[2, 0, 2], [1, 3, 1]]), 4)
    np.testing.assert_allclose(nearest, [[0.8, 0.5, 0.9, 0.5], [0.6, 0.7, 0.6, 0.6]])
