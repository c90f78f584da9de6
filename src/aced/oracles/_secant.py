"""Steps for sparse pools: BFGS with the last step remembered, H⁻¹ for its start, no line search.

At a point with gradient g the next step is, with the last step s and the change of the gradient
y = g(w) - g(w + s) along it (sᵀy > 0: the loss is convex),

    a = sᵀg / sᵀy,   z = H⁻¹ (g - a y),   d = z + (a - yᵀz / sᵀy) s,

for each of B draws by itself. On these losses that takes as many steps as conjugate gradients with an
exact line search, and each costs one gradient. A step that ends on a steep way down went too far: it is
taken back, and what it taught of the curvature shortens the next.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from aced._types import Array, Float64
from aced._workers import Workers
from aced.oracles import _sparse_kernels as kernels

TOO_FAR = 0.5
"""A step is taken back when the slope at its end is this much of the one at its beginning, downwards."""


class Secant:
    """B points on their way from zero, where gradients and first steps are given; all (B, p + 1).

    The arrays that it is given, then and on the way, become its own.
    """

    def __init__(
        self, workers: Workers, solve: Callable[[Array], Array], gradient: Array, step: Array
    ) -> None:
        self._workers, self._solve = workers, solve
        self._gradient, self._step = gradient.T, step.T  # (p + 1, B), as all that is kept
        self._here = np.zeros_like(self._step)
        self._there = self._step.copy()

    @property
    def point(self) -> Array:
        """Where the gradient is wanted next."""
        return self._there.T

    def on(self, gradient: Array) -> None:
        step, here, before, after = self._step, self._here, self._gradient, gradient.T
        draws = step.shape[1]

        def slopes(span: slice) -> Float64:
            out = np.zeros((2, draws))
            kernels.slopes(step[span], before[span], after[span], out)
            return out

        start, end = self._sum(slopes)
        back = end < -TOO_FAR * start
        known = start - end > np.finfo(np.float32).tiny
        inverse = known / np.where(known, start - end, 1.0)  # 1 / sᵀy
        share = inverse * np.where(back, start, end)  # a
        by, reduced = share.astype(np.float32), np.empty_like(step)

        def settle(span: slice) -> None:  # before becomes y
            kernels.settle(back, by, step[span], here[span], before[span], after[span], reduced[span])

        self._each(settle)
        turned = self._solve(reduced.T).T  # z

        def along(span: slice) -> Float64:
            out = np.zeros(draws)
            kernels.dots(before[span], turned[span], out)
            return out

        by = (share - inverse * self._sum(along)).astype(np.float32)

        def move(span: slice) -> None:
            kernels.move(turned[span], by, step[span], here[span], self._there[span])

        self._each(move)
        self._gradient = after

    def _each(self, task: Callable[[slice], object]) -> None:
        kernels.spans(self._workers, task, len(self._step))

    def _sum(self, task: Callable[[slice], Float64]) -> Float64:
        return np.asarray(np.sum(kernels.spans(self._workers, task, len(self._step)), axis=0))
