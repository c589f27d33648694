"""The score of a tool: what its documentation says, and what experience adds to that.

Two experts each give every tool a probability: documentation speaks about all tools, experience about those
that have been used. A gate says how much the query belongs to what has been used. With g for the gate, E and
D for the experts, P(t) = g E(t) + (1 - g) D(t) (a mixture of experts, Jacobs et al. 1991), and what is the
same for all tools left out,

    score(t) = log D(t) + log(1 + g / (1 - g) * E(t) / D(t))

where the second term is 0 for a tool without experience and never negative: experience adds evidence and
cannot take any from a tool that nobody has used yet. Pure; all arrays are (queries, tools).
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from .evidence import Columns
from .weights import NEAR, Weights

Array = NDArray[np.float64]
Mask = NDArray[np.bool_] | bool
FAR = -1e9
MOST_ODDS = 8.0
"""Bound on the documentation's odds, in nats: one expert's certainty does not silence the other."""


def total(columns: Columns, weights: Mapping[str, float]) -> Array:
    """Sum of weight x column."""
    return np.asarray(sum(weights[name] * columns[name] for name in weights), np.float64)


def log_shares(scores: Array, among: Mask = True) -> Array:
    """Log-softmax over the tools, or over some of them: FAR for the others."""
    held = scores if among is True else np.where(among, scores, FAR)
    above = held - held.max(axis=1, keepdims=True, initial=FAR)
    return np.asarray(above - np.log(np.exp(above).sum(axis=1, keepdims=True)), np.float64)


def gate_columns(
    nearest: Array, spoken: Array, used: NDArray[np.bool_], among: Mask = True
) -> dict[str, Array]:
    """What opens the gate, each (queries,): relative similarity of the nearest scenario; by how many nats the
    best documented of the used tools leads the best of the unused; and less the score of that one, for the
    better a new tool fits by itself, the less are used ones meant. 0 where there is no such tool.

    spoken: scores of documentation. among: as in `bonus`.
    """
    familiar, new = used & among, ~used & among
    best_used, best_unused = _best(spoken, familiar), _best(spoken, new)
    both = familiar.any(axis=-1) & new.any(axis=-1)
    return {
        "nearest": np.where(familiar, nearest, 0.0).max(axis=1, initial=0.0),
        "documentation": np.clip(best_used - best_unused, -MOST_ODDS, MOST_ODDS) * both,
        "unused": -best_unused,
    }


def _best(scores: Array, among: NDArray[np.bool_]) -> Array:
    best = np.where(among, scores, FAR).max(axis=1, initial=FAR)
    return np.where(among.any(axis=-1), best, 0.0)


def gate_odds(columns: Mapping[str, Array], weights: Mapping[str, float]) -> Array:
    """log g / (1 - g), (queries,)."""
    return np.asarray(
        weights["bias"] + sum(weights[name] * column for name, column in columns.items()), np.float64
    )


def bonus(
    documentation: Columns,
    experience: Columns,
    used: NDArray[np.bool_],
    weights: Weights,
    among: Mask = True,
) -> Array:
    """What experience adds to each tool, in nats, >= 0; 0 for unused tools.

    among (queries, tools): the tools that each query is about, if not all; of the others nothing is meant.
    """
    spoken = total(documentation, weights.documentation)
    if not used.any():
        return np.zeros_like(spoken)
    if weights.near:
        return np.asarray(weights.near * np.maximum(0.0, experience["nearest_scenario"] - NEAR) * used)
    documented = log_shares(spoken - weights.unlike * used, among)
    shares = log_shares(total({**documentation, **experience}, weights.experience), used & among)
    opened = gate_columns(experience["nearest_scenario"], spoken, used, among)
    odds = gate_odds(opened, weights.gate)[:, None]
    return np.where(used, np.logaddexp(0.0, odds + shares - documented), 0.0)
