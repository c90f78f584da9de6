"""The Gaussian width of a list of directions, and the design that makes it least.

    F(λ) = E max_h Σ_i s_i a_hi·ζ_i,   s = 1 / sqrt(λ),   ζ_i ~ N(0, I)

A row's entry a_hi is a number for two classes. For K classes it is a vector of K - 1 numbers, a
difference of corners (:mod:`aced._labelings`), and a_hi·ζ_i is the difference of the noise of two
classes, each N(0, ½).

F is convex in s and, since it grows with every s_i (Jensen), convex in λ too. With
G_i = E[a_ĥi·ζ_i], ĥ the maximiser at λ, F = Σ s_i G_i and F(λ') ≥ Σ s'_i G_i for every
λ', because a maximum is at least what ĥ gives. The right side is least at λ' ∝ G^(2/3):

    F* ≥ (Σ_i G_i^(2/3))^(3/2)        (a lower bound from any λ),

which is also the fixed point that the iteration looks for. Draws come in pairs ζ, -ζ, so
that one matrix product serves two.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from aced._errors import InvalidInput
from aced._types import Array, Float32, Float64
from aced._workers import Workers
from aced.design.explicit._allocation import Allocation, spread

ERRORS = 3.0
"""Estimated lower bounds are lowered by this many standard errors."""
CHUNK = 512
"""How many pairs of draws share one matrix product."""


@dataclass(frozen=True)
class Width:
    """F(λ) with its standard error, and G with its own."""

    value: float
    stderr: float
    sensitivity: Float64  # (n,)
    noise: Float64  # (n,): standard errors of the sensitivity

    def certain(self, errors: float = ERRORS) -> Float64:
        """G where it is ``errors`` standard errors above zero, and zero elsewhere."""
        return np.where(self.sensitivity > errors * self.noise, self.sensitivity, 0.0)

    def lower(self, errors: float = ERRORS) -> float:
        """The lower bound on F* from the rows whose G is certain, lowered by ``errors`` standard errors.

        The plug-in bound is low on average (a minimum over λ' of noisy sums), its noise is
        about that of F, and leaving out rows around zero keeps their noise from adding up.
        """
        bound = float(np.cbrt(np.square(self.certain(errors))).sum() ** 1.5)
        return max(0.0, bound - errors * self.stderr)


def width(
    directions: Array, lam: Float64, pairs: int, seed: int, *, workers: Workers | None = None
) -> Width:
    """F(λ) over ``pairs`` pairs of draws; chunk c of the noise is a function of (seed, c).

    ``directions`` has shape (H, n) for two classes and (H, n, K - 1) for K.

    >>> round(width(np.eye(2), np.array([0.5, 0.5]), 20000, 0).value, 1)  # sqrt(2/π)
    0.8
    """
    whole = _table(directions)  # (H, n, K - 1)
    inverse = inverse_root(lam).astype(np.float32)
    _, n, others = whole.shape
    table = whole.reshape(len(whole), -1)
    scaled = np.ascontiguousarray(table * np.repeat(inverse, others))
    chunks = -(-pairs // CHUNK)

    def one(index: int) -> tuple[Array, ...]:
        size = min(CHUNK, pairs - index * CHUNK)
        stream = np.random.Generator(np.random.SFC64([seed, index]))
        zeta = stream.standard_normal((size, n * others), dtype=np.float32)
        scores = zeta @ scaled.T
        top, bottom = scores.argmax(axis=1), scores.argmin(axis=1)
        at = np.arange(size)
        means = (scores[at, top].astype(float) - scores[at, bottom]) / 2
        terms = ((table[top] - table[bottom]) * zeta / 2).reshape(size, n, others).sum(axis=2)
        return (
            np.array([means.sum(), np.square(means).sum()]),
            terms.sum(axis=0, dtype=float),
            np.square(terms).sum(axis=0, dtype=float),
        )

    totals, sums, squares = (workers or Workers()).sum(one, chunks)
    value, sensitivity = totals[0] / pairs, sums / pairs
    spread = max(totals[1] / pairs - value**2, 0.0)
    noise = np.sqrt(np.maximum(squares / pairs - sensitivity**2, 0.0) / max(pairs - 1, 1))
    return Width(float(value), float(np.sqrt(spread / max(pairs - 1, 1))), sensitivity, noise)


def narrowest(
    directions: Array,
    seed: int,
    *,
    pairs: int = 1024,
    rounds: int = 40,
    final_pairs: int = 16384,
    workers: Workers | None = None,
) -> Allocation:
    """argmin over λ of F(λ), for F itself (not its square).

    G is averaged over the rounds so far with weights that forget the early ones; the
    value is then measured on draws that the design has not seen.
    """
    table = _table(directions)
    used = np.asarray(table.any(axis=(0, 2)))
    if not used.any():
        raise InvalidInput("directions", "must have an entry that is not zero")
    workers = workers or Workers()
    table = table[:, used]
    inner = np.full(table.shape[1], 1 / table.shape[1])
    mean = np.zeros(table.shape[1])
    seeds = np.random.SeedSequence(seed).generate_state(rounds + 1, np.uint64).tolist()
    with workers.session():
        for number in range(rounds):
            found = width(table, inner, pairs, seeds[number], workers=workers)
            share = max(1 / (number + 1), 4 / (number + 4) if number > 4 else 0.5)
            mean += min(share, 1.0) * (found.sensitivity - mean)
            inner = 0.5 * inner + 0.5 * fixed_point(mean, inner)
        last = width(table, inner, final_pairs, seeds[rounds], workers=workers)
    return Allocation(spread(inner, used), last.value, min(last.lower(), last.value), last.stderr)


def fixed_point(sensitivity: Float64, otherwise: Float64) -> Float64:
    """G^(2/3) on the simplex."""
    powered = np.cbrt(np.square(np.maximum(sensitivity, 0.0)))
    total = powered.sum()
    return np.asarray(powered / total) if total > 0 else otherwise


def inverse_root(lam: Float64, floor: float = 1e-12) -> Float64:
    """s = 1 / sqrt(λ), with λ kept off zero."""
    return np.asarray(1 / np.sqrt(np.maximum(lam, floor / len(lam))))


def _table(directions: Array) -> Float32:
    """The directions with the axis of the classes, (H, n, K - 1)."""
    table = np.ascontiguousarray(directions, dtype=np.float32)
    if table.ndim not in (2, 3) or 0 in table.shape or not np.isfinite(table).all():
        raise InvalidInput("directions", "must be a matrix of finite numbers, one row a hypothesis")
    return table if table.ndim == 3 else table[:, :, None]
