"""Families of oracle weights, v_b = r_b μ̂ - s ζ_b, given block by block.

All oracle calls of a design share μ̂, s and ζ and differ in the level r, so an oracle prepares once for
a family and answers for many r. Any weights V are the special case μ̂ = 0, s = 1, ζ = -V.

With K classes a row has K - 1 weights, those of the classes 1 … K-1 relative to class 0, whose weight is
0. Arrays for B draws have (K - 1) B columns, class by class (:mod:`aced._types`).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.special import erf

from aced._types import Array, Bools, Codes, Float32, Float64
from aced._workers import PerRow
from aced.oracles._noise import GivenNoise, Noise, spread_of_normals
from aced.pool import Pool

GROWTH_ROWS = 2**16
"""The growth of H is estimated from at most this many rows: it need not be exact."""


@dataclass(frozen=True)
class Weights:
    """The family v_b = r_b μ̂ - s ζ_b, r still open."""

    pool: Pool
    mu: Float32  # (n, K - 1); (n,) is taken as one column
    scale: Float32  # (n,)
    noise: Noise

    def __post_init__(self) -> None:
        object.__setattr__(self, "mu", columns_of(self.mu))

    @classmethod
    def given(cls, pool: Pool, vectors: Array) -> Weights:
        """The weights in ``vectors``: (B, n) or (n,) for two classes, (B, n, K - 1) for K."""
        n, noise = len(pool), GivenNoise(pool, -np.asarray(vectors))
        return cls(pool, np.zeros((n, noise.classes - 1), np.float32), np.ones(n, np.float32), noise)

    @property
    def draws(self) -> int:
        return self.noise.draws

    @property
    def classes(self) -> int:
        """K."""
        return int(self.mu.shape[1]) + 1

    @cached_property
    def rows(self) -> tuple[Noise, PerRow, PerRow]:
        """ζ, s and μ̂ as arguments of a kernel; made once, so that a backend sends them once."""
        return self.noise, PerRow(self.scale), PerRow(self.mu)

    def block(self, index: int, r: Float32) -> Float32:
        """V of one block at levels r, shape (rows, (K - 1) B)."""
        rows = self.pool.slices[index]
        signal = (self.mu[rows, :, None] * r).reshape(-1, (self.classes - 1) * self.draws)
        return np.asarray(signal - self.noise.block(index) * self.scale[rows, None], dtype=np.float32)

    def tally(self, index: int, labels: Codes) -> Float64:
        """(Σ μ̂ h, Σ s ζ h) over one block for labels of shape (rows, B); shape (2, B)."""
        rows, draws = self.pool.slices[index], self.draws
        spread = self.noise.block(index) * self.scale[rows, None]
        total = np.zeros((2, draws))
        for c in range(1, self.classes):
            chosen, part = (labels == c).astype(np.float32), spread[:, (c - 1) * draws : c * draws]
            total += np.stack([self.mu[rows, c - 1] @ chosen, np.einsum("ib,ib->b", chosen, part)])
        return total

    @cached_property
    def coupled(self) -> Bools:
        """Rows whose weights depend on r."""
        return np.asarray((self.mu != 0).any(axis=1))

    @cached_property
    def base(self) -> Float64:
        """E of a row's total weight, Σ_c v_c - K min_c v_c, at r = 0; E|v| for two classes. (n,)."""
        return (self.scale * self.noise.mean_weight()).astype(float)

    def growth(self, r: float) -> float:
        """Mean of the total weights over the coupled rows, relative to its value at r = 0.

        For two classes E|a - s ζ| = s sqrt(2/π) exp(-a²/2s²) + a erf(a / (s sqrt 2)), the folded normal.
        For more, the same formula joins the total weights of noise alone and of r μ̂ alone.
        """
        if not self.coupled.any():
            return 1.0
        size, s, base = self._coupled_rows
        a = abs(r) * size
        z = a / s
        folded = s * np.sqrt(2 / np.pi) * np.exp(-np.minimum(z * z / 2, 700)) + a * erf(z / np.sqrt(2))
        return float(folded.mean() / base)

    @cached_property
    def _coupled_rows(self) -> tuple[Float64, Float64, float]:
        """Total weight of μ̂, s, and the mean total weight at r = 0, over coupled rows (not all if many).

        With more classes s is that of the folded normal with the mean of ``base``.
        """
        rows = np.flatnonzero(self.coupled)
        rows = rows[:: -(-len(rows) // GROWTH_ROWS)]
        mu, scale = self.mu[rows].astype(float), self.scale[rows].astype(float)
        if self.classes > 2:
            scale *= spread_of_normals(self.classes) / spread_of_normals(2)
        return total_weight(mu), scale, float(self.base[rows].mean())


def total_weight(v: Array) -> Array:
    """Σ_c v_c - K min_c v_c over the classes, class 0 with v = 0 among them; the classes are last."""
    if v.shape[-1] == 1:
        return np.asarray(np.abs(v[..., 0]))
    least = np.minimum(v.min(axis=-1), 0)
    return np.asarray(v.sum(axis=-1) - (v.shape[-1] + 1) * least)


def columns_of(mu: Any) -> Float32:
    """μ̂ with one column for each class but class 0; a vector is that of two classes."""
    array = np.asarray(mu)
    return array[:, None] if array.ndim == 1 else array


def value(r: Array, tally: Float64) -> Float64:
    """Σ_i v_i h_i from the two sums of a tally."""
    return np.asarray(r * tally[0] - tally[1], dtype=float)
