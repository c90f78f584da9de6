"""H without p x p numbers: its diagonal, and the few directions in which it is far from that.

With D = diag H, the matrix D^-½ H D^-½ has the mean eigenvalue 1. Of a text a few dozen eigenvalues are
far above, the rest close together, and they are taken as equal:

    H⁻¹ ≈ D^-½ (U (Λ + ridge)⁻¹ Uᵀ + (I - U Uᵀ) / σ) D^-½,

U the leading eigenvectors, found by subspace iteration, σ the mean of the other eigenvalues. H has as many
positive ones as there are rows at most, so with p > n the mean is over those.
What this leaves out, the steps find (:mod:`aced.oracles._secant`).

Arrays are (p + 1, B) in float32; what comes and goes is their transpose, which is a view.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from aced._types import Array, Float32, Float64
from aced._workers import PerRow
from aced.oracles import _passes
from aced.oracles._weights import Weights

if TYPE_CHECKING:
    from aced.oracles.linear import LinearOracle

RANK = 64
"""Directions kept."""

ITERATIONS = 2
"""Subspace iterations before the eigenvalues are computed."""

SAMPLE = 4096
"""Rows that the sizes of points are estimated from."""

REUSE = 2.0
"""H is found anew when the weights of the labelled rows changed by more than this."""


@dataclass(frozen=True)
class Form:
    """H⁻¹ as a diagonal and RANK directions, the same for all draws."""

    weight: Float32  # (n,): ¼ E|v|
    scale: Float64  # (p + 1,): D^-½, 0 where H is
    vectors: Float64  # (p + 1, k): U
    values: Float64  # (k,): Λ
    rest: float  # σ
    ridge: float

    def solve(self, gradients: Float32) -> Float32:
        """H⁻¹ g for the columns g."""
        directions = (self.scale[:, None] * self.vectors).astype(np.float32)
        gains = 1 / (self.values + self.ridge) - 1 / self.rest
        along = gains[:, None].astype(np.float32) * (directions.T @ gradients)
        solved = directions @ along
        solved += (np.square(self.scale) / self.rest).astype(np.float32)[:, None] * gradients
        return np.asarray(solved)


class LowRank:
    """H at any level r, from its diagonal and products with it."""

    def __init__(self, oracle: LinearOracle, weights: Weights) -> None:
        self.oracle, self.weights = oracle, weights
        self._quarter = (weights.base / 4).astype(np.float32)
        free, tied = (
            np.where(which, 0, self._quarter.astype(float))
            for which in (weights.coupled, ~weights.coupled)
        )
        sums = oracle.workers.fold(_passes.moments, oracle.pool, PerRow(free), PerRow(tied))
        self._free, self._coupled = self._diagonal(*sums[:3]), self._diagonal(*sums[3:])
        self._held: tuple[float, Form] | None = None
        self._sample: tuple[Any, Float32] | None = None

    def _diagonal(self, mass: Float64, first: Float64, second: Float64) -> Float64:
        """Σ c z² over the rows, z standardised, from Σ c, Σ c x and Σ c x²; (p + 1,)."""
        centre, inverse = self.oracle.centre, self.oracle.inverse_spread
        squares = second - 2 * centre * first + np.square(centre) * mass
        return np.append(np.maximum(squares, 0.0) * np.square(inverse), mass)

    def at(self, r: float) -> Form:
        growth = self.weights.growth(r)
        if self._held is None or not 1 / REUSE < growth / self._held[0] < REUSE:
            self._held = (growth, self._form(growth))
        return self._held[1]

    def _form(self, growth: float) -> Form:
        diagonal = self._free + growth * self._coupled
        live = diagonal > 0
        scale = np.zeros_like(diagonal)
        scale[live] = 1 / np.sqrt(diagonal[live])
        weight = np.where(self.weights.coupled, np.float32(growth), np.float32(1)) * self._quarter
        rank = min(int(live.sum()), len(self.weights.pool))
        basis = np.random.default_rng(0).standard_normal((len(diagonal), min(RANK, rank)))
        for _ in range(ITERATIONS):
            basis = np.linalg.qr(self._times(basis, scale, weight))[0]
        image = basis.T @ self._times(basis, scale, weight)
        values, turn = np.linalg.eigh((image + image.T) / 2)
        above = values > 1
        vectors, values = basis @ turn[:, above], values[above]
        others = rank - len(values)
        rest = max(live.sum() - values.sum(), 0.0) / others if others > 0 else 0.0
        return Form(weight, scale, vectors, values, float(rest) if rest > 0 else 1.0, self.oracle.ridge)

    def _times(self, basis: Float64, scale: Float64, weight: Float32) -> Float64:
        """D^-½ H D^-½ times the columns of ``basis``; two products with the rows."""
        oracle = self.oracle
        slopes = oracle.unfold((scale[:, None] * basis).astype(np.float32).T)
        sums = oracle.workers.fold(_passes.curvature, oracle.pool, PerRow(weight), slopes)
        return np.asarray(scale[:, None] * oracle.fold_gradient(*sums).T)

    def solve(self, form: Form, gradients: Array) -> Array:
        """H⁻¹ g for each row g."""
        return form.solve(gradients.T).T

    def sizes(self, points: Array) -> Float64:
        """wᵀ H w at r = 0 for each row w, up to a common factor: over SAMPLE rows at most."""
        if self._sample is None:
            n = len(self.weights.pool)
            rows = np.random.default_rng(0).permutation(n)[:SAMPLE]
            self._sample = self.weights.pool.rows(rows), self._quarter[rows]
        rows, weight = self._sample
        margins = _passes.margins(rows, self.oracle.unfold(points)).astype(float)
        return np.asarray(weight.astype(float) @ np.square(margins))

    def leverage(self, r: float) -> Float64:
        """x_iᵀ H⁻¹ x_i; shape (n,)."""
        oracle, form = self.oracle, self.at(r)
        root = np.sqrt(np.maximum(0, 1 / (form.values + form.ridge)))
        q = np.square(form.scale)
        raise NotImplementedError
