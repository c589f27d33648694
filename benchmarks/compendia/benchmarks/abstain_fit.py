"""How the weights of the router's evidence were fitted: `bench run abstain --only 'weight/*'` does it again.

Requests of three public training collections, each twice: over a small catalog that has one of their tools,
and over one from which all of theirs are hidden. What else is in a catalog is drawn at random, or from tools
of near documentation, or from both. Every other catalog knows earlier requests of some of its tools.

MetaTool's train rows, ToolBench G3 without the tools it shares with StableToolBench, Seal-Tools' dev file: no
query of a test is among them. The fit is logistic in the signs of a request's best part and tool, without
negative weights but for the two signs of the query alone and for the arguments that it does not give, with
equal weight for each collection.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import expit

from compendia.contract import Compendium, Scenario
from compendia.contract.document import sorted_compendium

from .benchmark import Figures, Session
from .evaluation import QueryMemory, open_encoder, remembering_texts
from .load import load_split
from .snapshots import documentation_snapshot, restricted
from .splits import Split

if TYPE_CHECKING:
    from compendia.text.encode import Encoder

SIZES = (1, 1, 1, 2, 2, 2, 3, 3, 4, 4, 5, 6, 8, 10)
ASKED = 800
"""Requests of a collection that are asked at most; the rest is experience."""
KIN = slice(4, 24)
"""Places, by nearness of documentation, of the tools that count as near: the nearest may do just as well."""
TOO_NEAR = 0.9
FALSE_REJECTS = 0.05
SIGNS = ("meaning", "scenario", "sentence", "usual", "said", "named", "lacking")
ALONE = SIGNS[:4]
AGAINST = ("sentence", "usual", "lacking")
"""The signs that may only speak against a tool; the others only for it."""

Rows = NDArray[np.float64]


@dataclass(frozen=True)
class World:
    """A request over a small catalog with some experience, in which a tool fits or none does."""

    collection: str
    query: str
    catalog: Compendium
    fits: bool


def weights(session: Session) -> Figures:
    """The weights, and the evidence that 5 % of the requests whose tool is there do not reach."""
    encoder = open_encoder(session)
    made: list[World] = []
    for name in ("metatool", "toolbench_g3", "sealtools"):
        split = _training(session, name)
        made += worlds(split, near(split, encoder), random.Random(session.options.seed))
    found = _signs_of_all(session, made, remembering_texts(encoder, [world.query for world in made]))
    groups, fits = [world.collection for world in made], np.asarray([world.fits for world in made])
    both, bias = fit(found, groups, fits)
    alone, bias_alone = fit([rows[:, : len(ALONE)] for rows in found], groups, fits)
    scores = np.asarray([float((rows[:, : len(SIGNS)] @ both).max()) + bias for rows in found])
    return {
        **{f"weight/{name}": float(value) for name, value in zip(SIGNS, both, strict=True)},
        "weight/bias": bias,
        **{f"weight/{name}/alone": float(value) for name, value in zip(ALONE, alone, strict=True)},
        "weight/bias/alone": bias_alone,
        "weight/default": _default(scores[fits], [g for g, fit in zip(groups, fits, strict=True) if fit]),
    }


def _training(session: Session, name: str) -> Split:
    """A split without its test."""
    if name == "sealtools":
        read = load_split(name, session.options.data, record=session.record_input)
        return replace(read, queries=())
    from .default_weights import training_split

    return training_split(name, session.options.data, session.record_input)


def near(split: Split, encoder: Encoder) -> list[list[int]]:
    """For each tool the places of those that count as near it."""
    from compendia.router.documents import tool_document

    vectors = encoder.encode_documents([tool_document(tool) for tool in split.documentation.tools])
    cosines = vectors @ vectors.T
    order = np.argsort(-cosines, axis=1, kind="stable")[:, KIN]
    return [[int(at) for at in row if cosines[tool, at] < TOO_NEAR] for tool, row in enumerate(order)]


def worlds(split: Split, kin: Sequence[Sequence[int]], draw: random.Random) -> Iterator[World]:
    """Two worlds for each of at most ASKED requests of a split: with one of its tools, and with none. Pure.

    kin: for each tool of the catalog, the places of its near ones.
    """
    place = {tool.id: at for at, tool in enumerate(split.documentation.tools)}
    right: dict[str, set[int]] = {}
    for item in split.experience:
        right.setdefault(item.query, set()).add(place[item.tool])
    queries = sorted(right)
    draw.shuffle(queries)
    earlier: dict[int, list[str]] = {}
    for query in queries[ASKED:]:
        for at in sorted(right[query]):
            earlier.setdefault(at, []).append(query)
    for number, query in enumerate(queries[:ASKED]):
        gold, size, share = right[query], draw.choice(SIZES), draw.choice((0.0, 0.5, 1.0))
        one = draw.choice(sorted(gold))
        for fits, wanted in ((True, size - 1), (False, size)):
            drawn = _others(gold, kin[one], len(place), wanted, share, draw)
            tools = [one, *drawn] if fits else drawn
            known = {
                at: draw.sample(earlier[at], min(len(earlier[at]), draw.choice((1, 3, 10))))
                for at in tools
                if number % 2 and at in earlier and draw.random() < 0.6
            }
            group = f"{split.name}/{'used' if earlier and number % 2 else 'new'}"
            yield World(group, query, _catalog(split.documentation, tools, known), fits)


def fit(found: Sequence[Rows], groups: Sequence[str], fits: NDArray[np.bool_]) -> tuple[Rows, float]:
    """Weights (signs,) and bias.

    found: per world, (parts x tools, signs). The loss is logistic in the best row; groups weigh the same.
    """
    rows, count = np.concatenate(found), found[0].shape[1]
    last = np.cumsum([len(part) for part in found]) - 1
    world = np.repeat(np.arange(len(found)), [len(part) for part in found])
    weight = np.asarray([1 / groups.count(group) for group in groups])

    def loss(parameters: Rows) -> tuple[float, Rows]:
        scores = rows @ parameters[:count]
        # By world, then by score: the last row of each world is its best.
        best = np.lexsort((scores, world))[last]
        margin = scores[best] + parameters[count]
        slope = weight * (expit(margin) - fits)
        total = float((weight * np.logaddexp(0, np.where(fits, -margin, margin))).sum())
        return total, np.append(rows[best].T @ slope, slope.sum())

    bounds = [(None, 0) if name in AGAINST else (0, None) for name in SIGNS[:count]] + [(None, None)]
    solved = minimize(loss, np.zeros(count + 1), jac=True, method="L-BFGS-B", bounds=bounds).x
    return solved[:count], float(solved[count])


def _others(
    gold: set[int], kin: Sequence[int], count: int, wanted: int, share: float, draw: random.Random
) -> list[int]:
    """Places of `wanted` tools that are not gold; about `share` of them are kin of the request's tool."""
    near = [at for at in kin if at not in gold]
    anywhere = [at for at in range(count) if at not in gold]
    draw.shuffle(near)
    draw.shuffle(anywhere)
    chosen: dict[int, None] = {}
    while len(chosen) < wanted:
        chosen[near.pop() if near and draw.random() < share else anywhere.pop()] = None
    return list(chosen)


