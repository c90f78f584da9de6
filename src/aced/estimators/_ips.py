"""Importance weighting: unbiased, but the rarest row gives it a heavy tail.

    μ̂_i = Σ_s y_s 1{I_s = i} / (t λ_i)

(the estimator of the remark after the fixed-budget theorem, with γ = 0, for labels ±1).
"""

from __future__ import annotations

import numpy as np

from aced._types import Array, Float64
from aced.estimators._sample import Sample, log_level


def ips(sample: Sample) -> Float64:
    """μ̂; rows that cannot be drawn (λ_i = 0) stay at 0."""
    reached = sample.lam > 0
    weight = max(sample.t, 1) * np.where(reached, sample.lam, 1.0)
    return np.asarray(np.where(reached, sample.sums / weight, 0.0))


def ips_width(v: Array, lam: Float64, t: int, delta: float) -> float:
    """|v·(μ̂ - μ)| is at most this with probability 1 - δ (Bernstein), v in {-1, 0, 1}ⁿ.

    sqrt(2 L ‖v‖²_{A(λ)^-1} / t) + L max_{i: v_i ≠ 0} 1/λ_i / (3t),   L = log(2/δ)
    """
    level = log_level(delta)
    rows = v != 0
    if not rows.any():
        return 0.0
    inverse = 1 / lam[rows]
    return float(np.sqrt(2 * level * inverse.sum() / t) + level * inverse.max() / (3 * t))
