"""ρ*(ε) = min_λ max_{h ≠ h*} ‖h* - h‖²_{A(λ)^-1} / max(Δ_h, ε)²: what telling one rival from
the best costs, for the best design."""

from __future__ import annotations

import numpy as np

from aced.design.explicit import Allocation, minimax
from aced.theory._bandit import Bandit
from aced.theory.complexity._rivals import nothing_to_find, rivals


def rho(problem: Bandit, epsilon: float = 0.0, tolerance: float = 1e-7) -> Allocation:
    """ρ* with its design; exact up to the gap it reports. Infinite when Δ_h = ε = 0 for a rival.

    >>> from aced.theory._instances import spread
    >>> round(rho(spread(5)).value, 6)  # 4 m² / (m + 1)²
    2.777778
    """
    which, scale = rivals(problem, epsilon)
    if len(which) == 0 or not np.isfinite(scale).all():
        return nothing_to_find(problem, len(which) == 0)
    return minimax(problem.apart[which] * np.square(scale)[:, None], tolerance)
