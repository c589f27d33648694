"""Contradictions put into a split's experience, the same ones for every arm. Pure.

Two kinds. *Misattribution*: a share of the requests credits the tool that is most easily mistaken for the
right one, while other organizations say that it failed. *Contradiction*, the Synapse paper's: a share of the
recorded successes, which stay true, is denied by another organization. Which requests are hit goes by their
digests, so that a higher share hits what a lower one does and more.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from compendia.contract.strict_json import digest

from .splits import Item, Split

Votes = Literal["outvoted", "tied", "outvoting"]
VOTES: tuple[Votes, ...] = ("outvoted", "tied", "outvoting")
"""How the mistaken stand against those who warn of it: one against two, one against one, two against one. A
majority settles the first rightly and the last wrongly: there a log of dissent is all that is left."""

Design = Literal["pairs", "precautions"]
DESIGNS: tuple[Design, ...] = ("pairs", "precautions")
"""As in the paper, another success and a failure of two other organizations; or the failure alone."""


@dataclass(frozen=True)
class Injected:
    """What was put in. removed: true successes that it took the place of."""

    removed: tuple[Item, ...]
    successes: tuple[Item, ...]
    failures: tuple[Item, ...]

    def rows(self) -> list[dict[str, str]]:
        """One row an item, sorted: for a log."""
        kinds = {"removed": self.removed, "success": self.successes, "failure": self.failures}
        return [
            {"what": kind, "client": item.client, "tool": item.tool, "query": item.query}
            for kind, items in kinds.items()
            for item in sorted(items, key=lambda item: (item.query, item.tool, item.client))
        ]

    def digest(self) -> str:
        """SHA-256 of the rows."""
        return digest(self.rows())


def misattribute(
    split: Split, wrong: Mapping[str, str], rate: float, seed: int, votes: Sequence[Votes] = VOTES
) -> Injected:
    """A share of the split's successes credited to `wrong` (tool to tool), and who warns of that.

    votes: dealt in turn over the requests that are hit.
    """
    removed, successes, failures = list[Item](), list[Item](), list[Item]()
    hit = drawn(split.experience, rate, f"misattribute {seed}")
    for item, kind in zip(hit, _in_turn(votes, len(hit)), strict=True):
        first, second = _others(item, split.holdings, 2)
        mistaken = (item.client, first) if kind == "outvoting" else (item.client,)
        warning = (first, second) if kind == "outvoted" else (second,)
        removed.append(item)
        successes += (Item(client, item.query, wrong[item.tool]) for client in mistaken)
        failures += (Item(client, item.query, wrong[item.tool]) for client in warning)
    return Injected(tuple(removed), tuple(successes), tuple(failures))


def contradict(split: Split, rate: float, seed: int, design: Design) -> Injected:
    """A share of the split's successes denied by another organization, in the paper's design with a third
    that agrees."""
    successes, failures = list[Item](), list[Item]()
    for item in drawn(split.experience, rate, f"contradict {seed}"):
        agreeing, denying = _others(item, split.holdings, 2)
        failures.append(replace(item, client=denying))
        if design == "pairs":
            successes.append(replace(item, client=agreeing))
    return Injected((), tuple(successes), tuple(failures))


def with_contradictions(split: Split, injected: Injected) -> Split:
    """The split with them. A client documents every tool that it has an opinion about."""
    removed = set(injected.removed)
    held = {client: set(tools) for client, tools in split.holdings.items()}
    for item in (*injected.successes, *injected.failures):
        held[item.client].add(item.tool)
    kept = (item for item in split.experience if item not in removed)
    return replace(
        split,
        experience=tuple(dict.fromkeys((*kept, *injected.successes))),
        failures=tuple(dict.fromkeys((*split.failures, *injected.failures))),
        holdings={client: frozenset(tools) for client, tools in held.items()},
    )


def before(split: Split, share: float) -> Split:
    """What was known of a split when that share of its requests had been made, whoever made them."""

    def known(items: Iterable[Item]) -> tuple[Item, ...]:
        return tuple(item for item in items if _place("round", item.query) < share)

    return replace(split, experience=known(split.experience), failures=known(split.failures))


def confusable(
    tools: Sequence[str], vectors: NDArray[np.float32], names: Mapping[str, str]
) -> dict[str, str]:
    """Each tool's nearest other by the cosine of their documents, (tools, d); aliases are not others. Equals
    in the order given."""
    cosines = np.round(np.asarray(vectors @ vectors.T, np.float64), 5)
    judged = np.asarray([names[tool] for tool in tools])
    cosines[judged[:, None] == judged[None, :]] = -np.inf
    return {tool: tools[int(at)] for tool, at in zip(tools, np.argmax(cosines, axis=1), strict=True)}


def drawn(items: Sequence[Item], rate: float, purpose: str) -> list[Item]:
    """The share of the items that a purpose hits, lowest digests first."""
    ordered = sorted(items, key=lambda item: _place(purpose, item.query, item.tool))
    return ordered[: round(rate * len(items))]


def _others(item: Item, clients: Collection[str], wanted: int) -> list[str]:
    """Other clients than the item's own, in an order of its digest."""
    others = (client for client in clients if client != item.client)
    return sorted(others, key=lambda client: _place("others", client, item.query, item.tool))[:wanted]


def _in_turn(votes: Sequence[Votes], count: int) -> list[Votes]:
    return [votes[number % len(votes)] for number in range(count)]


def _place(*words: str) -> float:
    """A number in [0, 1) that the words alone decide."""
    found = hashlib.sha256("\x1f".join(words).encode()).digest()
    return int.from_bytes(found[:8], "big") / 2**64
