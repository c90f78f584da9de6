"""Ridge importance weighting: a little bias buys a sub-Gaussian tail in one direction.

    μ̂_i = Σ_s y_s 1{I_s = i} / (t λ_i + s),   s = sqrt(L / (3 ‖v‖²_{A(tλ)^-1})),   L = log(2/δ)

and then |v·(μ̂ - μ)| ≤ (sqrt(2/3) + 1) sqrt(2 L ‖v‖²_{A(tλ)^-1}) with probability 1 - δ for
the v in {-1, 0, 1}ⁿ that s was made for (prop. ips_bound). On the scale of the paper's
η̂_γ, γ = s / t; the proposition in the main text lacks the 1/t under its root.
"""

from __future__ import annotations

import numpy as np

from aced._types import Array, Bools, Float64, Ints
from aced.estimators._sample import Sample, log_level

CONSTANT = np.sqrt(2 / 3) + 1


def ridge(sample: Sample, s: float) -> Float64:
    """μ̂ with the ridge s > 0."""
    return np.asarray(sample.sums / (sample.t * sample.lam + s))


def ridge_for(v: Array, lam: Float64, t: int, delta: float) -> float:
    """The s of the proposition for the direction v."""
    return float(np.sqrt(log_level(delta) / (3 * _squared_norm(v, lam, t))))


def ridge_width(v: Array, lam: Float64, t: int, delta: float) -> float:
    """The proposition's bound on |v·(μ̂ - μ)|."""
    return float(CONSTANT * np.sqrt(2 * _squared_norm(v, lam, t) * log_level(delta)))


def pair_estimates(sample: Sample, sets: Bools, first: Ints, second: Ints, s: Float64) -> Float64:
    """(h - h')·μ̂ for many pairs, each with its own ridge s; shapes (pairs,)."""
    table = sets.astype(np.int8)
    drawn = np.flatnonzero((sample.counts > 0) & (sets != sets[0]).any(axis=0))
    estimates = np.zeros(len(s))
    for row in drawn.tolist():
        difference = table[first, row] - table[second, row]
        estimates += difference * (sample.sums[row] / (sample.t * sample.lam[row] + s))
    return estimates


def ridge_bias(v: Array, lam: Float64, t: int, s: float) -> float:
    """|E v·(μ̂ - μ)| is at most s ‖v‖²_{(A(tλ) + sI)^-1}."""
    return float(s * (np.square(v) / (t * lam + s)).sum())


def _squared_norm(v: Array, lam: Float64, t: int) -> float:
    """‖v‖²_{A(tλ)^-1}."""
    rows = v != 0
    return float((np.square(v[rows]) / (t * lam[rows])).sum())
