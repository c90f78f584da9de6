"""H = ¼ Σ_i E|v_i| x_i x_iᵀ as a whole, factorised: for pools whose (p + 1)² numbers fit in memory."""

from __future__ import annotations

import numpy as np
import scipy.linalg

from aced._types import Float64
from aced._workers import PerRow
from aced.oracles import _passes
from aced.oracles._geometry import Geometry, Metric
from aced.oracles._lapack import solve_rows
from aced.oracles._weights import Weights
from aced.pool import Pool

SKETCH = 128
"""With more features than this, leverages are estimated from this many random directions."""


class Cholesky(Metric):
    """H at any level r, from the two sums it is made of."""

    def __init__(self, geometry: Geometry, weights: Weights, ridge: float | Float64) -> None:
        self.geometry, self.weights, self.ridge = geometry, weights, ridge
        root = np.sqrt(weights.base).astype(np.float32)
        multiplier = geometry.inverse_spread.astype(np.float32)
        offset = (geometry.centre * geometry.inverse_spread).astype(np.float32)
        self._free, tied = geometry.workers.fold(
            _passes.gram, geometry.pool, multiplier, offset, PerRow(root), PerRow(weights.coupled)
        )
        self._coupled = tied + np.zeros_like(self._free)

    def _form(self, growth: float) -> Float64:
        """The Cholesky factor of H, lower, shape (p + 1, p + 1)."""
        gram = np.asfortranarray(self._free + growth * self._coupled)
        gram /= 4
        diagonal = np.einsum("ii->i", gram)
        dead = diagonal <= 0
        diagonal += self.ridge * diagonal
        diagonal[dead] = diagonal[~dead].mean() if (~dead).any() else 1.0
        plain = np.sqrt(diagonal)
        factor, info = scipy.linalg.lapack.dpotrf(gram, lower=1, overwrite_a=1)
        if info != 0:  # the ridge was lost to rounding: precondition by the diagonal alone
            factor = np.diag(plain)
        return np.asfortranarray(factor)

    def solve(self, factor: Float64, gradients: Float64) -> Float64:
        """H⁻¹ g for each row g; how the work is split does not depend on the number of threads."""
        width = max(25, -(-len(gradients) // 8))

        def one(index: int) -> Float64:
            return solve_rows(factor, gradients[index * width : (index + 1) * width])

        return np.concatenate(self.geometry.workers.map(one, -(-len(gradients) // width)))

    def sizes(self, points: Float64) -> Float64:
        """wᵀ H w at r = 0 for each row w, up to a common factor."""
        return np.asarray(np.einsum("bp,bp->b", points @ (self._free + self._coupled), points))

    def leverage(self, r: float, pool: Pool) -> Float64:
        """x_iᵀ H⁻¹ x_i of the pool's rows; shape (n,).

        With H = L Lᵀ it is |L⁻¹ x_i|². Beyond SKETCH features that vector is projected by a
        fixed random matrix that keeps lengths to about 12 % (Johnson and Lindenstrauss).
        """
        geometry, factor = self.geometry, self.at(r)
        probes = np.eye(len(factor))
        if len(factor) > SKETCH:
            signs = np.random.default_rng(0).integers(0, 2, (len(factor), SKETCH)) * 2 - 1
            probes = signs / np.sqrt(SKETCH)
        upper = scipy.linalg.solve_triangular(factor, probes, lower=True, trans="T")
        directions = geometry.unfold(upper.T)  # (directions, p + 1)
        return geometry.workers.each(_passes.squared_lengths, pool, directions)[0]
