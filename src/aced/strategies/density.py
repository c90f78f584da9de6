"""Density-weighted uncertainty: uncertain rows that many others resemble.

    value = (1 - max(p, 1 - p)) · (mean cosine similarity to the pool)^β

(information density, Settles and Craven 2008). The mean similarity of a row is its unit
vector's product with the mean of all unit vectors, so it costs one pass over the pool.
"""

from __future__ import annotations

import numpy as np
from scipy.special import expit

from aced._errors import InvalidInput
from aced._types import Array, Float64
from aced._workers import Workers
from aced.pool import Pool
from aced.strategies._base import Plan, Stateless, View
from aced.strategies._ranked import highest
from aced.strategies.passive import Passive


class Density(Stateless):
    """Uncertainty times density to the power β."""

    name = "density"

    def __init__(self, beta: float = 1.0) -> None:
        if not beta >= 0:
            raise InvalidInput(f"beta must not be negative, got {beta}")
        self.beta = float(beta)
        self._known: tuple[Pool, Float64] | None = None

    def plan(self, view: View, size: int, rng: np.random.Generator) -> Plan:
        scores = view.scores()
        if scores is None:
            return Passive().plan(view, size, rng)
        if self._known is None or self._known[0] is not view.pool:
            self._known = view.pool, similarity(view.pool, view.workers)
        uncertainty = expit(-np.abs(scores))
        return highest(uncertainty * self._known[1] ** self.beta, view, size)

    def options(self) -> dict[str, float]:
        return {"beta": self.beta}


def similarity(pool: Pool, workers: Workers) -> Float64:
    """Mean cosine similarity to the pool after centring, moved to [0, 1]; shape (n,)."""

    def first(index: int) -> tuple[Array]:
        return (pool.block(index).sum(axis=0, dtype=float),)

    centre = workers.sum(first, pool.blocks)[0] / len(pool)

    def unit(index: int) -> Float64:
        rows = pool.block(index) - centre
        return np.asarray(rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-30))

    mean = workers.sum(lambda index: (unit(index).sum(axis=0),), pool.blocks)[0] / len(pool)
    return (1 + np.concatenate(workers.map(lambda index: unit(index) @ mean, pool.blocks))) / 2
