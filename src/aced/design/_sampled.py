"""A design found on a sample of the rows, for pools so large that the whole would take too long.

A sample S holds every row with a label, and others drawn with inclusion probabilities π_i that are
half uniform and half follow the last λ. Row i of S stands for c_i = 1/π_i rows like it. If each of
these had λ_i, their noise would add up to one normal with variance c_i / λ_i = c_i² / Λ_i, where
Λ_i = c_i λ_i is their mass together. So the sampled problem is the same one with

    s_i = c_i / sqrt(Λ_i)   and   Λ_i ∝ (c_i G_i)^(2/3)   at its optimum,

over a pool of the rows of S (``Problem.copies`` is c), with c_i μ̂_i for μ̂_i. Where μ̂ is 0 on rows
without a label D(h) is exact, since labelled rows stand for themselves. Hypotheses found on S are
half-spaces, so they, and the metric H, also say what G is for rows outside S: G_i = g_i s_i with g_i =
leverage times density of the margin at zero. At the fixed point λ_i ∝ (g_i / sqrt(λ_i))^(2/3), hence

    λ_i ∝ sqrt(g_i)   for all n rows, by one pass.

What this costs is measured on a second, independent sample: the solver goes on from λ there, and the
share of F that it still gains is the loss that is reported (``Design.loss``).
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace

import numpy as np

from aced._check import positive, whole
from aced._errors import InvalidInput
from aced._types import Float64, Ints, Rng
from aced.design._fixed_point import FixedPoint
from aced.design._gradient import row_weights
from aced.design._problem import Found, Incumbent, Problem
from aced.design._solver import Design, Report
from aced.oracles import LinearOracle
from aced.pool import Pool

AUTOMATIC_ABOVE = 2**22
"""Pools with more rows than this are designed on a sample by default."""
AUTOMATIC_BYTES = 2**29
"""Such a sample has as many rows as fit in this much memory, at most 2^20."""
FEWEST_SAMPLED = 4096
"""A sample has at least this many rows beside the labelled ones."""
SPENT = 0.85
"""The share of the seconds that is planned with: the small designs that are timed are a bit faster."""
CHECKED_SHARE = 4
"""The second sample has a fourth of the rows of the first."""


def automatic_rows(n: int, features: int) -> int | None:
    """How many rows the sample of a pool of this size has; None where the whole pool is used.

    >>> automatic_rows(1_000_000, 256), automatic_rows(10_000_000, 128)
    (None, 1048576)
    """
    if n <= AUTOMATIC_ABOVE:
        return None
    return max(FEWEST_SAMPLED, min(2**20, AUTOMATIC_BYTES // (4 * features)))


@dataclass(frozen=True)
class Sampled:
    """Runs ``inner`` on a sample of ``rows`` rows, or of as many as ``seconds`` allow, or on all."""

    inner: FixedPoint = field(default_factory=FixedPoint)
    rows: int | None = None
    seconds: float | None = None

    def __post_init__(self) -> None:
        if (self.rows is None) == (self.seconds is None):
            raise InvalidInput("design_rows and round_seconds", "pass one of them")
        if self.rows is not None:
            whole("design_rows", self.rows, 1)
        if self.seconds is not None:
            positive("round_seconds", self.seconds)

    def solve(
        self, problem: Problem, rng: Rng, start: Float64 | None = None, report: Report | None = None
    ) -> Design:
        with problem.oracle.workers.session():
            rows = self._affordable(problem, start) if self.rows is None else self.rows
            if rows + int(problem.known.sum()) >= problem.n:
                return self.inner.solve(problem, rng, start, report)
            if report is not None:
                report(f"designing on a sample of {rows} of {problem.n} rows")
            return self._solve(problem, rows, rng, start, report)

    def _solve(
        self, problem: Problem, rows: int, rng: Rng, start: Float64 | None, report: Report | None
    ) -> Design:
        sub = sample(problem, rows, rng, start)
        design, found = self.inner.solve_and_keep(sub.problem, rng, sub.cut(start), report)
        lam, size = extend(problem, sub.problem, found), len(sub.positions)
        del found, sub  # keep the noise of only one sample at a time
        best = Incumbent.of(problem.oracle, design.incumbent.hypothesis, problem.mu)
        whole = replace(problem, incumbent=max(problem.incumbent, best, key=lambda b: b.agreement))
        fresh = sample(whole, max(FEWEST_SAMPLED, rows // CHECKED_SHARE), rng, lam)
        # the inner solver starts from λ: what it gains on other rows is what λ lost
        check = self.inner.solve(fresh.problem, rng, fresh.cut(lam))
        return Design(
            lam,
            check.trace[0],
            whole.incumbent,
            (*design.trace, check.trace[0]),
            design.calls + check.calls,
            design.stopped,
            size,
            1 - min(step.value for step in check.trace) / max(check.trace[0].value, 1e-300),
        )

    def _affordable(self, problem: Problem, start: Float64 | None) -> int:
        """The number of rows whose design takes about ``seconds``; a small design is timed twice."""
        assert self.seconds is not None
        small = min(4 * FEWEST_SAMPLED, problem.n)
        taken = []
        for trial in (small // 2, small):
            began = time.perf_counter()
            sub = sample(problem, trial, np.random.default_rng(0), start)
            replace(self.inner, rounds=1).solve(sub.problem, np.random.default_rng(0), sub.cut(start))
            taken.append(time.perf_counter() - began)
        per_row = max(taken[1] - taken[0], 0.1 * taken[1]) / (small - small // 2)
        # all rounds on the sample, again on one for the check, and a pass or two over everything
        over_all = problem.n * per_row / 8
        left = max(0.0, SPENT * self.seconds - sum(taken) - over_all)
        return max(FEWEST_SAMPLED, int(left / (per_row * self.inner.rounds * (1 + 1 / CHECKED_SHARE))))


@dataclass(frozen=True)
class Sample:
    """Some rows as a problem of their own."""

    positions: Ints
    copies: Float64  # c
    problem: Problem

    def cut(self, lam: Float64 | None) -> Float64 | None:
        """Λ on the sample, for a design λ over all rows."""
        if lam is None:
            return None
        mass = self.copies * lam[self.positions]
        return np.asarray(mass / mass.sum())


def sample(problem: Problem, rows: int, rng: Rng, lam: Float64 | None = None) -> Sample:
    """All rows with a label, and about ``rows`` others."""
    oracle = problem.oracle
    if not isinstance(oracle, LinearOracle):
        raise InvalidInput("design_rows and round_seconds", "they need the linear oracle")
    labelled = problem.known
    share = np.where(labelled, 0.0, 1.0)
    share /= max(share.sum(), 1.0)
    if lam is not None and lam[~labelled].sum() > 0:
        drawn = np.where(labelled, 0.0, lam)
        share = (share + drawn / drawn.sum()) / 2
    inclusion = np.minimum(rows * share, 1.0)
    inclusion[labelled] = 1.0
    positions = systematic(inclusion, rng)
    copies = 1 / inclusion[positions]
    pool = Pool(oracle.pool.rows(positions))
    inner = oracle.over(pool)
    stands_for = copies.astype(np.float32)
    mu = problem.mu[positions] * stands_for[:, None]
    best = Incumbent.of(inner, problem.incumbent.hypothesis, mu)
    sub = Problem(
        inner, mu, problem.shift, best, stands_for, problem.keeps_incumbent, labelled[positions]
    )
    return Sample(positions, copies, sub)


def systematic(inclusion: Float64, rng: Rng) -> Ints:
    """Positions drawn with these inclusion probabilities: equal steps along their running sum."""
    ends = np.cumsum(inclusion)
    steps = np.arange(rng.random(), ends[-1], 1.0)
    return np.unique(np.minimum(np.searchsorted(ends, steps, side="right"), len(ends) - 1))


def extend(problem: Problem, sub: Problem, found: Found) -> Float64:
    """λ over all rows ∝ sqrt(g), from what was found on a sample."""
    root = np.sqrt(np.maximum(row_weights(sub, found, problem.oracle.pool), 0.0))
    total = root.sum()
    return root / total if total > 0 else problem.uniform()
