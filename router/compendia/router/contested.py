"""Contested scenarios: where organizations disagree about a request, what is undisputed decides.

Some say that a tool worked for it, others that it did not. How many they are does not tell who is mistaken,
and no weight does, but the rest of the snapshot does: a ranker that knows nothing of the contested claims is
asked the request. The scenario counts if its tool comes first, or behind by no more than the odds of the
votes. Its warnings stay either way. Pure.

Measured on 792 training queries of MetaTool with 40 % of the experience contested, one organization against
one: of false scenarios 3 % are kept, of true ones 73 %; acc@1 is 78.2 where they are false (73.2 if all
count) and 76.5 where they are true (77.1).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from math import inf, log

import numpy as np

from compendia.contract import Ranking, Snapshot, StanceConflict
from compendia.text.tokenize import tokenize

from .experience import Entry, ExperienceIndex
from .index import HybridIndex
from .query import EncodedQuery
from .vectors import Rows

SAME = 0.85
"""Cosine from which the aggregator takes two texts for one request."""

LOOKED_AT = 10
"""A tool that is not among the first so many has lost, whatever the votes."""

BATCH = 64

Key = tuple[str, str]
"""A tool and a text."""

Rank = Callable[[Sequence[EncodedQuery], int], list[Ranking]]


@dataclass(frozen=True)
class Contested:
    """Rows of the contested scenarios, for each by how many nats its tool may be behind, and all that is
    claimed for and against."""

    rows: tuple[int, ...]
    margins: tuple[float, ...]
    claims: frozenset[Key]


def contested(index: HybridIndex) -> Contested:
    """The scenarios of an index that a precaution or a dispute of the same tool speaks against."""
    margins: dict[int, float] = {}
    claims: set[Key] = set()
    worked = index.scenarios.vectors.vectors()
    for warnings in (index.precautions, index.disputes):
        vectors = warnings.vectors.vectors()
        for tool in np.unique(warnings.owners):
            own, against = rows_of(index.scenarios, int(tool)), rows_of(warnings, int(tool))
            near = np.round(worked[own] @ vectors[against].T, 5) >= SAME
            for place, other in np.argwhere(near):
                scenario, warning = int(own[place]), warnings.entries[against[other]]
                margins[scenario] = max(margins.get(scenario, 0.0), margin(warning))
                claims |= {_key(index.scenarios.entries[scenario]), _key(warning)}
    rows = tuple(sorted(margins))
    return Contested(rows, tuple(margins[row] for row in rows), frozenset(claims))


def margin(warning: Entry) -> float:
    """The log odds of the votes for the tool, in nats, 0 where they are not known or against it."""
    conflict = warning.record
    if not isinstance(conflict, StanceConflict):
        return 0.0
    claims = [claim for claim in (conflict.winner, *conflict.dissent) if claim is not None]
    votes = {str(claim.value): len(claim.supporters) for claim in claims}
    return max(0.0, log(max(1, votes.get("use", 0)) / max(1, votes.get("do_not", 0))))


def lost(index: HybridIndex, found: Contested, rank: Rank) -> frozenset[Key]:
    """The contested scenarios whose tool does not come first for their text, or near enough.

    rank: as `Revision.rank_each`, of a revision without the claims.
    """
    entries, vectors = index.scenarios.entries, index.scenarios.vectors
    failed: set[Key] = set()
    for start in range(0, len(found.rows), BATCH):
        rows, margins = found.rows[start : start + BATCH], found.margins[start : start + BATCH]
        asked = [_as_query(entries[row].text, vectors.vector(row)) for row in rows]
        for row, allowed, ranking in zip(rows, margins, rank(asked, LOOKED_AT), strict=True):
            if _behind(ranking, entries[row].tool) > allowed:
                failed.add(_key(entries[row]))
    return frozenset(failed)


def without(snapshot: Snapshot, claims: Collection[Key], *, scenarios_alone: bool = False) -> Snapshot:
    """The snapshot without scenarios of these keys, and without precautions and disputes of them too."""
    said = snapshot.compendium
    kept = {"scenarios": tuple(s for s in said.scenarios if (s.tool, s.text) not in claims)}
    conflicts = snapshot.conflicts
    update: dict[str, object] = dict(kept)
    if not scenarios_alone:
        update["precautions"] = tuple(p for p in said.precautions if (p.tool, p.text) not in claims)
        conflicts = tuple(
            c for c in conflicts if not isinstance(c, StanceConflict) or (c.tool, c.text) not in claims
        )
    return snapshot.model_copy(update={"compendium": said.model_copy(update=update), "conflicts": conflicts})


def rows_of(entries: ExperienceIndex, tool: int) -> Rows:
    """The rows of one tool's entries."""
    first, last = np.searchsorted(entries.owners, [tool, tool + 1])
    return np.arange(first, last, dtype=np.int64)


def _behind(ranking: Ranking, tool: str) -> float:
    """By how much a tool's score is below the best, in nats."""
    best = ranking.candidates[0].score
    return next((best - found.score for found in ranking.candidates if found.tool == tool), inf)


def _as_query(text: str, vector: np.ndarray[tuple[int], np.dtype[np.float32]]) -> EncodedQuery:
    return EncodedQuery(text, text, vector, vector, tokenize(text))


def _key(entry: Entry) -> Key:
    return entry.tool, entry.text
