"""Steps for sparse pools: BFGS with the last step remembered, H⁻¹ for its start, no line search.

At a point with gradient g the next step is, with the last step s and the change of the gradient
y = g(w) - g(w + s) along it (sᵀy > 0: the loss is convex),

    a = sᵀg / sᵀy,   z = H⁻¹ (g - a y),   d = z + (a - yᵀz / sᵀy) s,

for each of B draws by itself. On these losses that takes as many steps as conjugate gradients with an
exact line search, and each costs one gradient. A step that ends where the loss rises steeply went too
far: it is taken back, and the curvature that it showed shortens the next step.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from aced._types import Array, Float64
from aced._workers import Workers
from aced.oracles import _sparse_kernels as kernels
from aced.oracles._geometry import Solve, per_draw

TOO_FAR = 0.5
"""A step is taken back when the loss rises at its end by more than this share of its first fall."""


class Secant:
    """Points of ``draws`` draws that move from zero; ``gradient`` and the first ``step`` are given.

    Both are ((K - 1) B, p + 1). A draw's columns, one for each class, move together: products are summed
    over its classes. The walk overwrites all arrays that it is given.
    """

    def __init__(self, workers: Workers, solve: Solve, gradient: Array, step: Array, draws: int) -> None:
        self._workers, self._solve, self._draws = workers, solve, draws
        self._gradient, self._step = gradient.T, step.T  # (p + 1, (K - 1) B), as are all arrays kept
        self._here = np.zeros_like(self._step)
        self._there = self._step.copy()

    @property
    def point(self) -> Array:
        """Where the gradient is wanted next."""
        return self._there.T

    def on(self, gradient: Array) -> None:
        step, here, before, after = self._step, self._here, self._gradient, gradient.T
        columns = step.shape[1]
        start, end = self._sum(kernels.slopes, (2, columns), step, before, after)
        back = end < -TOO_FAR * start
        known = start - end > np.finfo(np.float32).tiny
        inverse = known / np.where(known, start - end, 1.0)  # 1 / sᵀy
        share = inverse * np.where(back, start, end)  # a
        reduced = np.empty_like(step)
        settle = partial(kernels.settle, back, share.astype(np.float32))
        self._each(settle, step, here, before, after, reduced)  # before becomes y
        turned = self._solve(reduced.T).T  # z
        by = share - inverse * self._sum(kernels.dots, (columns,), before, turned)
        self._each(partial(kernels.move, by.astype(np.float32)), turned, step, here, self._there)
        self._gradient = after

    def _each(self, kernel: Callable[..., None], *arrays: Array) -> None:
        """The kernel on every span of the features."""
        count = len(self._step)
        kernels.spans(self._workers, lambda span: kernel(*(array[span] for array in arrays)), count)

    def _sum(self, kernel: Callable[..., None], shape: tuple[int, ...], *arrays: Array) -> Float64:
        """What the kernel adds up over all spans of the features."""

        def one(span: slice) -> Float64:
            out = np.zeros(shape)
            kernel(*(array[span] for array in arrays), out)
            return out

        total = np.sum(kernels.spans(self._workers, one, len(self._step)), axis=0)
        return per_draw(np.asarray(total), self._draws)
