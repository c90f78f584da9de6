"""Rows in a few coordinates: what batches are spread over, and what gains are computed in.

A ridge penalty ρ_j on the weight of column j is a kernel, Σ_j x_j x'_j / ρ_j. The sketch of a row is its
place along the AXES leading principal axes of that kernel, found on a sample of the rows, with a
constant as its last coordinate.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse

from aced._types import Array, Float32, Float64, Ints
from aced._workers import Workers
from aced.pool import Pool

AXES = 64
SAMPLED = 512
"""Axes are those of at most this many rows."""
CONSTANT = 0.5
"""The constant coordinate, relative to the mean length of a sketch."""


@dataclass(frozen=True)
class Axes:
    """x becomes (x - centre) matrix."""

    centre: Float32  # (p,); zero for sparse rows
    matrix: Float32  # (p, q)
    constant: float

    def apply(self, rows: Any) -> Float32:
        """Sketches (m, q + 1)."""
        moved = rows @ self.matrix
        moved = moved.toarray() if scipy.sparse.issparse(moved) else moved
        moved = moved - self.centre @ self.matrix
        last = np.full((len(moved), 1), self.constant)
        return np.concatenate([moved, last], axis=1).astype(np.float32)


def find_axes(pool: Pool, penalty: Float64) -> Axes:
    """The axes for a penalty ρ (p,) along each column; a column with ρ = 0 carries nothing."""
    n = len(pool)
    some = np.unique(np.linspace(0, n - 1, min(n, SAMPLED)).astype(np.int64))
    rows = pool.rows(some)
    scale = np.where(penalty > 0, 1 / np.sqrt(np.where(penalty > 0, penalty, 1.0)), 0.0)
    sparse = scipy.sparse.issparse(rows)
    centre = np.zeros(pool.features) if sparse else rows.mean(axis=0, dtype=float)
    z = rows.multiply(scale).tocsr() if sparse else (rows - centre) * scale
    gram = z @ z.T
    gram = gram.toarray() if sparse else gram
    values, vectors = scipy.linalg.eigh(gram)
    kept = np.flatnonzero(values > 1e-9 * max(float(values[-1]), 1e-300))[::-1][:AXES]
    directions = np.asarray(z.T @ (vectors[:, kept] / np.sqrt(values[kept])))
    length = float(np.sqrt(values[kept].sum() / len(some)))
    matrix = (scale[:, None] * directions).astype(np.float32)
    return Axes(centre.astype(np.float32), matrix, CONSTANT * (length if length > 0 else 1.0))


def sketched(pool: Pool, workers: Workers, axes: Axes, rows: Ints) -> Float32:
    """Sketches of some rows of the pool, (m, q + 1)."""
    if len(rows) == len(pool):
        return np.asarray(workers.each(_sketch, pool, axes)[0])
    return axes.apply(pool.rows(rows))


def _sketch(block: Any, axes: Axes) -> tuple[Array]:
    return (axes.apply(block),)
