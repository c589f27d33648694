"""What organizations sent about tools, as rows to search by meaning: scenarios, precautions, disputes."""

from __future__ import annotations

from collections.abc import Container, Iterable
from dataclasses import dataclass

import numpy as np

from compendia.contract import Compendium, Conflict, Precaution, Scenario, StanceConflict

from .typical import typical
from .vectors import Rows, Scores, VectorIndex, Vectors

POOL = 128
"""How many rows one search looks at."""

_SEVERITY = {1: 1.0, 2: 1.5, 3: 2.0}


@dataclass(frozen=True)
class Entry:
    """A request that a tool did, or should not, answer. `weight` scales what its nearness counts, `warning`
    is what a person reads when it is near, `record` is the snapshot's own."""

    tool: str
    text: str
    record: Scenario | Precaution | StanceConflict
    weight: float = 1.0
    warning: str = ""


def scenarios(compendium: Compendium) -> list[Entry]:
    """Requests that worked, in canonical order."""
    return _canonical(Entry(s.tool, s.text, s) for s in compendium.scenarios)


def precautions(compendium: Compendium) -> list[Entry]:
    """Requests that a tool should not get, weighted by severity, in canonical order."""
    return _canonical(
        Entry(p.tool, p.text, p, _SEVERITY[p.severity], _warning(p)) for p in compendium.precautions
    )


def disputes(conflicts: Iterable[Conflict], tools: Container[str]) -> list[Entry]:
    """Requests about which organizations disagree, for `tools`, weighted by the share that is against."""
    return _canonical(
        Entry(conflict.tool, conflict.text, conflict, _share_against(conflict), conflict.do_not_use_when())
        for conflict in conflicts
        if isinstance(conflict, StanceConflict) and conflict.tool in tools and conflict.do_not_use_when()
    )


class ExperienceIndex:
    """Entries of tools, searched by the cosine of their texts. `owners` (n,): tools' rows, ascending."""

    def __init__(self, entries: list[Entry], owners: Rows, vectors: VectorIndex) -> None:
        self.entries = entries
        self.vectors = vectors
        self.owners = owners
        self._weights = np.asarray([entry.weight for entry in entries], np.float32)

    def __len__(self) -> int:
        return len(self.entries)

    def hits(self, queries: Vectors) -> tuple[Scores, Rows, Scores]:
        """The POOL nearest entries of each query (m, d), or all: cosines, tool rows, weights, nearest first;
        each (m, hits)."""
        scores, rows = self.vectors.search(queries, POOL)
        return scores, self.owners[rows], self._weights[rows]

    def typical(self, tool: int) -> list[str]:
        """The texts that tell most about what one tool (a row) is used for."""
        rows = self._rows(tool)
        return [self.entries[row].text for row in rows[typical(self.vectors.vectors()[rows])]]

    def _rows(self, tool: int) -> Rows:
        first, last = np.searchsorted(self.owners, [tool, tool + 1])
        return np.arange(first, last, dtype=np.int64)

    def of_tool(self, query: Vectors, tool: int, k: int) -> list[tuple[Entry, float]]:
        """The k entries of one tool (a row) nearest to the query, with their cosines, nearest first."""
        rows = self._rows(tool)
        scores = self.vectors.scores(query, rows)
        order = np.argsort(-scores, kind="stable")[:k]
        return [(self.entries[rows[at]], float(scores[at])) for at in order]


def _canonical(entries: Iterable[Entry]) -> list[Entry]:
    return sorted(entries, key=lambda entry: (entry.tool, entry.text, entry.warning, entry.weight))


def _share_against(conflict: StanceConflict) -> float:
    claims = [claim for claim in (conflict.winner, *conflict.dissent) if claim is not None]
    voices = sum(len(claim.supporters) for claim in claims)
    return sum(len(claim.supporters) for claim in claims if claim.value == "do_not") / max(1, voices)


def _warning(precaution: Precaution) -> str:
    because = f" ({precaution.evidence})" if precaution.evidence else ""
    return f"{precaution.kind.replace('_', ' ').capitalize()}: {precaution.text}{because}"
