"""Density-weighted uncertainty: uncertain rows that many others resemble.

    value = (1 - max p) · (mean cosine similarity to the pool)^β

(information density, Settles and Craven 2008). The mean similarity of a row is its unit
vector's product with the mean of all unit vectors, so it costs one pass over the pool.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse

from aced._errors import InvalidInput
from aced._types import Array, Float64, Rng
from aced._workers import Workers
from aced.pool import Pool
from aced.strategies._base import Plan, Strategy, View
from aced.strategies._passive import Passive
from aced.strategies._ranked import highest
from aced.strategies._uncertainty import doubts


class Density(Strategy):
    """The open rows with the largest uncertainty times density to the power ``beta``."""

    name = "density"

    def __init__(self, beta: float = 1.0) -> None:
        if not beta >= 0:
            raise InvalidInput("beta", f"must not be negative, got {beta}")
        self.beta = float(beta)
        self._known: tuple[Pool, Float64] | None = None

    def plan(self, view: View, size: int, rng: Rng) -> Plan:
        uncertainty = view.scored(doubts)
        if uncertainty is None:
            return Passive().plan(view, size, rng)
        if self._known is None or self._known[0] is not view.pool:
            self._known = view.pool, similarity(view.pool, view.workers)
        return highest(uncertainty * self._known[1] ** self.beta, view, size)


def similarity(pool: Pool, workers: Workers) -> Float64:
    """Mean cosine similarity to the pool after centring, moved to [0, 1]; shape (n,)."""
    centre = workers.fold(_total, pool)[0] / len(pool)
    mean = workers.fold(_units, pool, centre)[0] / len(pool)
    return (1 + workers.each(_likeness, pool, centre, mean)[0]) / 2


def _total(block: Any) -> tuple[Array]:
    return (np.asarray(block.sum(axis=0, dtype=float)).ravel(),)


def _units(block: Any, centre: Float64) -> tuple[Array]:
    """Σ (x - centre) / |x - centre|."""
    inverse = 1 / _lengths(block, centre)
    return (np.asarray(block.T @ inverse).ravel() - centre * inverse.sum(),)


def _likeness(block: Any, centre: Float64, mean: Float64) -> tuple[Array]:
    """(x - centre)·mean / |x - centre| of every row."""
    return ((np.asarray(block @ mean).ravel() - centre @ mean) / _lengths(block, centre),)


def _lengths(block: Any, centre: Float64) -> Float64:
    if scipy.sparse.issparse(block):
        own = np.asarray(block.multiply(block).sum(axis=1), dtype=float).ravel()
        squares = own - 2 * np.asarray(block @ centre).ravel() + centre @ centre
        return np.asarray(np.sqrt(np.maximum(squares, 1e-60)))
    return np.asarray(np.maximum(np.linalg.norm(block - centre, axis=1), 1e-30))
