"""Water-filling: draw so that all draws so far, old and new, follow the latest design.

    p_k = argmin over q in the simplex of max_j max(0, k λ_kj - Σ_{i<k} p_ij - q_j)

(appendix, "Sampling"). With deficits d_j = k λ_kj - Σ p_ij the solution is
q_j = max(d_j - level, 0), where the level makes q sum to one: sort once, O(n log n).
"""

from __future__ import annotations

import numpy as np

from aced._types import Float64


def waterfill(deficits: Float64, mass: float = 1.0) -> Float64:
    """q ≥ 0 with Σ q = ``mass`` that minimises the largest remaining deficit.

    >>> waterfill(np.array([0.6, 0.5, -0.1]))
    array([0.55, 0.45, 0.  ])
    """
    ordered = np.sort(deficits)[::-1]
    levels = (np.cumsum(ordered) - mass) / np.arange(1, len(ordered) + 1)
    level = levels[np.flatnonzero(ordered > levels)[-1]]
    return np.asarray(np.maximum(deficits - level, 0.0))
