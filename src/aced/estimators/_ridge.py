"""Ridge importance weighting: a little bias buys a sub-Gaussian tail in one direction.

    μ̂_ic = Σ_s y_sc 1{I_s = i} / (t λ_i + s),   s = sqrt(L / (3 ‖v‖²_{A(tλ)^-1})),   L = log(2/δ)

and then |v·(μ̂ - μ)| ≤ (sqrt(2/3) + 1) sqrt(2 L ‖v‖²_{A(tλ)^-1}) with probability 1 - δ for
the v in {-1, 0, 1}ⁿ that s was made for (prop. ips_bound). On the scale of the paper's
η̂_γ, γ = s / t; the proposition in the main text lacks the 1/t under its root.

For K classes v is the difference of two labelings, v_ic = 1{h(i) = c} - 1{h'(i) = c}, and ‖v‖² counts
each row in which they differ once. The proof needs of a draw only that its term is at most 1/(λ + γ)
in size and zero in the other rows, so the proposition holds for K classes as it stands.
"""

from __future__ import annotations

import numpy as np

from aced._labelings import columns_of
from aced._types import Array, Float64, Ints
from aced.estimators._sample import Sample, log_level

CONSTANT = np.sqrt(2 / 3) + 1


def ridge(sample: Sample, s: float) -> Float64:
    """μ̂ with the ridge s > 0, of the shape of ``sample.sums``."""
    return np.asarray(sample.sums / sample.per_row(sample.t * sample.lam + s))


def ridge_for(v: Array, lam: Float64, t: int, delta: float) -> float:
    """The s of the proposition for the direction v."""
    return float(np.sqrt(log_level(delta) / (3 * _squared_norm(v, lam, t))))


def ridge_width(v: Array, lam: Float64, t: int, delta: float) -> float:
    """The proposition's bound on |v·(μ̂ - μ)|."""
    return float(CONSTANT * np.sqrt(2 * _squared_norm(v, lam, t) * log_level(delta)))


def pair_estimates(sample: Sample, sets: Array, first: Ints, second: Ints, s: Float64) -> Float64:
    """(h - h')·μ̂ for many pairs of ``sets`` (H, n), each with its own ridge s; shapes (pairs,)."""
    table = sets.astype(np.int8)
    drawn = np.flatnonzero((sample.counts > 0) & (sets != sets[0]).any(axis=0))
    sums = np.hstack([np.zeros((len(sets[0]), 1)), columns_of(sample.sums)])  # (n, K), class 0 first
    estimates = np.zeros(len(s))
    for row in drawn.tolist():
        difference = sums[row, table[first, row]] - sums[row, table[second, row]]
        estimates += difference / (sample.t * sample.lam[row] + s)
    return estimates


def ridge_bias(v: Array, lam: Float64, t: int, s: float) -> float:
    """|E v·(μ̂ - μ)| is at most s ‖v‖²_{(A(tλ) + sI)^-1}."""
    return float(s * (_squares(v) / (t * lam + s)).sum())


def _squared_norm(v: Array, lam: Float64, t: int) -> float:
    """‖v‖²_{A(tλ)^-1}."""
    squares = _squares(v)
    rows = squares != 0
    return float((squares[rows] / (t * lam[rows])).sum())


def _squares(v: Array) -> Float64:
    """v_i² of every row; for K classes ½ (Σ_c v_ic² + (Σ_c v_ic)²): 1 where two labelings differ."""
    columns = columns_of(v)
    return np.asarray((np.square(columns).sum(axis=1) + np.square(columns.sum(axis=1))) / 2)
