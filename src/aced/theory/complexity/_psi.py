"""ψ*(ε) = min_λ max_{h ≠ h*} max_{i: h(i) ≠ h*(i)} 1 / (λ_i max(Δ_h, ε)): what the rarest draw costs
an importance-weighted estimator.

The maximum runs over rows on which some h disagrees with h*. For row i only the rival
with the smallest gap matters, so λ_i ∝ c_i = 1 / min_{h: h(i) ≠ h*(i)} max(Δ_h, ε) and
ψ* = Σ c_i.
"""

from __future__ import annotations

import numpy as np

from aced.design.explicit import Allocation, peak
from aced.theory._bandit import Bandit
from aced.theory.complexity._rivals import nothing_to_find, rivals


def psi(problem: Bandit, epsilon: float = 0.0) -> Allocation:
    """ψ* with its design, in closed form.

    >>> from aced.theory._instances import spread
    >>> round(psi(spread(7)).value, 9)
    7.0
    """
    which, scale = rivals(problem, epsilon)
    if len(which) == 0 or not np.isfinite(scale).all():
        return nothing_to_find(problem, len(which) == 0)
    return peak((problem.apart[which] * scale[:, None]).max(axis=0))
