"""The disagreement region of a ball around h* and the disagreement coefficient

    θ(ξ) = sup_{r ≥ ξ} |DIS(B(h*, r))| / (n r),   B(h*, r) = {h: |{i: h(i) ≠ h*(i)}| ≤ n r}.

h* is in every ball, so a row is in DIS(B) when some h of the ball differs from h* there.
"""

from __future__ import annotations

import numpy as np

from aced._types import Bools
from aced.theory._bandit import Bandit


def disagreement_region(problem: Bandit, radius: float) -> Bools:
    """Rows on which two hypotheses within ``radius`` (a fraction of n) of h* differ."""
    inside = problem.distances <= radius * problem.n * (1 + 1e-12)
    return np.asarray(problem.apart[inside].any(axis=0))


def disagreement_coefficient(problem: Bandit, xi: float = 0.0) -> float:
    """θ(ξ); with ξ = 0 it is the supremum over all radii.

    The region grows only where r meets a distance, so those radii (and ξ) suffice.

    >>> from aced.theory._instances import spread
    >>> disagreement_coefficient(spread(6))
    6.0
    """
    n = problem.n
    order = np.argsort(problem.distances, kind="stable")
    sizes = np.logical_or.accumulate(problem.apart[order], axis=0).sum(axis=1)
    radii = problem.distances[order] / n
    last = np.append(radii[1:] > radii[:-1], True)  # the whole shell of a radius counts
    radii, sizes = radii[last], sizes[last]
    beyond = radii >= max(xi, 1e-300)
    ratios = list(sizes[beyond] / (n * radii[beyond]))
    if xi > 0 and (radii <= xi).any():
        ratios.append(sizes[radii <= xi][-1] / (n * xi))
    return float(max(ratios, default=0.0))
