"""Conditional logit (McFadden 1974) over rivals, with non-negative weights near given ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from .evidence import Columns
from .mixture import FAR, Array, log_shares
from .weights import DIGITS

RIVALS = 30
PRIOR = 2e-3
"""Weight of the squared distance to the given weights, both in standard deviations of their columns."""


@dataclass(frozen=True)
class Choices:
    """For each request the features (requests, rivals, f) of its gold tools and its hardest rivals. real:
    where there is a rival at all."""

    features: Array
    gold: NDArray[np.bool_]
    real: NDArray[np.bool_]


def choices(
    columns: Columns,
    names: Sequence[str],
    gold: NDArray[np.bool_],
    among: NDArray[np.bool_] | None = None,
    rivals: int = RIVALS,
) -> Choices:
    """The gold tools, and so many rivals that look best by the sum of their standardized columns; all of them
    among the tools given."""
    # Column by column, for the few that are chosen are all that has to stand side by side.
    look = np.asarray(sum(columns[name] / (columns[name].std() + 1e-9) for name in names), np.float64)
    if among is not None:
        look, gold = np.where(among, look, -np.inf), gold & among
    look = np.where(gold, np.inf, look)
    most = min(look.shape[1], rivals + int(gold.sum(axis=1).max(initial=1)))
    chosen = np.argsort(-look, axis=1, kind="stable")[:, :most]
    at = np.arange(len(look))[:, None]
    features = np.stack([columns[name][at, chosen] for name in names], axis=-1)
    return Choices(features, gold[at, chosen], look[at, chosen] > -np.inf)


def conditional_logit(
    made: Sequence[Choices], names: Sequence[str], near: Mapping[str, float]
) -> dict[str, float]:
    """The weights under which the gold tools of each request together have most of the probability."""
    scale = np.concatenate([part.features[part.real] for part in made]).std(axis=0) + 1e-9
    start = np.asarray([near[name] for name in names]) * scale
    scaled = [part.features / scale for part in made]
    count = sum(len(part.gold) for part in made)

    def loss(point: Array) -> tuple[float, Array]:
        value, slope = PRIOR * float((point - start) @ (point - start)), 2 * PRIOR * (point - start)
        for part, features in zip(made, scaled, strict=True):
            shares = np.exp(log_shares(np.where(part.real, features @ point, FAR)))
            right = np.where(part.gold, shares, 0.0)
            of_gold = np.maximum(right.sum(axis=1), 1e-12)
            value -= float(np.log(of_gold).sum()) / count
            slope = slope + np.einsum("qr,qrf->f", shares - right / of_gold[:, None], features) / count
        return value, slope

    bounds = [(0, None)] * len(names)
    found = minimize(loss, np.maximum(start, 0.05), jac=True, method="L-BFGS-B", bounds=bounds)
    return {name: round(float(w), DIGITS) for name, w in zip(names, found.x / scale, strict=True)}
