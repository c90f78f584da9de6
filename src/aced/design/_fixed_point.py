"""The design as a fixed point (default).

∂F/∂λ_i = -½ λ_i^(-3/2) G_i must be the same for all rows in the support, so at the
optimum λ_i ∝ G_i^(2/3). The iteration λ ← (1 - damping) λ + damping G^(2/3) / Σ G^(2/3)
settles in a few steps once G has little noise (:func:`aced.design._gradient.grouped`).
All steps use the same noise, so each search starts from the ratios of the search before.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from aced._check import whole
from aced._types import Float64, Rng
from aced.design._certificate import Certificate, certify
from aced.design._dinkelbach import Dinkelbach
from aced.design._gradient import Sensitivity, grouped, raw
from aced.design._problem import Found, Problem, Search
from aced.design._solver import Design, Report, draw_noise


@dataclass(frozen=True)
class FixedPoint:
    """Takes at most ``rounds`` steps; each evaluates F with ``draws`` noise vectors.

    It stops early when the certificate says that less than ``tolerance`` of F is left to gain. The
    last design evaluated is returned, with the certificate found for it.
    """

    draws: int = 96
    rounds: int = 4
    damping: float = 0.5
    tolerance: float = 0.05
    search: Search = field(default_factory=Dinkelbach)

    def __post_init__(self) -> None:
        whole("rounds", self.rounds, 1)
        whole("draws", self.draws, 2)

    def solve(
        self, problem: Problem, rng: Rng, start: Float64 | None = None, report: Report | None = None
    ) -> Design:
        return self.solve_and_keep(problem, rng, start, report)[0]

    def solve_and_keep(
        self, problem: Problem, rng: Rng, start: Float64 | None = None, report: Report | None = None
    ) -> tuple[Design, Found]:
        """The design, and what the search found at it."""
        lam = problem.uniform() if start is None else start
        noise = draw_noise(problem, self.draws, rng)
        trace: list[Certificate] = []
        calls, level, stopped = 0, None, "rounds"
        with problem.oracle.workers.session():
            for number in range(self.rounds):
                found = self.search(problem, lam, noise, level)
                problem, calls = replace(problem, incumbent=found.incumbent), calls + found.calls
                sensitivity = sensitivity_of(problem, found)
                trace.append(certify(lam, found.value, found.stderr, sensitivity))
                if report is not None:
                    report(f"design round {number + 1}: value {found.value:.4g}")
                if trace[-1].shortfall <= self.tolerance:
                    stopped = "tolerance"
                    break
                if number + 1 < self.rounds:
                    lam = (1 - self.damping) * lam + self.damping * _target(sensitivity, lam)
                    level = found.ratio
        return Design(lam, trace[-1], problem.incumbent, tuple(trace), calls, stopped), found


def sensitivity_of(problem: Problem, found: Found) -> Sensitivity:
    """G, ``grouped`` if the class has scores and leverages, else ``raw``; times ``copies`` if any."""
    leverage = found.maximiser.leverage(float(np.median(found.level)))
    if leverage is None or found.hypotheses.scorer() is None:
        estimate = raw(problem, found)
    else:
        estimate = grouped(problem, found, leverage)
    if problem.copies is None:
        return estimate
    return Sensitivity(estimate.mean * problem.copies, estimate.stderr * problem.copies)


def _target(sensitivity: Sensitivity, lam: Float64) -> Float64:
    """G^(2/3), scaled to the sum 1; λ itself if G is 0 everywhere."""
    powered = np.cbrt(np.square(np.maximum(sensitivity.mean, 0.0)))
    total = powered.sum()
    return powered / total if total > 0 else lam
