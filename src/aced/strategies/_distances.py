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
    """Squared distance of every row to its nearest centre; rows may be scaled.

    ``scale`` (n,) multiplies the rows, so that gradient embeddings scale_i (x_i, 1) need not
    be stored; ``bias`` says whether the rows end with that 1.
    """

    def __init__(
        self, pool: Pool, workers: Workers, scale: Float32 | None = None, bias: bool = False
    ) -> None:
        self.pool, self.workers = pool, workers
        self.scale = np.ones(len(pool), np.float32) if scale is None else scale.astype(np.float32)
        self.bias = float(bias)

        (lengths,) = workers.each(_squared_lengths, pool)
        self.norms = np.square(self.scale.astype(float)) * (lengths + self.bias)
        self.squares = np.full(len(pool), np.inf)
        self._per_row = PerRow(self.scale), PerRow(self.norms)  # made once, so that they are sent once

    def add(self, centres: Ints) -> None:
        """Take more rows as centres."""
        for start in range(0, len(centres), AT_ONCE):
            part = centres[start : start + AT_ONCE]
            rows = self.pool.rows(part).T
            rows = rows.tocsc() if scipy.sparse.issparse(rows) else np.ascontiguousarray(rows)
            (nearest,) = self.workers.each(
                _nearest, self.pool, *self._per_row, rows, self.scale[part], self.norms[part], self.bias
            )
            self.squares = np.minimum(self.squares, np.maximum(nearest, 0.0))
        self.squares[centres] = 0.0


def _squared_lengths(block: Any) -> tuple[Float64]:
    if scipy.sparse.issparse(block):
        return (np.asarray(block.multiply(block).sum(axis=1), dtype=float).ravel(),)
    return (np.asarray(np.einsum("ij,ij->i", block, block), dtype=float),)


def _nearest(
    block: Any,
    scale: Float32,
    norms: Float64,
    centres: Any,
    centre_scale: Float32,
    centre_norms: Float64,
    bias: float,
) -> tuple[Float64]:
    """Squared distance of the rows to the nearest of the ``centres`` (p, m), one in each column."""
    product = block @ centres
    product = product.toarray() if scipy.sparse.issparse(product) else product
    product = (product + np.float32(bias)).astype(float)
    product *= scale[:, None].astype(float) * centre_scale.astype(float)
    return (np.asarray((norms[:, None] + centre_norms - 2 * product).min(axis=1)),)
