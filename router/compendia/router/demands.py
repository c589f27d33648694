"""What a request asks of the answer besides its content: a unit, a licence. Tools that offer it gain.

Only units and licences that the snapshot holds count, so an unknown word asks for nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from compendia.contract import ToolMetadata

from .understand import wanted_units

_BETWEEN_WORDS = re.compile(r"[^a-z0-9.]+|\.(?![0-9])|(?<![0-9])\.")


@dataclass(frozen=True)
class Offers:
    """Per unit, and per licence (as `squash` writes it), the rows of the tools that offer it."""

    units: dict[str, frozenset[int]]
    licences: dict[str, frozenset[int]]

    def met(self, text: str, tools: NDArray[np.int64]) -> NDArray[np.float64]:
        """How many of the demands in a request each tool in `tools` (m,) meets, (m,)."""
        demanded = [self.units[unit] for unit in sorted(wanted_units(text)) if unit in self.units]
        said = f" {squash(text)} "
        demanded += [rows for licence, rows in self.licences.items() if f" {licence} " in said]
        if not demanded:
            return np.zeros(len(tools))
        met = np.zeros(int(tools.max(initial=-1)) + 1)
        for rows in demanded:
            met[[row for row in rows if row < len(met)]] += 1
        return met[tools]


def offers(tools: Sequence[ToolMetadata]) -> Offers:
    """What the tools of a snapshot offer; rows as in `tools`."""
    units: dict[str, set[int]] = {}
    licences: dict[str, set[int]] = {}
    for row, tool in enumerate(tools):
        for unit in _units(tool):
            units.setdefault(unit, set()).add(row)
        for licence in _licences(tool):
            licences.setdefault(squash(licence), set()).add(row)
    return Offers(_frozen(units), _frozen(licences))


def squash(text: str) -> str:
    """Lower-case words and version numbers, one blank apart: people write licences in many ways.

    >>> squash("CC-BY-4.0"), squash("Under CC BY 4.0, please.")
    ('cc by 4.0', 'under cc by 4.0 please')
    """
    return " ".join(_BETWEEN_WORDS.sub(" ", text.lower()).split())


def _frozen(rows: dict[str, set[int]]) -> dict[str, frozenset[int]]:
    return {name: frozenset(found) for name, found in sorted(rows.items()) if name}


def _units(tool: ToolMetadata) -> Iterable[str]:
    for endpoint in tool.endpoints:
        yield from (field.unit for field in endpoint.response_fields if field.unit)


def _licences(tool: ToolMetadata) -> Iterable[str]:
    of_fields = (x for e in tool.endpoints for field in e.response_fields for x in field.licences)
    return (licence.removeprefix("custom:") for licence in (*tool.licences, *of_fields))
