"""What the linear class needs to know of a pool's rows; dense and sparse rows answer differently.

Separators move in standardised coordinates z = ((x - centre) · inverse_spread, 1). A geometry
converts points and gradients, (B, p + 1), to these coordinates and back.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

from aced._types import Array, Float32, Float64
from aced._workers import Workers
from aced.oracles._weights import Weights
from aced.pool import Pool

Solve = Callable[[Array], Array]
"""H⁻¹ g for each row g, (B, p + 1)."""

REUSE = 2.0
"""H is found anew when the weights of the rows with μ̂ changed by more than this factor."""


class Metric(Protocol):
    """H for one family of weights."""

    weights: Weights
    _held: tuple[float, Any] | None = None

    def at(self, r: float) -> Any:
        """H at level r, in the form that ``solve`` takes; the same object as long as H is kept."""
        growth = self.weights.growth(r)
        if self._held is None or not 1 / REUSE < growth / self._held[0] < REUSE:
            self._held = (growth, self._form(growth))
        return self._held[1]

    def _form(self, growth: float) -> Any:
        """H where the weights of the rows with μ̂ are ``growth`` times those at r = 0."""

    def solve(self, form: Any, gradients: Array) -> Array:
        """H⁻¹ g for each row g, (B, p + 1)."""

    def sizes(self, points: Array) -> Float64:
        """wᵀ H w at r = 0 for each row w, up to a common factor."""

    def leverage(self, r: float, pool: Pool) -> Float64:
        """x_iᵀ H⁻¹ x_i for every row of a pool, (n,)."""


class Walk(Protocol):
    """B points on their way to the maxima."""

    @property
    def point(self) -> Array:
        """Where they are, (B, p + 1)."""

    def on(self, gradient: Array) -> None:
        """Take the next step, with the gradients at ``point``."""


class Geometry(Protocol):
    """The standardised coordinates of a pool, and how B points move in them."""

    steps: int
    """How many steps follow the first, by default."""

    offers_all: bool
    """Whether every iterate is offered, or only the best of each draw, which takes less memory."""

    pool: Pool
    workers: Workers
    centre: Float64  # (p,)
    inverse_spread: Float64  # (p,), 0 for a constant column

    def __init__(self, pool: Pool, workers: Workers) -> None: ...

    def metric(self, weights: Weights, ridge: float) -> Metric:
        """H, with a ridge relative to its diagonal."""

    def unfold(self, standard: Array) -> Float32:
        """Weights for standardised features (B, p + 1) to weights for the pool's own."""

    def fold_gradient(self, raw: Float64, total: Float64) -> Array:
        """Σ_i r_ib x_i (p, B) and Σ_i r_ib (B,) to the gradients in standardised coordinates."""

    def walk(self, r: Float32, pulls: Array, solved: Array, solve: Solve, momentum: float) -> Walk:
        """A walk from the Newton steps (r_b u - z_b) / 2; ``solved`` = H⁻¹ ``pulls`` has rows u, z_b."""


def fold(geometry: Geometry, coefficients: Float32) -> Float64:
    """The inverse of ``Geometry.unfold``, for one hypothesis (p + 1,)."""
    slopes, inverse = coefficients[:-1].astype(float), geometry.inverse_spread
    standard = np.divide(slopes, inverse, out=np.zeros_like(slopes), where=inverse > 0)
    return np.append(standard, float(coefficients[-1]) + slopes @ geometry.centre)
