"""Families of oracle weights, v_b = r_b μ̂ - s ζ_b, given block by block.

All oracle calls of a design share μ̂, s and ζ and differ in the level r, so an oracle prepares once for
a family and answers for many r. Any matrix V of weights is the special case μ̂ = 0, s = 1, ζ = -V.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from scipy.special import erf

from aced._errors import InvalidInput
from aced._types import Array, Bools, Float32, Float64
from aced._workers import PerRow
from aced.pool import Pool

CACHE_BYTES = 512 * 1024**2
"""Noise is kept in memory up to this size; blocks beyond it are drawn anew on each pass."""

GROWTH_ROWS = 2**16
"""The growth of H is estimated from at most this many rows: it need not be exact."""

_sent: dict[tuple[int, ...], dict[int, Float32]] = {}
"""The noise that another process keeps, by its recipe: only that of the last recipe it was sent."""


class Noise(Protocol):
    """B vectors over the pool, readable block by block."""

    draws: int

    def at(self, index: int, rows: slice) -> Float32:
        """The noise of one block, as an argument of a kernel."""

    def part(self, rows: slice) -> Noise:
        """The part that the blocks of these rows need."""

    def block(self, index: int) -> Float32:
        """The noise of one block, shape (rows of the block, B)."""

    def mean_absolute(self) -> Float32:
        """E|ζ_i| for each row, shape (n,)."""


class GaussianNoise:
    """ζ_1 … ζ_B ~ N(0, I); a block is a function of (seed, block) alone."""

    def __init__(self, pool: Pool | None, draws: int, seed: int) -> None:
        self.draws, self.seed = draws, seed
        self._n, self._slices = (0, ()) if pool is None else (len(pool), pool.slices)
        self._kept: dict[int, Float32] = {}
        self._room = CACHE_BYTES // (4 * draws)  # rows

    def __reduce__(self) -> tuple[Any, ...]:
        return _received, (self.draws, self.seed)

    def at(self, index: int, rows: slice) -> Float32:
        kept = self._kept.get(index)
        if kept is not None and len(kept) == rows.stop - rows.start:  # of this pool, not of another
            return kept
        stream = np.random.Generator(np.random.SFC64([self.seed, index]))
        zeta = stream.standard_normal((rows.stop - rows.start, self.draws), dtype=np.float32)
        if (len(self._kept) + 1) * len(zeta) <= self._room:
            self._kept[index] = zeta
        return zeta

    def part(self, rows: slice) -> GaussianNoise:
        return self

    def block(self, index: int) -> Float32:
        return self.at(index, self._slices[index])

    def mean_absolute(self) -> Float32:
        return np.full(self._n, np.sqrt(2 / np.pi), dtype=np.float32)


def _received(draws: int, seed: int) -> GaussianNoise:
    """The same noise in another process, where only kernels can use it."""
    noise = GaussianNoise(None, draws, seed)
    if (draws, seed) not in _sent:
        _sent.clear()
    noise._kept = _sent.setdefault((draws, seed), {})
    return noise


class GivenNoise:
    """Vectors that the caller holds, shape (B, n)."""

    def __init__(self, pool: Pool, vectors: Array) -> None:
        self.pool, self.vectors = pool, np.atleast_2d(np.asarray(vectors, dtype=np.float32))
        if self.vectors.shape[1] != len(pool):
            raise InvalidInput(
                "weights",
                f"must have one column per row of the pool ({len(pool)}), "
                f"got shape {self.vectors.shape}",
            )
        if not np.isfinite(self.vectors).all():
            raise InvalidInput("weights", "must be finite numbers")
        self.draws = len(self.vectors)
        self._first = 0

    def at(self, index: int, rows: slice) -> Float32:
        here = slice(rows.start - self._first, rows.stop - self._first)
        return np.ascontiguousarray(self.vectors[:, here].T)

    def part(self, rows: slice) -> GivenNoise:
        piece = GivenNoise.__new__(GivenNoise)
        piece.vectors, piece.draws, piece._first = self.vectors[:, rows], self.draws, rows.start
        return piece

    def block(self, index: int) -> Float32:
        return self.at(index, self.pool.slices[index])

    def mean_absolute(self) -> Float32:
        return np.asarray(np.abs(self.vectors).mean(axis=0), dtype=np.float32)


@dataclass(frozen=True)
class Weights:
    """The family v_b = r_b μ̂ - s ζ_b, r still open."""

    pool: Pool
    mu: Float32  # (n,)
    scale: Float32  # (n,)
    noise: Noise

    @classmethod
    def given(cls, pool: Pool, vectors: Array) -> Weights:
        """The weights in ``vectors``, shape (B, n) or (n,)."""
        n = len(pool)
        noise = GivenNoise(pool, -np.asarray(vectors))
        return cls(pool, np.zeros(n, np.float32), np.ones(n, np.float32), noise)

    @property
    def draws(self) -> int:
        return self.noise.draws

    @cached_property
    def rows(self) -> tuple[Noise, PerRow, PerRow]:
        """ζ, s and μ̂ as arguments of a kernel; made once, so that a backend sends them once."""
        return self.noise, PerRow(self.scale), PerRow(self.mu)

    def block(self, index: int, r: Float32) -> Float32:
        """V of one block at levels r, shape (rows, B)."""
        rows = self.pool.slices[index]
        signal = self.mu[rows, None] * r
        return np.asarray(signal - self.noise.block(index) * self.scale[rows, None], dtype=np.float32)

    def tally(self, index: int, labels: Bools) -> Float64:
        """(Σ μ̂ h, Σ s ζ h) over one block for labels of shape (rows, B); shape (2, B)."""
        rows = self.pool.slices[index]
        chosen = labels.astype(np.float32)
        spread = self.noise.block(index) * self.scale[rows, None]
        return np.stack([self.mu[rows] @ chosen, np.einsum("ib,ib->b", chosen, spread)]).astype(float)

    @cached_property
    def coupled(self) -> Bools:
        """Rows whose weights depend on r."""
        return np.asarray(self.mu != 0)

    @cached_property
    def base(self) -> Float64:
        """E|v_i| at r = 0, shape (n,)."""
        return (self.scale * self.noise.mean_absolute()).astype(float)

    def growth(self, r: float) -> float:
        """Mean of E|r μ̂ - s ζ| over the coupled rows, relative to its value at r = 0.

        E|a - s ζ| = s sqrt(2/π) exp(-a²/2s²) + a erf(a / (s sqrt 2)), the folded normal.
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
        """|μ̂|, s and the mean of E|v| at r = 0 over the coupled rows, or some of them."""
        rows = np.flatnonzero(self.coupled)
        rows = rows[:: -(-len(rows) // GROWTH_ROWS)]
        mu, scale = self.mu[rows].astype(float), self.scale[rows].astype(float)
        return np.abs(mu), scale, float(self.base[rows].mean())


def value(r: Array, tally: Float64) -> Float64:
    """Σ_i v_i h_i from the two sums of a tally."""
    return np.asarray(r * tally[0] - tally[1], dtype=float)
