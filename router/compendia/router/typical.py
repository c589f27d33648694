"""Which of a tool's requests show what it is used for: near the middle of all, and unlike one another.

Greedy maximal marginal relevance (Carbonell and Goldstein, SIGIR 1998). They do not depend on the query, so a
model that has read a card with them need not read it again.
"""

from __future__ import annotations

import numpy as np

from .vectors import Rows, Vectors

TYPICAL = 8
RELEVANCE = 0.5
"""What nearness to the middle counts beside distance from those that are chosen."""


def typical(vectors: Vectors, count: int = TYPICAL) -> Rows:
    """Places of the `count` most telling of some unit vectors (n, d), or of all, the first chosen first."""
    middle = vectors @ vectors.mean(axis=0) if len(vectors) else np.zeros(0, np.float32)
    # The first by nearness alone; after it, what no chosen one is like.
    likeness = np.zeros(len(vectors), np.float32)
    chosen: list[int] = []
    for _ in range(min(count, len(vectors))):
        worth = RELEVANCE * middle - likeness
        worth[chosen] = -np.inf
        best = int(np.argmax(np.round(worth, 5)))
        chosen.append(best)
        likeness = np.maximum(likeness, vectors @ vectors[best])
    return np.asarray(chosen, np.int64)
