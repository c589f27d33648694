"""The ranker's few weights, and the default ones for snapshots with too little experience to fit from.

The defaults are fitted on two public training sets, one whose tools are described in a line and one whose
tools are described at length: how much words are worth depends on how many there are. Between the two they
are interpolated by the median number of words of a tool's documentation (its logarithm). The command that
makes them is `compendia bench run default-weights`.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files

from .evidence import DOCUMENTATION, EXPERIENCE

GATE = ("nearest", "documentation", "unused", "bias")
DIGITS = 4

NEAR = 0.58
"""From which relative similarity on a request counts as near (cosine 0.6 under MiniLM)."""

CAUTIOUS = 6.0
"""Chosen on ToolBench G3 with the experience of 40 % of the tools hidden."""

LESS_OPEN = 2.0
"""By how many nats the gate opens less far than in the catalogs of the default weights. On catalogs of 14
tools of MetaTool and of ToolBench G3, 7 or 12 of them used for twelve requests each, used tools have .894
then, .850 with the nearest scenario alone and .816 by documentation; new ones .821, .821 and .826."""


@dataclass(frozen=True)
class Weights:
    """Weights by column name, none negative but the gate's bias, in nats.

    documentation: of DOCUMENTATION, the same for used and unused tools. experience: of DOCUMENTATION and
    EXPERIENCE, among used tools alone. gate: how far the query's nearest scenario, the documentation of used
    against that of unused tools, and how ill that of the latter fits, speak for the used ones. unlike: what
    it costs a used tool that it has been used, before its experience speaks. near: if not 0, experience adds
    this much times the nearness of the nearest scenario above NEAR, and the experts and the gate are not
    asked.
    """

    documentation: Mapping[str, float]
    experience: Mapping[str, float]
    gate: Mapping[str, float]
    unlike: float
    near: float = 0.0

    def cautious(self) -> Weights:
        """For hardly any experience: a scenario adds as it lies above NEAR, and nothing else."""
        return replace(self, near=CAUTIOUS)

    def flat(self) -> dict[str, float]:
        """`{"documentation/NAME" | "experience/NAME" | "gate/NAME" | "unlike": weight}`, rounded; "near"
        if it is not 0."""
        parts = {"documentation": self.documentation, "experience": self.experience, "gate": self.gate}
        found = {f"{part}/{name}": value for part, table in parts.items() for name, value in table.items()}
        found["unlike"] = self.unlike
        if self.near:
            found["near"] = self.near
        return {name: round(value, DIGITS) for name, value in found.items()}

    @classmethod
    def of(cls, flat: Mapping[str, float]) -> Weights:
        """The inverse of `flat`. Raises KeyError for a missing name."""
        return cls(
            {name: flat[f"documentation/{name}"] for name in DOCUMENTATION},
            {name: flat[f"experience/{name}"] for name in (*DOCUMENTATION, *EXPERIENCE)},
            {name: flat[f"gate/{name}"] for name in GATE},
            flat["unlike"],
            flat.get("near", 0.0),
        )


def no_weights() -> Weights:
    """All zero: nothing to lean on."""
    return Weights.of(dict.fromkeys(_names(), 0.0))


def _names() -> list[str]:
    documentation = [f"documentation/{name}" for name in DOCUMENTATION]
    experience = [f"experience/{name}" for name in (*DOCUMENTATION, *EXPERIENCE)]
    return [*documentation, *experience, *(f"gate/{name}" for name in GATE), "unlike"]


@cache
def _fitted() -> tuple[tuple[float, Mapping[str, float]], ...]:
    tree = json.loads(files(__package__).joinpath("weights.json").read_text(encoding="utf-8"))
    return tuple(sorted((entry["words"], entry["weights"]) for entry in tree.values()))


def default_weights(words: float) -> Weights:
    """The committed weights for a catalog whose tools are documented in `words` words (median)."""
    (least, brief), (most, full) = _fitted()
    share = math.log(max(words, 1.0) / least) / math.log(most / least)
    share = min(1.0, max(0.0, share))
    mixed = {name: (1 - share) * brief[name] + share * full[name] for name in brief}
    # These hold where too few tools have been used to fit any; a fit starts from neither of the two. That a
    # request is unlike the few requests that a tool has says nothing.
    return Weights.of(mixed | {"gate/bias": mixed["gate/bias"] - LESS_OPEN, "unlike": 0.0})
