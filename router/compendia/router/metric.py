"""A metric that experience teaches: directions in which requests for one tool differ count for less.

Requests that one tool served differ in names, places and manners that say nothing about the tool. Their
pooled covariance within tools, shrunk towards a sphere, whitens the space (linear discriminant analysis,
Fisher 1936; shrinkage as in Ledoit and Wolf 2004). It is learned from used tools and serves unused ones too:
under it a description is nearer to its requests. On ToolBench G3 with a quarter of the tools hidden, the
description alone found 0.54 of the hidden tools' requests where the plain cosine found 0.50.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from .vectors import Rows, Vectors

SHRINKAGE = 0.3
"""Share of the mean variance that is added to every direction."""

ENOUGH_TOOLS = 32
"""How many used tools there must be to learn from."""


@dataclass(frozen=True)
class Metric:
    """Vectors (n, d) are centred and mapped by `transform` (d, d), then brought to length 1. learned: False
    for the metric that changes nothing."""

    center: NDArray[np.float32]
    transform: NDArray[np.float32]
    learned: bool = True

    def project(self, vectors: Vectors) -> Vectors:
        """(n, d) unit vectors; a vector at the center stays 0."""
        return unit(np.asarray((vectors - self.center) @ self.transform, np.float32))


def plain(dimension: int) -> Metric:
    """The metric that leaves unit vectors as they are."""
    return Metric(np.zeros(dimension, np.float32), np.eye(dimension, dtype=np.float32), learned=False)


def learn(vectors: Vectors, owners: Rows, count: int) -> Metric:
    """The metric of requests (n, d) that belong to tools 0..count-1."""
    exact = vectors.astype(np.float64)
    sizes = np.maximum(1, np.bincount(owners, minlength=count))
    sums = _members(owners, count) @ exact
    # The scatter within tools is the whole less that of their means: no copy of all requests is centred.
    between = sums / np.sqrt(sizes)[:, None]
    covariance = (exact.T @ exact - between.T @ between) / max(1, len(exact))
    dimension = covariance.shape[0]
    sphere = max(1e-6, float(np.trace(covariance)) / dimension)
    whitened = np.linalg.inv(covariance + SHRINKAGE * sphere * np.eye(dimension))
    return Metric(exact.mean(axis=0).astype(np.float32), np.linalg.cholesky(whitened).astype(np.float32))


def prototypes(projected: Vectors, owners: Rows, count: int) -> Vectors:
    """The mean direction of each tool's requests, (count, d) of length 1; zeros for a tool without any."""
    return unit(np.asarray(_members(owners, count).astype(np.float32) @ projected, np.float32))


def _members(owners: Rows, count: int) -> scipy.sparse.csr_matrix:
    """(count, n): 1 where a row is an owner's."""
    shape = (count, len(owners))
    return scipy.sparse.csr_matrix((np.ones(len(owners)), (owners, np.arange(len(owners)))), shape=shape)


def unit(vectors: Vectors) -> Vectors:
    """Rows of length 1; rows of zeros stay."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(vectors / np.maximum(lengths, 1e-9), np.float32)
