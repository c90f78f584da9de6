"""Steps for dense pools: accelerated gradient steps, shaped by H⁻¹.

    w ← y + H⁻¹ g(y),    y ← w + momentum (w - w_previous).

H need not majorise the loss of each draw, so a draw whose gradient grew (in the norm of H⁻¹) goes back
to where it was and halves its step.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from aced._types import Bools, Float64
from aced.oracles._geometry import Solve, per_draw


@dataclass(frozen=True)
class Iterate:
    """Points ((K - 1) B, p + 1) of B draws with their gradients and H⁻¹ times those."""

    point: Float64
    direction: Float64
    gradient: Float64
    draws: int

    @cached_property
    def norm(self) -> Float64:
        """Squared length of a draw's gradient in the norm of H⁻¹, for each of its rows."""
        return per_draw(np.einsum("bp,bp->b", self.gradient, self.direction), self.draws)

    def where(self, keep: Bools, other: Iterate) -> Iterate:
        """These points where ``keep`` is true, the other's elsewhere."""
        if keep.all():
            return self
        mine = keep[:, None]
        return Iterate(
            np.where(mine, self.point, other.point),
            np.where(mine, self.direction, other.direction),
            np.where(mine, self.gradient, other.gradient),
            self.draws,
        )


class Accelerated:
    """Points of ``draws`` draws that move from the given ``point``, ((K - 1) B, p + 1)."""

    def __init__(self, solve: Solve, point: Float64, momentum: float, draws: int) -> None:
        self._solve, self._momentum, self._draws = solve, momentum, draws
        self.point = self._previous = point
        self._step = np.ones((len(point), 1))
        self._kept: Iterate | None = None

    def on(self, gradient: Float64) -> None:
        here = Iterate(self.point, self._solve(gradient), gradient, self._draws)
        momentum: float | Float64 = self._momentum
        previous = self._previous
        if self._kept is not None:
            grew = here.norm > self._kept.norm
            here = here.where(~grew, self._kept)
            previous = np.where(grew[:, None], here.point, previous)
            self._step = np.where(grew[:, None], self._step / 2, self._step)
            momentum = np.where(grew[:, None], 0.0, self._momentum)
        moved = here.point + self._step * here.direction
        self.point = moved + momentum * (moved - previous)
        self._previous, self._kept = moved, here
