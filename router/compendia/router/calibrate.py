"""What a cosine means, for any encoder, from everyday sentences that no catalog answers.

Encoders differ: unrelated texts have cosine about 0.1 under MiniLM and about 0.8 under e5 as it comes; and
under each, some queries lie nearer to everything than others. So a cosine is measured against those that
the same query has with the probes: `relative` maps their mean to 0 and identity to 1, and one threshold
serves all.

`probes.txt` was written for this: sixty requests in a dozen languages that a person makes of another person.

So was `capabilities.txt`, what tools do all over the world in a line each. A request lies as near to some of
them as it would to tools that only share its field, so to have one that fits it must lie nearer than that.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from importlib.resources import files

import numpy as np
from numpy.typing import NDArray

from compendia.text.encode import Encoder

from .query import EncodedQuery, encode_all
from .vectors import Vectors

NEAREST = 5
"""How many of the capabilities tell how near a request lies to tools of its field."""
LEAST_USUAL = 0.2
"""Relative cosine that nine in ten of the training collections' requests exceed, and hardly a probe: that a
request is for no tool of any field must not speak for the tools at hand."""


@cache
def probes() -> tuple[str, ...]:
    """The probe sentences, in file order."""
    return _lines("probes.txt")


@cache
def capabilities() -> tuple[str, ...]:
    """What tools do, in file order."""
    return _lines("capabilities.txt")


def _lines(name: str) -> tuple[str, ...]:
    text = files(__package__).joinpath(name).read_text(encoding="utf-8")
    return tuple(line for line in text.splitlines() if line)


class Background:
    """The probes and the capabilities under one encoder. Deterministic for an encoder."""

    def __init__(self, encoder: Encoder) -> None:
        self.probes: tuple[EncodedQuery, ...] = tuple(encode_all(list(probes()), encoder))
        documents = encoder.encode_documents(probes()).astype(np.float64)
        self._sum: NDArray[np.float64] = documents.sum(axis=0)
        self._of_probe = dict(zip(probes(), documents, strict=True))
        self._capabilities = encoder.encode_documents(capabilities())

    def level(self, vector: Vectors, text: str) -> float:
        """Mean cosine of a query with the probes; a query that is a probe does not count itself."""
        own = self._of_probe.get(text)
        others = self._sum if own is None else self._sum - own
        return float(vector @ others) / (len(self.probes) - (own is not None))

    def asked_levels(self, queries: Sequence[EncodedQuery]) -> NDArray[np.float64]:
        """`level` of queries as asked, (n, 1)."""
        return np.asarray([[self.level(query.vector, query.text)] for query in queries], np.float64)

    def masked_levels(self, queries: Sequence[EncodedQuery]) -> NDArray[np.float64]:
        """`level` of queries as masked, (n, 1)."""
        return np.asarray([[self.level(query.masked_vector, query.masked)] for query in queries], np.float64)

    def levels(self, vectors: Vectors) -> NDArray[np.float64]:
        """`level` of many texts (n, d) that are no probes, (n,)."""
        return np.asarray(vectors.astype(np.float64) @ self._sum / len(self.probes), np.float64)

    def usual(self, query: EncodedQuery) -> float:
        """How near the query lies to tools of its field anywhere: its mean relative cosine to the NEAREST of
        the capabilities, at least LEAST_USUAL."""
        cosines = np.partition(self._capabilities @ query.vector, -NEAREST)[-NEAREST:]
        return max(LEAST_USUAL, float(relative(cosines, self.level(query.vector, query.text)).mean()))


def relative(cosines: NDArray[np.float32] | float, level: NDArray[np.float64] | float) -> NDArray[np.float64]:
    """Cosines on the scale where `level` is 0 and 1 is 1: that of a query, or of many, (n, 1).

    >>> [round(float(x), 3) for x in relative(np.array([0.8, 0.9, 1.0], np.float32), 0.8)]
    [0.0, 0.5, 1.0]
    """
    return (np.asarray(cosines, np.float64) - level) / np.maximum(1e-6, 1.0 - level)
