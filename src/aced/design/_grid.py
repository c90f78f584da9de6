"""The paper's line search over r (Algorithm "LineSearch"), with its published constants.

g(r) = max_h N(h) - r D(h) decreases in r and is zero at the maximum of N/D. A surrogate oracle makes it
only roughly monotone, so the paper walks over r on finer and finer geometric grids and keeps the best
hypothesis met. All draws walk side by side, each on its own grid.

One thing is added. As printed, the grid's factor γ is divided by sqrt(2) at every turn
without end; once γ is below 1, "increase r" would decrease r. Here γ stops at FINEST.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from aced._types import Float64
from aced.design._problem import Found, Problem
from aced.design._trail import Trail
from aced.oracles import Noise

FINEST = 1.05


@dataclass(frozen=True)
class Grid:
    """Calls the oracle ``budget`` + 1 times for each draw; all constants are as published."""

    budget: int = 40
    start: float = 100.0
    widen: float = 10.0
    refine: float = float(np.sqrt(2))

    def __call__(
        self, problem: Problem, lam: Float64, noise: Noise, start: Float64 | None = None
    ) -> Found:
        with problem.oracle.workers.session():
            trail = Trail(problem, lam, noise, near=False)
            r = np.full(noise.draws, self.start)
            gamma = np.full(noise.draws, self.widen)
            g = trail.visit(r)
            halving = g < 0  # r is too large: halve it until g turns
            for _ in range(self.budget):
                r = np.where(halving, r / 2, r)
                g = trail.visit(r)
                walking = ~halving
                up, down = walking & (g > 0), walking & (g <= 0)
                r = np.where(up, r * gamma, np.where(down, r / gamma**2, r))
                gamma = np.where(down, np.maximum(gamma / self.refine, FINEST), gamma)
                halving &= g < 0
            return trail.found()
