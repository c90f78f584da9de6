"""Dense rows: H is kept as a whole, steps are few and accelerated, and every iterate is offered."""

from __future__ import annotations

import numpy as np

from aced._types import Float32, Float64
from aced._workers import Workers
from aced.oracles import _passes
from aced.oracles._accelerated import Accelerated
from aced.oracles._cholesky import Cholesky
from aced.oracles._geometry import Solve, Start
from aced.oracles._weights import Weights
from aced.pool import Pool, inverse_spread


def column_moments(pool: Pool, workers: Workers) -> tuple[Float64, Float64]:
    """Mean and spread of each column of a dense pool, in two passes; (p,)."""
    centre = workers.fold(_passes.total, pool)[0] / len(pool)
    variance = workers.fold(_passes.squared_deviation, pool, centre)[0] / len(pool)
    return centre, np.sqrt(variance)


class DenseGeometry:
    """The geometry of dense rows (:class:`aced.oracles._geometry.Geometry`)."""

    steps, offers_all = 1, True

    def __init__(self, pool: Pool, workers: Workers) -> None:
        self.pool, self.workers = pool, workers
        self.centre, spread = column_moments(pool, workers)
        self.inverse_spread = inverse_spread(spread, self.centre)

    def metric(self, weights: Weights, ridge: float | Float64) -> Cholesky:
        return Cholesky(self, weights, ridge)

    def unfold(self, standard: Float64) -> Float32:
        raw = standard[:, :-1] * self.inverse_spread
        bias = standard[:, -1] - raw @ self.centre
        return np.concatenate([raw, bias[:, None]], axis=1).astype(np.float32)

    def fold_gradient(self, raw: Float64, total: Float64) -> Float64:
        centred = (raw.T - total[:, None] * self.centre) * self.inverse_spread
        return np.concatenate([centred, total[:, None]], axis=1)

    def walk(self, start: Start, solve: Solve, momentum: float) -> Accelerated:
        return Accelerated(solve, start.point(), momentum, start.draws)
