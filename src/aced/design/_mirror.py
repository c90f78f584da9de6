"""The paper's stochastic mirror descent (appendix, "Mirror Descent").

λ ← Π(exp(log λ - η g)) with g the raw gradient over B draws. The step η is found by
back-tracking: a smaller step replaces a larger one only when its estimated value is lower
by more than the standard deviation of their difference. B doubles whenever the noise
2 max_k σ_k is as large as the gap max_k ⟨g, λ - e_k⟩. The descent stops when gap plus noise is
below the tolerance, or after ``max_steps`` (100 as published).
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from aced._check import whole
from aced._types import Float64, Rng
from aced.design._certificate import Certificate, certify
from aced.design._gradient import Sensitivity, raw_from_sums, raw_sums
from aced.design._grid import Grid
from aced.design._problem import FLOOR, Problem, Search, mean_of
from aced.design._solver import Design, Report, draw_noise

CHUNK_NUMBERS = 2**20
"""A chunk of draws that is searched at once has about this many numbers; at least 64 draws."""


@dataclass(frozen=True)
class Mirror:
    """Mirror descent that stops when gap + noise ≤ ``tolerance`` F."""

    draws: int = 125
    max_draws: int = 2000
    max_steps: int = 100
    trials: int = 5
    tolerance: float = 0.05
    search: Search = field(default_factory=Grid)

    def __post_init__(self) -> None:
        for name, least in (("max_steps", 1), ("trials", 1), ("draws", 2)):
            whole(name, getattr(self, name), least)

    def solve(
        self, problem: Problem, rng: Rng, start: Float64 | None = None, report: Report | None = None
    ) -> Design:
        """``start`` is ignored: the paper begins each round at the uniform design."""
        with problem.oracle.workers.session():
            return self._solve(problem, rng, report)

    def _solve(self, problem: Problem, rng: Rng, report: Report | None) -> Design:
        lam, draws, step = problem.uniform(), self.draws, None
        trace: list[Certificate] = []
        calls, stopped = 0, "max_steps"
        for number in range(self.max_steps + 1):
            batch = _sample(problem, lam, draws, rng, self.search)
            problem, calls = batch.problem, calls + batch.calls
            certificate = certify(lam, *mean_of(batch.ratios), batch.sensitivity)
            trace.append(certificate)
            if number == self.max_steps:  # the last λ has its certificate, and no step follows
                break
            if report is not None:
                report(
                    f"mirror step {number + 1} of at most {self.max_steps}: {draws} draws, "
                    f"value {certificate.value:.4g}, may be off by {certificate.bound:.3g}"
                )
            if certificate.relative_bound <= self.tolerance:
                stopped = "tolerance"
                break
            gradient = -0.5 * np.maximum(lam, FLOOR / problem.n) ** -1.5 * batch.sensitivity.mean
            if step is None:
                step = 4 / max(certificate.value, np.finfo(float).tiny)
            lam, step, used = self._backtrack(problem, lam, gradient, 2 * step, draws, rng)
            calls += used
            if certificate.noise >= certificate.gap:
                draws = min(2 * draws, self.max_draws)
        return Design(lam, trace[-1], problem.incumbent, tuple(trace), calls, stopped)

    def _backtrack(
        self,
        problem: Problem,
        lam: Float64,
        gradient: Float64,
        step: float,
        draws: int,
        rng: Rng,
    ) -> tuple[Float64, float, int]:
        """The largest of ``trials`` halved steps that no smaller one clearly beats.

        If that one is clearly worse than no step at all, λ stays where it is and the next
        search begins smaller.
        """
        seed = int(rng.integers(2**63))
        here = _sample(problem, lam, draws, np.random.default_rng(seed), self.search)
        chosen, best, calls = lam, None, here.calls
        for _ in range(self.trials):
            moved = _move(lam, gradient, step)
            # the same draws for every trial, so that their difference is what is measured
            trial = _sample(problem, moved, draws, np.random.default_rng(seed), self.search)
            calls += trial.calls
            if best is not None:
                difference = best - trial.ratios
                if difference.mean() <= difference.std(ddof=1) / np.sqrt(draws):
                    break
            chosen, best = moved, trial.ratios
            step /= 2
        assert best is not None
        worse = best - here.ratios
        if worse.mean() > worse.std(ddof=1) / np.sqrt(draws):
            return lam, step / 2**self.trials, calls  # clearly worse than no step at all
        return chosen, 2 * step, calls


def _move(lam: Float64, gradient: Float64, step: float) -> Float64:
    exponent = np.log(np.maximum(lam, FLOOR / len(lam))) - step * gradient
    weights = np.exp(exponent - exponent.max())
    return np.asarray(weights / weights.sum())


@dataclass(frozen=True)
class _Batch:
    problem: Problem
    ratios: Float64
    sensitivity: Sensitivity
    calls: int


def _sample(problem: Problem, lam: Float64, draws: int, rng: Rng, search: Search) -> _Batch:
    """Ratios and raw sensitivities over ``draws`` fresh draws, a chunk at a time."""
    sums, squares = np.zeros(problem.n), np.zeros(problem.n)
    ratios, calls = [], 0
    chunk = max(64, CHUNK_NUMBERS // problem.n)
    for first in range(0, draws, chunk):
        found = search(problem, lam, draw_noise(problem, min(chunk, draws - first), rng))
        problem = replace(problem, incumbent=found.incumbent)
        part = raw_sums(problem, found)
        sums, squares = sums + part[0], squares + part[1]
        ratios.append(found.ratio)
        calls += found.calls
    return _Batch(problem, np.concatenate(ratios), raw_from_sums(sums, squares, draws), calls)
