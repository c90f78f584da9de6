"""The distance of every row to the nearest of a growing set of rows, block by block."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse

from aced._types import Float32, Float64, Ints
from aced._workers import PerRow, Workers
from aced.pool import Pool

AT_ONCE = 256
"""How many centres have their distances computed in one product."""


class Nearest:
    """Squared distance of every row to its nearest centre; rows may be multiplied by factors.

    With ``factors`` a (n, r), row i stands for the r p numbers a_i ⊗ x_i, which are not stored: an inner
    product of two such rows is that of their factors times that of the rows,

        (a_i ⊗ x_i)·(a_j ⊗ x_j) = (a_i·a_j) (x_i·x_j).

    ``bias`` says whether the rows x end with a 1, as those of gradient embeddings do.
    """

    def __init__(
        self, pool: Pool, workers: Workers, factors: Float32 | None = None, bias: bool = False
    ) -> None:
        self.pool, self.workers = pool, workers
        self.factors = np.ones((len(pool), 1), np.float32) if factors is None else factors
        self.bias = float(bias)

        (lengths,) = workers.each(_squared_lengths, pool)
        self.norms = _row_squares(self.factors) * (lengths + self.bias)
        self.squares = np.full(len(pool), np.inf)
        self._per_row = PerRow(self.factors), PerRow(self.norms)  # made once, so that they are sent once

    def add(self, centres: Ints) -> None:
        """Take more rows as centres."""
        for start in range(0, len(centres), AT_ONCE):
            part = centres[start : start + AT_ONCE]
            rows = self.pool.rows(part).T
            rows = rows.tocsc() if scipy.sparse.issparse(rows) else np.ascontiguousarray(rows)
            known = rows, self.factors[part], self.norms[part], self.bias
            (nearest,) = self.workers.each(_nearest, self.pool, *self._per_row, *known)
            self.squares = np.minimum(self.squares, np.maximum(nearest, 0.0))
        self.squares[centres] = 0.0


def _row_squares(factors: Float32) -> Float64:
    """|a_i|² of every row, in double precision, one column after the other."""
    total = np.zeros(len(factors))
    for column in factors.T:
        total += np.square(column.astype(float))
    return total


def _squared_lengths(block: Any) -> tuple[Float64]:
    if scipy.sparse.issparse(block):
        return (np.asarray(block.multiply(block).sum(axis=1), dtype=float).ravel(),)
    return (np.asarray(np.einsum("ij,ij->i", block, block), dtype=float),)


def _nearest(
    block: Any,
    factors: Float32,
    norms: Float64,
    centres: Any,
    centre_factors: Float32,
    centre_norms: Float64,
    bias: float,
) -> tuple[Float64]:
    """Squared distance of the rows to the nearest of the ``centres`` (p, m), one in each column."""
    product = block @ centres
    product = product.toarray() if scipy.sparse.issparse(product) else product
    product = (product + np.float32(bias)).astype(float)
    product *= factors.astype(float) @ centre_factors.astype(float).T
    return (np.asarray((norms[:, None] + centre_norms - 2 * product).min(axis=1)),)
