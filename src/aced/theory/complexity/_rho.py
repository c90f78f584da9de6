"""ρ*(ε) = min_λ max_{h ≠ h*} ‖h* - h‖²_{A(λ)^-1} / max(Δ_h, ε)²: what it costs, with the best design,
to tell one rival from the best.

‖h* - h‖²_{A(λ)^-1} = Σ_i 1{h(i) ≠ h*(i)} / λ_i for any number of classes: a draw shows the whole label,
so an importance-weighted comparison of h and h* has at most this variance.
"""

from __future__ import annotations

import numpy as np

from aced.design.explicit import Allocation, minimax
from aced.theory._bandit import Bandit
from aced.theory.complexity._rivals import nothing_to_find, rivals


def rho(problem: Bandit, epsilon: float = 0.0, tolerance: float = 1e-7) -> Allocation:
    """ρ* with its design, up to a relative gap of ``tolerance``; infinite if a rival has Δ_h = ε = 0.

    >>> from aced.theory._instances import spread
    >>> round(rho(spread(5)).value, 6)  # 4 m² / (m + 1)²
    2.777778
    """
    which, scale = rivals(problem, epsilon)
    if len(which) == 0 or not np.isfinite(scale).all():
        return nothing_to_find(problem, len(which) == 0)
    return minimax(problem.apart[which] * np.square(scale)[:, None], tolerance)
