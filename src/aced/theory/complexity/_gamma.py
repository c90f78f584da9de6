"""γ*(ε) = min_λ E[max_{h ≠ h*} (h* - h)·A(λ)^(-1/2) ζ / max(Δ_h, ε)]²: what it costs to tell all
rivals from the best at once, without a union bound.

The maximum runs over the rivals, as in the appendix. (The main text lets h* itself, at
ratio 0, take part; that changes γ* by at most the order of ρ*.)

For K classes every row and class has noise of its own, ζ_ic ~ N(0, ½), and the numerator is
Σ_i (ζ_{i,h*(i)} - ζ_{i,h(i)}) / sqrt(λ_i). Its variance is ‖h* - h‖² = Σ_i 1{h(i) ≠ h*(i)} / λ_i, as for
two classes, where it is the paper's.
"""

from __future__ import annotations

import numpy as np

from aced._labelings import corners
from aced._workers import Workers
from aced.design.explicit import Allocation, narrowest
from aced.theory._bandit import Bandit
from aced.theory.complexity._rivals import nothing_to_find, rivals


def gamma(
    problem: Bandit,
    epsilon: float = 0.0,
    *,
    seed: int = 0,
    pairs: int = 1024,
    rounds: int = 40,
    final_pairs: int = 16384,
    workers: Workers | None = None,
) -> Allocation:
    """γ* with its design, standard error and lower bound; the options are those of ``narrowest``."""
    which, scale = rivals(problem, epsilon)
    if len(which) == 0 or not np.isfinite(scale).all():
        return nothing_to_find(problem, len(which) == 0)
    points = corners(problem.sets, problem.classes)  # (H, n, K - 1)
    directions = (points[problem.best] - points[which]) * scale[:, None, None]
    found = narrowest(
        directions, seed, pairs=pairs, rounds=rounds, final_pairs=final_pairs, workers=workers
    )
    value = max(found.value, 0.0)
    return Allocation(found.lam, value**2, found.lower**2, 2 * value * found.stderr)