def _catalog(documentation: Compendium, tools: Sequence[int], known: dict[int, list[str]]) -> Compendium:
    described = [documentation.tools[at] for at in tools]
    worked = {
        (documentation.tools[at].id, " ".join(text.split())) for at, texts in known.items() for text in texts
    }
    scenarios = tuple(Scenario(tool=tool, text=text) for tool, text in sorted(worked))
    kept = restricted(documentation, {tool.id for tool in described})
    return sorted_compendium(kept.model_copy(update={"scenarios": scenarios}))


def _signs_of_all(session: Session, made: Sequence[World], memory: QueryMemory) -> list[Rows]:
    """Per world the signs of every part of the request and every tool, (parts x tools, signs)."""
    from compendia.router.abstain import lacked, signs
    from compendia.router.calibrate import Background
    from compendia.router.coverage import WordCoverage
    from compendia.router.index import HybridIndex
    from compendia.router.query import encode_all, read_query, requests
    from compendia.router.understand import sentences

    background = Background(memory)
    found = []
    for world in session.track(made, "abstain weights"):
        index = HybridIndex(documentation_snapshot(world.catalog, memory.fingerprint), memory)
        words = WordCoverage(index.read)
        text = read_query(world.query)
        asked = requests([encode_all([text, *sentences(text)], memory)])
        told = signs(asked, index.search(*asked.queries), background, words)
        whole = asked.queries[asked.wholes[0]]
        told = replace(told, lacking=np.asarray([[lacked(whole, tool) for tool in index.tools]]))
        columns = np.broadcast_arrays(*(getattr(told, name) for name in SIGNS))
        found.append(np.stack(columns, axis=-1).reshape(-1, len(SIGNS)))
    return found


def _default(scores: Rows, groups: Sequence[str]) -> float:
    """The quantile FALSE_REJECTS of the evidence of requests that have their tool, each group weighing the
    same."""
    share = np.asarray([1 / groups.count(group) for group in groups])
    order = np.argsort(scores)
    reached = np.cumsum(share[order]) / share.sum()
    return float(expit(scores[order][np.searchsorted(reached, FALSE_REJECTS)]))
