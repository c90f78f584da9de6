"""The computationally efficient fixed-budget algorithm (alg. fixed_budget_comp_combi_efficient).

It knows a class only through the oracle. Each round draws from ½ (λ⁽¹⁾ + λ⁽²⁾). λ⁽¹⁾ is the design
of Fixed Budget ACED. λ⁽²⁾ makes every row on which some rival disagrees likely enough for the
importance-weighted estimator (:mod:`aced.design._forced`); this costs labels, measured by ψ*.

Its proof needs of a draw only its size and variance, which are those of two classes for any K
(:mod:`aced.estimators._ips`), and a maximum of normals with the distances of the labelings. So it holds
for K classes as it stands.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from aced._types import Codes, Float64, Rng
from aced.design import FixedPoint, Problem, Solver, forced_design, initial_incumbent
from aced.estimators import Sample, ips
from aced.oracles import FiniteOracle, Hypotheses, Oracle
from aced.pool import Pool
from aced.theory._bandit import Bandit
from aced.theory.algorithms._fixed_budget import schedule
from aced.theory.algorithms._result import Result

Source = Callable[[Float64, int, Rng], Sample]
"""t draws from λ with their labels."""


@dataclass(frozen=True)
class Found:
    """The hypothesis that agrees best with the last round's labels."""

    hypothesis: Hypotheses
    labels: Codes  # (n,)
    drawn: Float64  # how often each row was drawn, (n,)
    rounds: int


def efficient_fixed_budget(
    oracle: Oracle,
    source: Source,
    budget: int,
    epsilon: float,
    rng: Rng,
    *,
    solver: Solver | None = None,
) -> Found:
    """The algorithm on any class with an oracle; ``source`` draws labels, ε counts rows."""
    n = len(oracle.pool)
    rounds, size = schedule(n, budget, epsilon)
    solve = solver or FixedPoint()
    mu = np.zeros((n, oracle.classes - 1), np.float32)
    drawn = np.zeros(n)
    incumbent = initial_incumbent(oracle, mu)
    for k in range(1, rounds + 1):
        problem = Problem(oracle, mu, n * 2.0 ** (1 - k), incumbent)
        first = solve.solve(problem, rng)
        second = forced_design(Problem(oracle, mu, problem.shift, first.incumbent))
        sample = source((first.lam + second.lam) / 2, size, rng)
        drawn += sample.counts
        mu = ips(sample).astype(np.float32)
        incumbent = initial_incumbent(oracle, mu)
    return Found(incumbent.hypothesis, incumbent.labels, drawn, rounds)


def efficient(problem: Bandit, budget: int, epsilon: float, rng: Rng) -> Result:
    """The algorithm on an explicit class, through its finite oracle; ε counts rows."""
    if len(problem) == 1:
        return Result(0, 0, 0, 0)
    found = efficient_fixed_budget(finite_oracle(problem), problem.draw, budget, epsilon, rng)
    chosen = int(found.hypothesis.to_array()[0])
    return Result(chosen, int(found.drawn.sum()), int((found.drawn > 0).sum()), found.rounds)


def finite_oracle(problem: Bandit) -> FiniteOracle:
    """The sets as hypotheses over a pool whose rows are just numbered."""
    pool = Pool(np.arange(problem.n, dtype=float)[:, None])
    return FiniteOracle(pool, problem.sets, classes=problem.classes)
