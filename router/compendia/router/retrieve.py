"""Retrieval on one revision: what is fixed when a snapshot is loaded, and the ranking of a query."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from compendia.contract import Ranking, Snapshot
from compendia.text.encode import Encoder

from .abstain import best_evidence, threshold
from .calibrate import Background, background
from .index import HybridIndex
from .query import EncodedQuery
from .rank import candidates, features, reliability


@dataclass(frozen=True)
class Revision:
    """A loaded snapshot. Fixed, so that a query which holds it sees one revision from start to end."""

    snapshot: Snapshot
    index: HybridIndex
    background: Background
    threshold: float
    reliabilities: NDArray[np.float64]

    def rank(self, query: EncodedQuery, k: int) -> Ranking:
        """The k best tools for the query, each once, best first."""
        matches = self.index.search(query)
        tools = [self.index.tools[row].id for row in matches.tools]
        columns = features(matches, self.background, self.reliabilities)
        return Ranking(
            candidates=candidates(tools, columns, k),
            best_evidence=best_evidence(matches, self.background),
            threshold=self.threshold,
        )


def load_revision(snapshot: Snapshot, encoder: Encoder, previous: Revision | None = None) -> Revision:
    """Index a snapshot. What `previous` has encoded with the same encoder is not encoded again."""
    index = HybridIndex(snapshot, encoder, previous.index if previous else None)
    same = previous is not None and previous.index.fingerprint == encoder.fingerprint
    level = previous.background if previous is not None and same else background(encoder)
    usage = {entry.tool: entry for entry in snapshot.compendium.usage}
    reliabilities = np.asarray([reliability(usage.get(tool.id)) for tool in index.tools], np.float64)
    return Revision(snapshot, index, level, threshold(index, level), reliabilities)
