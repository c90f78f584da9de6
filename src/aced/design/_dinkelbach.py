"""Dinkelbach's iteration for max_h N(h) / D(h), with a few coarser scales (default).

It begins with r = 0. Each step finds h = argmax N(h) - r D(h) and sets r to the best ratio seen. With
an exact oracle this converges to the maximum in a handful of steps. A surrogate oracle answers well at
some scales only, so multiples of the best ratio are tried as levels too, and every hypothesis met
counts. Once shift is small against Σ |μ̂|, the best ratio is that of a hypothesis next to h̃, with
D = shift. That hypothesis is met only at levels far above the ratios of hypotheses far from h̃.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from aced._types import Float64
from aced.design._problem import Found, Problem
from aced.design._trail import Trail
from aced.oracles import Noise

SPAN = 100.0


@dataclass(frozen=True)
class Dinkelbach:
    """Take ``steps`` iterations, then call the oracle at each multiple in ``scales`` of the best ratio.

    The multiples in ``far`` follow where D spans a factor of SPAN or more. With an exact oracle the
    search iterates until nothing improves, without multiples. ``near`` lets the oracle propose
    hypotheses between the incumbent and its answer.
    """

    steps: int = 2
    scales: tuple[float, ...] = (10.0,)
    far: tuple[float, ...] = (1000.0,)
    near: bool = True

    def __call__(
        self, problem: Problem, lam: Float64, noise: Noise, start: Float64 | None = None
    ) -> Found:
        with problem.oracle.workers.session():
            trail = Trail(problem, lam, noise, near=self.near)
            r = np.zeros(noise.draws) if start is None else start
            if problem.oracle.exact:
                _until_steady(trail, r)
                return trail.found()
            for _ in range(self.steps):
                trail.visit(r)
                r = trail.best()
            for scale in self.scales + (self.far if problem.spans(SPAN) else ()):
                trail.visit(scale * r)
                r = trail.best()
            return trail.found()


def _until_steady(trail: Trail, r: Float64, limit: int = 60) -> None:
    for _ in range(limit):
        before = trail.incumbent
        trail.visit(r)
        better = trail.best()
        if trail.incumbent is before and np.allclose(better, r, rtol=1e-9, atol=0):
            return
        r = better
