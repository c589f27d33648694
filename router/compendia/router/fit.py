"""Fitting the ranker's weights from a snapshot alone (see `worlds` for what is asked).

Two parts, each a maximum likelihood with a penalty on the distance to the default weights, so that little
data moves them little: experience (conditional logit over the hardest rivals among used tools, some tools
hidden), and with that held fixed the gate, in which requests for unused and for used tools have fixed shares:
how many of either kind a snapshot holds is no evidence of what will be asked. The gate is fitted where whole
topics are hidden: beside its siblings' requests a hidden tool's look like theirs, and the gate would learn
that nearness means nothing. Documentation keeps the default weights.
Deterministic: draws are seeded, and the weights rounded beyond the last bits that a machine may move.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit

from compendia.text.encode import Encoder

from .calibrate import Background
from .evidence import DOCUMENTATION, EXPERIENCE
from .index import HybridIndex
from .logit import PRIOR, choices, conditional_logit
from .metric import ENOUGH_TOOLS
from .mixture import Array, gate_columns, log_shares, total
from .weights import DIGITS, GATE, Weights
from .worlds import Sample, World

WORLDS = 2
ENOUGH_REQUESTS = 40
ENOUGH_SCENARIOS = 64
"""How many there must be for the experts to be asked. With fewer, a near scenario adds and nothing else, so
that one warning can outweigh it."""
LEAST_NEAREST, MOST_UNLIKE, NEW_SHARE = 7.0, 3.0, 0.5
"""That the gate opens with nearness at least so fast, that experience may cost a tool it does not match so
much, and that a request is as likely for tools that nobody used as for the others. Chosen on `dev-mixed`, and
on held-out requests of MetaTool and of ToolBench G3 over their own catalogs. There, weights of documentation
that were fitted on one kind of request lost 10 points on another, so these are not fitted; and a gate that
goes by the best score of experience too gained on G3's topics and lost on the others."""


def fit(
    index: HybridIndex, encoder: Encoder, background: Background, prior: Weights, *, learned: bool = True
) -> Weights:
    """The weights for a snapshot; `prior` where too few tools have been used to fit any, and that cautious
    where there is hardly any experience.

    learned: whether requests are compared under the metric that experience teaches.
    """
    unfitted = prior if len(index.scenarios) >= ENOUGH_SCENARIOS else prior.cautious()
    if len(np.unique(index.scenarios.owners)) < ENOUGH_TOOLS:
        return unfitted
    sample = Sample(index, encoder, background)
    topics = _worlds(sample, learned=learned, topics=True)
    if min(sum(w.hidden.sum() for w in topics), sum(w.shown.sum() for w in topics)) < ENOUGH_REQUESTS:
        return unfitted
    experience = _experience(_worlds(sample, learned=learned), prior)
    gate, unlike = _gate(topics, prior.documentation, experience, prior)
    return Weights.of(Weights(prior.documentation, experience, gate, unlike).flat())


def _worlds(sample: Sample, *, learned: bool, topics: bool = False) -> list[World]:
    # Side by side: most of a world is long products of matrices, which do not hold the interpreter.
    with ThreadPoolExecutor() as threads:
        return list(threads.map(lambda s: sample.world(s, learned=learned, topics=topics), range(WORLDS)))


def fit_documentation(
    index: HybridIndex, encoder: Encoder, background: Background, prior: Weights
) -> Weights:
    """`prior` with weights of documentation fitted on the snapshot's requests: for the default weights."""
    world = Sample(index, encoder, background).world(0, learned=False)
    # Against all tools, as shares are over all: against the hardest alone the weights come out too small.
    made = [choices(world.documentation, DOCUMENTATION, world.gold, rivals=len(index.tools))]
    return replace(prior, documentation=conditional_logit(made, DOCUMENTATION, prior.documentation))


def _experience(worlds: Sequence[World], prior: Weights) -> dict[str, float]:
    names = (*DOCUMENTATION, *EXPERIENCE)
    made = []
    for world in worlds:
        both = {**world.documentation, **world.experience}
        columns = {name: column[world.shown] for name, column in both.items()}
        made.append(choices(columns, names, world.gold[world.shown], world.used))
    return conditional_logit(made, names, prior.experience)


def _gate(
    worlds: Sequence[World],
    documentation: Mapping[str, float],
    experience: Mapping[str, float],
    prior: Weights,
) -> tuple[dict[str, float], float]:
    """The gate's weights, and the cost of having been used, with both experts held fixed."""
    asked = [_shares(world, documentation, experience) for world in worlds]
    features, of_used, by_documents, of_unused, held, weight = (
        np.concatenate(part) for part in zip(*asked, strict=True)
    )
    weight = weight / weight.sum()
    scale = features.std(axis=0) + 1e-9
    center = features.mean(axis=0)
    start = np.asarray([prior.gate[name] for name in GATE[:-1]]) * scale

    def loss(point: Array) -> float:
        slopes, bias, unlike = point[:-2], point[-2], np.exp(-point[-1])
        gate = expit((features - center) / scale @ slopes + bias)
        documents = (by_documents * unlike + of_unused) / (1 - held + held * unlike)
        chance = np.maximum(gate * of_used + (1 - gate) * documents, 1e-12)
        return float(PRIOR * ((slopes - start) @ (slopes - start)) - weight @ np.log(chance))

    least = np.asarray([LEAST_NEAREST if name == "nearest" else 0.0 for name in GATE[:-1]]) * scale
    first = np.array([*np.maximum(start, least + 0.05), 0.0, 0.0])
    bounds = [(low, None) for low in least] + [(None, None), (0.0, MOST_UNLIKE)]
    found = minimize(loss, first, method="L-BFGS-B", bounds=bounds)
    slopes = found.x[:-2] / scale
    made = dict(zip(GATE[:-1], slopes, strict=True)) | {"bias": float(found.x[-2] - slopes @ center)}
    return {name: round(float(value), DIGITS) for name, value in made.items()}, float(found.x[-1])


def _shares(
    world: World, documentation: Mapping[str, float], experience: Mapping[str, float]
) -> tuple[Array, Array, Array, Array, Array, Array]:
    """Of the requests whose tools are all hidden or all shown: what opens the gate; the probability of the
    gold tools by experience, by documentation as used and as unused ones; that of all used tools by
    documentation; and weights by which both kinds count the same."""
    kept = world.hidden | world.shown
    gold = world.gold[kept]
    spoken = total(world.documentation, documentation)[kept]
    both = {**world.documentation, **world.experience}
    heard = np.exp(log_shares(total(both, experience)[kept], world.used))
    opened = gate_columns(world.experience["nearest_scenario"][kept], spoken, world.used)
    shares = np.exp(log_shares(spoken))
    hidden = world.hidden[kept]
    return (
        np.stack([opened[name] for name in GATE[:-1]], axis=-1),
        (heard * gold * world.used).sum(axis=1),
        (shares * gold * world.used).sum(axis=1),
        (shares * gold * ~world.used).sum(axis=1),
        (shares * world.used).sum(axis=1),
        np.where(hidden, NEW_SHARE / max(1, hidden.sum()), (1 - NEW_SHARE) / max(1, (~hidden).sum())),
    )
