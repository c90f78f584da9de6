"""Steps for sparse pools: BFGS with the last step remembered, H⁻¹ for its start, no line search.

At a point with gradient g the next step is, with the last step s and the change of the gradient
y = g(w) - g(w + s) along it (sᵀy > 0: the loss is convex),

    a = sᵀg / sᵀy,   z = H⁻¹ (g - a y),   d = z + (a - yᵀz / sᵀy) s,

for each of B draws by itself. On these losses it needs as many steps as conjugate gradients with an exact
line search, and each costs one gradient. A step after which the slope along it is steeply downwards went too
far: it is taken back, and what it taught of the curvature shortens the next.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from aced._types import Array
from aced.oracles._sparse_kernels import dots

TOO_FAR = 0.5
"""A step is taken back when the slope at its end is this much of the one at its beginning, downwards."""


class Secant:
    """B points on their way from zero, where their gradients and first steps are given; all (B, p + 1)."""

    def __init__(self, solve: Callable[[Array], Array], gradient: Array, step: Array) -> None:
        self._solve = solve
        self._gradient, self._step = gradient.T, step.T  # (p + 1, B), as all that is kept
        self._here = np.zeros_like(self._step)

    @property
    def point(self) -> Array:
        """Where the gradient is wanted next."""
        return (self._here + self._step).T

    def on(self, gradient: Array) -> None:
        """Go on, with the gradient at ``point``."""
        step, before, after = self._step, self._gradient, gradient.T
        start, end = dots(step, before), dots(step, after)
        bend = start - end  # sᵀy
        back = end < -TOO_FAR * start
        here = self._here + step
        change = before - after
        if back.any():
            here, after = np.where(back, self._here, here), np.where(back, before, after)
        known = bend > np.finfo(np.float32).tiny
        share = np.where(known, np.where(back, start, end) / np.where(known, bend, 1.0), 0.0)
        turned = self._solve((after - share.astype(np.float32) * change).T).T
        share -= np.where(known, dots(change, turned) / np.where(known, bend, 1.0), 0.0)
        self._here, self._gradient = here, after
        self._step = turned + share.astype(np.float32) * step
