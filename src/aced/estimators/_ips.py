"""Importance weighting: unbiased, but the rarest row gives it a heavy tail.

    μ̂_ic = Σ_s y_sc 1{I_s = i} / (t λ_i)

(the estimator of the remark after the fixed-budget theorem, with γ = 0). y is ±1 for two classes and
1{Y = c} - 1{Y = 0} for K (:mod:`aced.estimators._sample`). For two labelings the term of a draw,
(y_{h(I)} - y_{h'(I)}) / λ_I, is at most 1/λ_I in size and zero where h = h', whatever K is: so
Bernstein's bound has the rows in which they differ and nothing else.
"""

from __future__ import annotations

import numpy as np

from aced._labelings import columns_of
from aced._types import Array, Float64
from aced.estimators._sample import Sample, log_level


def ips(sample: Sample) -> Float64:
    """μ̂, of the shape of ``sample.sums``; rows that cannot be drawn (λ_i = 0) stay at 0."""
    reached = sample.lam > 0
    weight = max(sample.t, 1) * np.where(reached, sample.lam, 1.0)
    return np.asarray(np.where(sample.per_row(reached), sample.sums / sample.per_row(weight), 0.0))


def ips_width(v: Array, lam: Float64, t: int, delta: float) -> float:
    """|v·(μ̂ - μ)| is at most this with probability 1 - δ (Bernstein).

    v is the difference of two sets, in {-1, 0, 1}ⁿ; for K classes the difference of two labelings,
    v_ic = 1{h(i) = c} - 1{h'(i) = c}, shape (n, K - 1).

    sqrt(2 L ‖v‖²_{A(λ)^-1} / t) + L max_{i: v_i ≠ 0} 1/λ_i / (3t),   L = log(2/δ)
    """
    level = log_level(delta)
    rows = columns_of(v).any(axis=1)
    if not rows.any():
        return 0.0
    inverse = 1 / lam[rows]
    return float(np.sqrt(2 * level * inverse.sum() / t) + level * inverse.max() / (3 * t))
