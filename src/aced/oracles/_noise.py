"""The noise ζ of a design, block by block: of each class relative to class 0.

Let every row and class have noise of its own, N(0, ½). Relative to class 0 the K - 1 others then have
the covariance ½ (I + 11ᵀ) (with two classes: one standard normal). From independent standard normals ε,
its Cholesky factor gives

    ζ_c = sqrt((c + 1) / 2c) ε_c + Σ_{j<c} ε_j / sqrt(2j (j + 1)),   c = 1 … K-1.
"""

from __future__ import annotations

from functools import cache
from typing import Any, Protocol

import numpy as np
from scipy.integrate import quad
from scipy.stats import norm

from aced._errors import InvalidInput
from aced._types import Array, Float32
from aced.pool import Pool

CACHE_BYTES = 512 * 1024**2
"""Noise is kept in memory up to this size; blocks beyond it are drawn anew on each pass."""

_sent: dict[tuple[int, ...], dict[int, Float32]] = {}
"""The noise that another process keeps, by its recipe: only that of the last recipe it was sent."""


class Noise(Protocol):
    """B vectors over the pool and K - 1 classes, readable block by block."""

    draws: int
    classes: int  # K

    def at(self, index: int, rows: slice) -> Float32:
        """The noise of one block, as an argument of a kernel."""

    def part(self, rows: slice) -> Noise:
        """The part that the blocks of these rows need."""

    def block(self, index: int) -> Float32:
        """The noise of one block, shape (rows of the block, (K - 1) B)."""

    def mean_weight(self) -> Float32:
        """E of Σ_c v_c - K min_c v_c with v = -ζ, for each row (E|ζ| for two classes); shape (n,)."""


class GaussianNoise:
    """ζ_1 … ζ_B; a block is a function of (seed, block) alone."""

    def __init__(self, pool: Pool | None, draws: int, seed: int, classes: int = 2) -> None:
        self.draws, self.seed, self.classes = draws, seed, classes
        self._n, self._slices = (0, ()) if pool is None else (len(pool), pool.slices)
        self._kept: dict[int, Float32] = {}
        self._room = CACHE_BYTES // (4 * draws * (classes - 1))  # rows

    def __reduce__(self) -> tuple[Any, ...]:
        return _received, (self.draws, self.seed, self.classes)

    def at(self, index: int, rows: slice) -> Float32:
        kept = self._kept.get(index)
        if kept is not None and len(kept) == rows.stop - rows.start:  # of this pool, not of another
            return kept
        stream = np.random.Generator(np.random.SFC64([self.seed, index]))
        shape = (rows.stop - rows.start, (self.classes - 1) * self.draws)
        zeta = _correlated(stream.standard_normal(shape, dtype=np.float32), self.draws)
        if (len(self._kept) + 1) * len(zeta) <= self._room:
            self._kept[index] = zeta
        return zeta

    def part(self, rows: slice) -> GaussianNoise:
        return self

    def block(self, index: int) -> Float32:
        return self.at(index, self._slices[index])

    def mean_weight(self) -> Float32:
        return np.full(self._n, spread_of_normals(self.classes), dtype=np.float32)


def _received(draws: int, seed: int, classes: int) -> GaussianNoise:
    """The same noise in another process, where only kernels can use it."""
    noise, recipe = GaussianNoise(None, draws, seed, classes), (draws, seed, classes)
    if recipe not in _sent:
        _sent.clear()
    noise._kept = _sent.setdefault(recipe, {})
    return noise


def _correlated(epsilon: Float32, draws: int) -> Float32:
    """ζ from ε, in place."""
    count = epsilon.shape[1] // draws
    if count > 1:
        before = np.zeros((len(epsilon), draws), np.float32)
        for c in range(1, count + 1):
            own = epsilon[:, (c - 1) * draws : c * draws]
            part = own * np.float32(1 / np.sqrt(2 * c * (c + 1)))
            own *= np.float32(np.sqrt((c + 1) / (2 * c)))
            own += before
            before += part
    return epsilon


@cache
def spread_of_normals(classes: int) -> float:
    """E of Σ_c z_c - K min_c z_c for K independent z ~ N(0, ½): K times the mean of their maximum.

    >>> round(spread_of_normals(2), 6) == round(float(np.sqrt(2 / np.pi)), 6)
    True
    """
    if classes == 2:
        return float(np.sqrt(2 / np.pi))

    def density(x: float) -> float:
        return float(x * classes * norm.pdf(x) * norm.cdf(x) ** (classes - 1))

    return float(classes * quad(density, -10, 10)[0] / np.sqrt(2))


class GivenNoise:
    """Vectors that the caller holds: (B, n) for two classes, (B, n, K - 1) for K."""

    def __init__(self, pool: Pool, vectors: Array) -> None:
        array = np.asarray(vectors, dtype=np.float32)
        array = np.atleast_2d(array) if array.ndim < 3 else array
        if array.ndim > 3 or array.shape[1] != len(pool) or 0 in array.shape:
            raise InvalidInput(
                "weights",
                f"must have one column per row of the pool ({len(pool)}), got shape {array.shape}",
            )
        if not np.isfinite(array).all():
            raise InvalidInput("weights", "must be finite numbers")
        self.pool, self.draws = pool, len(array)
        self.vectors = array if array.ndim == 3 else array[:, :, None]
        self.classes = self.vectors.shape[2] + 1
        self._first = 0

    def at(self, index: int, rows: slice) -> Float32:
        here = slice(rows.start - self._first, rows.stop - self._first)
        part = self.vectors[:, here].transpose(1, 2, 0)  # (rows, K - 1, B)
        return np.ascontiguousarray(part).reshape(len(part), -1)

    def part(self, rows: slice) -> GivenNoise:
        piece = GivenNoise.__new__(GivenNoise)
        piece.vectors, piece.draws, piece.classes = self.vectors[:, rows], self.draws, self.classes
        piece._first = rows.start
        return piece

    def block(self, index: int) -> Float32:
        return self.at(index, self.pool.slices[index])

    def mean_weight(self) -> Float32:
        if self.classes == 2:
            return np.asarray(np.abs(self.vectors[:, :, 0]).mean(axis=0), dtype=np.float32)
        most = np.maximum(self.vectors.max(axis=2), 0)  # v = -ζ: its least is ζ's most
        return np.asarray((self.classes * most - self.vectors.sum(axis=2)).mean(axis=0), np.float32)
