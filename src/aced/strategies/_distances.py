"""Distances to the nearest of a growing set of rows, block by block."""

from __future__ import annotations

import numpy as np

from aced._types import Float32, Float64, Ints
from aced._workers import Workers
from aced.pool import Pool

AT_ONCE = 256
"""Centres whose distances are computed in one product."""


class Nearest:
    """Squared distance of every row to its nearest centre; rows may be scaled.

    ``scale`` (n,) multiplies the rows, so that gradient embeddings scale_i (x_i, 1) need not
    be stored; ``bias`` says whether that 1 is there.
    """

    def __init__(
        self, pool: Pool, workers: Workers, scale: Float32 | None = None, bias: bool = False
    ) -> None:
        self.pool, self.workers = pool, workers
        self.scale = np.ones(len(pool), np.float32) if scale is None else scale.astype(np.float32)
        self.bias = float(bias)

        def one(index: int) -> Float64:
            block = pool.block(index)
            return np.asarray(np.einsum("ij,ij->i", block, block), dtype=float) + self.bias

        self.norms = np.square(self.scale.astype(float)) * np.concatenate(workers.map(one, pool.blocks))
        self.squares = np.full(len(pool), np.inf)

    def add(self, centres: Ints) -> None:
        """Take more rows as centres."""
        for start in range(0, len(centres), AT_ONCE):
            part = centres[start : start + AT_ONCE]
            rows = np.ascontiguousarray(self.pool.rows(part).T)

            def one(index: int, part: Ints = part, rows: Float32 = rows) -> Float64:
                at = self.pool.slices[index]
                product = (self.pool.block(index) @ rows + np.float32(self.bias)).astype(float)
                product *= self.scale[at, None].astype(float) * self.scale[part].astype(float)
                squares = self.norms[at, None] + self.norms[part] - 2 * product
                return np.asarray(squares.min(axis=1))

            nearest = np.concatenate(self.workers.map(one, self.pool.blocks))
            self.squares = np.minimum(self.squares, np.maximum(nearest, 0.0))
        self.squares[centres] = 0.0
