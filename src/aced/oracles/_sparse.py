"""Sparse rows, where p x p numbers are too many: H is a diagonal and a few directions, steps are secant.

Points and gradients are transposed matrices of float32, so that a product with CSR rows reads and
fills B neighbouring numbers of a feature at a time.
"""

from __future__ import annotations

import numpy as np

from aced._types import Array, Float32, Float64
from aced._workers import Workers
from aced.oracles import _passes, _sparse_kernels
from aced.oracles._geometry import Solve, Start
from aced.oracles._low_rank import LowRank
from aced.oracles._secant import Secant
from aced.oracles._weights import Weights
from aced.pool import Pool, inverse_spread


class SparseGeometry:
    """The geometry of sparse rows (:class:`aced.oracles._geometry.Geometry`)."""

    steps, offers_all = 8, False

    def __init__(self, pool: Pool, workers: Workers) -> None:
        self.pool, self.workers = pool, workers
        self.centre = workers.fold(_passes.total, pool)[0] / len(pool)
        mean_square = workers.fold(_passes.squares, pool)[0] / len(pool)
        spread = np.sqrt(np.maximum(mean_square - np.square(self.centre), 0.0))
        self.inverse_spread = inverse_spread(spread, self.centre)

    def metric(self, weights: Weights, ridge: float | Float64) -> LowRank:
        assert isinstance(ridge, float)
        return LowRank(self, weights, ridge)

    def unfold(self, standard: Array) -> Float32:
        return _sparse_kernels.unfold(standard.T, self.centre, self.inverse_spread).T

    def fold_gradient(self, raw: Float64, total: Float64) -> Float32:
        return _sparse_kernels.centre(raw, total, self.centre, self.inverse_spread).T

    def walk(self, start: Start, solve: Solve, momentum: float) -> Secant:
        return Secant(self.workers, solve, start.gradient(), start.point(), start.draws)
