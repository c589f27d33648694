"""What a cosine means, per encoder and per snapshot, from everyday sentences that no catalog answers.

Encoders differ: unrelated texts have cosine about 0.1 under MiniLM and about 0.8 under e5. `relative` maps
the encoder's background to 0 and identity to 1, so that one threshold serves both. `probes.txt` was written
for this: sixty requests in a dozen languages that a person makes of another person.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib.resources import files

import numpy as np
from numpy.typing import NDArray

from compendia.text.encode import Encoder

from .query import EncodedQuery, encode_all


@cache
def probes() -> tuple[str, ...]:
    """The probe sentences, in file order."""
    text = files(__package__).joinpath("probes.txt").read_text(encoding="utf-8")
    return tuple(line for line in text.splitlines() if line)


@dataclass(frozen=True)
class Background:
    """What the encoder makes of unrelated requests: `level` is the mean cosine of a probe as a query with
    another as a document, `spread` the standard deviation of those cosines on the relative scale."""

    level: float
    spread: float
    probes: tuple[EncodedQuery, ...]

    def relative(self, cosines: NDArray[np.float32] | float) -> NDArray[np.float64]:
        """Cosines on the scale where unrelated requests are 0 and equal ones 1."""
        return relative(cosines, self.level)


def relative(cosines: NDArray[np.float32] | float, level: float) -> NDArray[np.float64]:
    """Cosines on the scale where `level` is 0 and 1 is 1.

    >>> [round(float(x), 3) for x in relative(np.array([0.8, 0.9, 1.0], np.float32), 0.8)]
    [0.0, 0.5, 1.0]
    """
    return (np.asarray(cosines, np.float64) - level) / max(1e-6, 1.0 - level)


def background(encoder: Encoder) -> Background:
    """Encode the probes and measure the background. Deterministic for an encoder."""
    encoded = tuple(encode_all(list(probes()), encoder))
    queries = np.stack([probe.vector for probe in encoded])
    documents = encoder.encode_documents(probes())
    cosines = (queries @ documents.T)[~np.eye(len(encoded), dtype=bool)]
    level = float(cosines.mean())
    return Background(level, float(relative(cosines, level).std()), encoded)
