"""H without p x p numbers: its diagonal, and the few directions in which H is far from its diagonal.

With D = diag H, the matrix D^-½ H D^-½ has the mean eigenvalue 1. For texts, a few dozen eigenvalues
are far above 1, and the rest are taken as equal:

    H⁻¹ ≈ D^-½ (U (Λ + ridge)⁻¹ Uᵀ + (I - U Uᵀ) / σ) D^-½

with the leading eigenvectors U, found by subspace iteration, and σ the mean of the other eigenvalues.
Where there are fewer rows with a weight than features, the mean is over as many eigenvalues as there
are such rows: no more are above 0. The steps make up for the rest (:mod:`aced.oracles._secant`).

Points and gradients come as (B, p + 1) and are used as (p + 1, B) in float32.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from aced._types import Array, Float32, Float64
from aced._workers import PerRow
from aced.oracles import _passes
from aced.oracles._geometry import Geometry, Metric
from aced.oracles._sparse_kernels import spans
from aced.oracles._weights import Weights
from aced.pool import Pool

RANK = 64
"""How many directions are looked for."""

ITERATIONS = 4
"""How many products with H the directions are found by."""

SAMPLE = 4096
"""How many rows the sizes of points are estimated from."""


@dataclass(frozen=True)
class Form:
    """H⁻¹ = diagonal + directions · gains · directionsᵀ at one level r."""

    weight: Float64  # (n,): ¼ E|v|
    diagonal: Float64  # (p + 1,): D⁻¹ / σ, 0 where H is
    directions: Float32  # (p + 1, k): D^-½ U
    gains: Float64  # (k,): 1 / (Λ + ridge) - 1 / σ


class LowRank(Metric):
    """H at any level r, from the two diagonals it is made of and products with it."""

    def __init__(self, geometry: Geometry, weights: Weights, ridge: float) -> None:
        self.geometry, self.weights, self.ridge = geometry, weights, ridge
        self._weight = weights.base / 4
        free, tied = np.where(weights.coupled, [[0], [1]], [[1], [0]]) * self._weight
        sums = geometry.workers.fold(_passes.moments, geometry.pool, PerRow(free), PerRow(tied))
        self._free, self._coupled = self._diagonal(*sums[:3]), self._diagonal(*sums[3:])
        self._basis: Float32 | None = None
        self._sample: tuple[Any, Float64] | None = None

    def _diagonal(self, mass: Float64, first: Float64, second: Float64) -> Float64:
        """Σ c z² over the rows, z standardised, from Σ c, Σ c x and Σ c x²; (p + 1,)."""
        centre, inverse = self.geometry.centre, self.geometry.inverse_spread
        squares = second - 2 * centre * first + np.square(centre) * mass
        return np.append(np.maximum(squares, 0.0) * np.square(inverse), mass)

    def _form(self, growth: float) -> Form:
        diagonal = self._free + growth * self._coupled
        live = diagonal > 0
        root = np.zeros_like(diagonal)
        root[live] = 1 / np.sqrt(diagonal[live])
        scale = root.astype(np.float32)[:, None]
        weight = np.where(self.weights.coupled, growth, 1.0) * self._weight
        rows = PerRow(weight.astype(np.float32))  # made once, so that a backend sends it once
        trace, rank = int(live.sum()), min(int(live.sum()), int((weight > 0).sum()))
        if self._basis is None:  # the basis serves other levels as well
            shape = (len(diagonal), min(RANK, rank))
            self._basis = np.random.default_rng(0).standard_normal(shape, dtype=np.float32)
            for _ in range(ITERATIONS):
                self._basis = _orthonormal(self._times(self._basis, scale, rows))
        basis = self._basis
        image = (basis.T @ self._times(basis, scale, rows)).astype(float)
        values, turn = np.linalg.eigh((image + image.T) / 2)
        above = values > 1
        values, vectors = values[above], basis @ turn[:, above].astype(np.float32)
        others = rank - len(values)
        rest = max((trace - values.sum()) / others, self.ridge) if others else 1.0  # σ
        gains = 1 / (values + self.ridge) - 1 / rest
        return Form(weight, np.square(root) / rest, scale * vectors, gains)

    def _times(self, basis: Float32, scale: Float32, weight: PerRow) -> Float32:
        """D^-½ H D^-½ times the columns of ``basis``: two products with the rows."""
        geometry = self.geometry
        coefficients = geometry.unfold((scale * basis).T)
        sums = geometry.workers.fold(_passes.curvature, geometry.pool, weight, coefficients)
        return np.asarray(scale * geometry.fold_gradient(*sums).T)

    def solve(self, form: Form, gradients: Array) -> Array:
        """H⁻¹ g for each row g."""
        g, workers = gradients.T, self.geometry.workers
        solved = np.empty(g.shape, np.float32)

        def along(span: slice) -> Float32:
            return np.asarray(form.directions[span].T @ g[span])

        gained = form.gains[:, None] * np.sum(spans(workers, along, len(g)), axis=0, dtype=float)
        gained = gained.astype(np.float32)

        def both(span: slice) -> None:
            np.matmul(form.directions[span], gained, out=solved[span])
            solved[span] += form.diagonal[span, None].astype(np.float32) * g[span]

        spans(workers, both, len(g))
        return solved.T

    def sizes(self, points: Array) -> Float64:
        """wᵀ H w at r = 0 for each row w, up to a common factor: over SAMPLE rows at most."""
        if self._sample is None:
            rows = np.sort(np.random.default_rng(0).permutation(len(self._weight))[:SAMPLE])
            self._sample = self.weights.pool.rows(rows), self._weight[rows]
        sampled, weight = self._sample
        margins = _passes.margins(sampled, self.geometry.unfold(np.asarray(points, np.float32)))
        return np.asarray(weight @ np.square(margins, dtype=float))

    def leverage(self, r: float, pool: Pool) -> Float64:
        """x_iᵀ H⁻¹ x_i of the pool's rows; shape (n,).

        The true one is at most 1 / w_i with w_i = ¼ E|v_i|, since H contains w_i x_i x_iᵀ. The
        approximation of H need not contain that, so its leverage a_i is taken as one without row i;
        with row i it is a_i / (1 + w_i a_i). Rows of another pool get the mean w.
        """
        geometry, form = self.geometry, self.at(r)
        own = pool is self.weights.pool
        weight = form.weight if own else form.weight.mean()
        square = form.diagonal[:-1] * np.square(geometry.inverse_spread)
        cross = -2 * square * geometry.centre
        constant = form.diagonal[-1] + square @ np.square(geometry.centre)
        coefficients = geometry.unfold(form.directions.T)
        (plain,) = geometry.workers.each(
            _passes.lengths, pool, square, cross, constant, coefficients, form.gains
        )
        return np.asarray(plain / (1 + weight * plain))


def _orthonormal(columns: Float32) -> Float32:
    """An orthonormal basis of what the columns span, up to rounding; far faster than QR for so few.

    It is computed twice: the second time corrects the rounding of the first.
    """
    for _ in range(2):
        values, vectors = np.linalg.eigh((columns.T @ columns).astype(float))
        kept = values > 1e-6 * float(np.max(values, initial=np.finfo(np.float32).tiny))
        columns = columns @ (vectors[:, kept] / np.sqrt(values[kept])).astype(np.float32)
    return columns
