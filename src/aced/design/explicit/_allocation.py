"""What the solvers of this package return."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from aced._types import Bools, Float64


@dataclass(frozen=True)
class Allocation:
    """A design with its value and a lower bound on the value of any design.

    ``stderr`` is zero where the value is computed exactly; where it is estimated, the bound is
    lowered by three standard errors.
    """

    lam: Float64  # (n,)
    value: float
    lower: float
    stderr: float = 0.0

    @property
    def gap(self) -> float:
        """What a better design could save at most, relative to the value."""
        return 1 - self.lower / self.value if 0 < self.value < float("inf") else 0.0


def spread(inner: Float64, used: Bools) -> Float64:
    """λ over all rows (n,): ``inner`` on the rows in use, zero elsewhere."""
    lam = np.zeros(len(used))
    lam[used] = inner
    return lam
