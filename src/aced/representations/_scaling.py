"""How a pool's columns are scaled before anything is fitted to them.

Two ways are known, and the labels decide between them (:mod:`._choice`). Either every column is divided
by its own spread, which is right where columns have units of their own. Or all are divided by one
number, which is right where a column's spread says how much it matters, as on principal axes: dividing
these by their spreads would make noise as large as the signal. Columns are centred at the pool's means,
and constant columns drop out. Sparse rows are not centred and have one number only.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse

from aced._types import Array, Float32, Float64
from aced._workers import Workers
from aced.oracles import column_moments
from aced.pool import Pool, inverse_spread

SHARE = 20
"""The constant column has this part of a scaled row's mean squared length, and at least 1."""


@dataclass(frozen=True)
class Scaling:
    """Rows x become (x - centre) · factor; columns with the factor 0 drop out."""

    centre: Float32 | None  # (p,); None: rows are sparse and stay where they are
    factor: Float32  # (p,), the same everywhere for sparse rows

    @property
    def columns(self) -> int:
        """How many columns are left."""
        return int(np.count_nonzero(self.factor))

    @property
    def constant(self) -> float:
        """b, the constant beside scaled rows: a fixed part of their mean length, and at least 1."""
        return float(np.sqrt(max(1.0, self.columns / SHARE)))

    def apply(self, rows: Any) -> Any:
        """The scaled rows, of the same kind."""
        if self.centre is None:
            return rows * self.factor[0]
        return (rows - self.centre) * self.factor

    def undo(self, weights: Float64) -> tuple[Float64, Float64]:
        """Weights (C, p) of scaled rows as weights of the rows, and what to add to the offsets (C,)."""
        own = weights * self.factor.astype(float)
        if self.centre is None:
            return own, np.zeros(len(own))
        return own, -own @ self.centre.astype(float)


def scalings(pool: Pool, workers: Workers) -> tuple[Scaling, ...]:
    """The scalings to choose from, the preferred one first. They take two passes over the pool."""
    n = len(pool)
    if pool.sparse:
        (total,) = workers.fold(_sum_of_squares, pool)
        size = float(np.sqrt(total / (n * pool.features)))
        return (Scaling(None, np.full(pool.features, 1 / size if size > 0 else 1.0, np.float32)),)
    centre, spread = column_moments(pool, workers)
    own = inverse_spread(spread, centre)
    used = own > 0
    common = np.sqrt(np.square(spread[used]).mean()) if used.any() else 1.0
    middle = centre.astype(np.float32)
    return (
        Scaling(middle, own.astype(np.float32)),
        Scaling(middle, np.where(used, 1 / common, 0.0).astype(np.float32)),
    )


def _sum_of_squares(block: Any) -> tuple[Array]:
    assert scipy.sparse.issparse(block)
    return (np.asarray(np.square(block.data, dtype=float).sum()),)
