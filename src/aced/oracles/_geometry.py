"""What the linear class needs to know of a pool's rows; dense and sparse rows answer differently.

Points move in standardised coordinates z = ((x - centre) · inverse_spread, 1). A geometry converts
points and gradients, ((K - 1) B, p + 1) for B hypotheses, to these coordinates and back.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
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


@dataclass(frozen=True)
class Start:
    """Where walks begin: at the Newton steps from zero at levels r, for (K - 1) B columns of B draws.

    ``pulls`` has the sums over μ̂ of each class (K - 1 rows), then those over s ζ of each class and draw;
    ``solved`` = H⁻¹ ``pulls``.
    """

    r: Float32  # (B,)
    pulls: Array
    solved: Array
    classes: int

    @property
    def draws(self) -> int:
        return len(self.r)

    def point(self) -> Array:
        """(K/4) H⁻¹ Σ v_c x, ((K - 1) B, p + 1)."""
        return np.asarray(self._at_level(self.solved) * self._factor(self.classes / 4))

    def gradient(self) -> Array:
        """Σ (v_c - mean_c v_c) x, ((K - 1) B, p + 1)."""
        sums = self._at_level(self.pulls)
        if self.classes == 2:
            return np.asarray(sums * self._factor(0.5))
        mean = over_classes(sums, self.draws) * self._factor(1 / self.classes)
        for first in range(0, len(sums), self.draws):
            sums[first : first + self.draws] -= mean
        return sums

    def _factor(self, number: float) -> Any:
        return self.pulls.dtype.type(number)

    def _at_level(self, sums: Array) -> Array:
        """r_b u_c - z_cb, of rows u_c, z_cb, in the memory order of ``sums``."""
        others = self.classes - 1
        r = np.tile(self.r, others)
        if sums.flags.f_contiguous and not sums.flags.c_contiguous:
            columns = np.repeat(sums.T[:, :others], self.draws, axis=1)
            return (columns * r - sums.T[:, others:]).T
        return np.asarray(r[:, None] * np.repeat(sums[:others], self.draws, axis=0) - sums[others:])


def mix_classes(solved: Array, draws: int, kappa: float) -> Array:
    """(κ/4) (d_c + Σ_c' d_c') of rows d_cb, ((K - 1) B, p + 1); with two classes and κ = 2 they stay."""
    if len(solved) == draws:
        return solved
    total, mixed = over_classes(solved, draws), np.empty_like(solved)
    for first in range(0, len(solved), draws):
        np.add(solved[first : first + draws], total, out=mixed[first : first + draws])
    mixed *= mixed.dtype.type(kappa / 4)
    return mixed


def over_classes(columns: Array, draws: int) -> Array:
    """Σ_c of rows for each class and draw, ((K - 1) B, …), hence (B, …)."""
    total = columns[:draws].copy(order="K")
    for first in range(draws, len(columns), draws):
        total += columns[first : first + draws]
    return total


def per_draw(columns: Array, draws: int) -> Array:
    """Sums over the classes of numbers for (K - 1) B columns, given to each class again."""
    if columns.shape[-1] == draws:
        return columns
    total = columns.reshape(*columns.shape[:-1], -1, draws).sum(axis=-2)
    return np.tile(total, columns.shape[-1] // draws)


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

    def metric(self, weights: Weights, ridge: float | Float64) -> Metric:
        """H, with a ridge relative to its diagonal, one number or one for each column."""

    def unfold(self, standard: Array) -> Float32:
        """Weights for standardised features (B, p + 1) to weights for the pool's own."""

    def fold_gradient(self, raw: Float64, total: Float64) -> Array:
        """Σ_i r_ib x_i (p, B) and Σ_i r_ib (B,) to the gradients in standardised coordinates."""

    def walk(self, start: Start, solve: Solve, momentum: float) -> Walk:
        """A walk from the Newton steps at zero."""


def fold(geometry: Geometry, coefficients: Float32) -> Float64:
    """The inverse of ``Geometry.unfold``, for one hypothesis (p + 1,)."""
    slopes, inverse = coefficients[:-1].astype(float), geometry.inverse_spread
    standard = np.divide(slopes, inverse, out=np.zeros_like(slopes), where=inverse > 0)
    return np.append(standard, float(coefficients[-1]) + slopes @ geometry.centre)
