"""Fixed Budget ACED with Waterfilling (alg. aced_mod), the engine's strategy, on a finite class.

Labels are persistent: a row is asked for at most once, its label is drawn once, and the naive
estimator uses all labels. The budget is therefore at most the number of rows. A finite class has no
margins, so the gradient is the raw one, which needs more noise draws than a linear class. It is stated
for two classes and carries over to K: only the objective of its design and the estimator have classes.
"""

from __future__ import annotations

import numpy as np

from aced._check import whole
from aced._errors import InvalidInput
from aced._labelings import agreement, likeliest
from aced._types import Rng
from aced.design import FixedPoint
from aced.estimators import naive
from aced.strategies import Aced, View
from aced.theory._bandit import Bandit
from aced.theory.algorithms._efficient import finite_oracle
from aced.theory.algorithms._result import Result


def waterfilling(
    problem: Bandit,
    budget: int,
    rng: Rng,
    *,
    batch: int | None = None,
    epsilon: float = 0.0,
) -> Result:
    """The set that agrees best with ``budget`` labels, asked for in batches; ε counts rows."""
    n = problem.n
    if not 1 <= budget <= n:
        raise InvalidInput("budget", f"must lie between 1 and the number of rows, {n}; got {budget}")
    size = max(1, budget // 8) if batch is None else whole("batch", batch, 1)
    if len(problem) == 1:
        return Result(0, 0, 0, 0)
    world = problem.realise(rng)
    oracle = finite_oracle(problem)
    solver = FixedPoint(draws=256, rounds=8, tolerance=0.01)
    strategy = Aced(oracle=oracle, solver=solver, estimator="naive", fill="all", shift="pool")
    positions = codes = np.empty(0, np.int64)
    rounds = 0
    while len(positions) < budget:
        still_open = np.ones(n, dtype=bool)
        still_open[positions] = False
        view = View(
            pool=oracle.pool,
            workers=oracle.workers,
            positions=positions,
            codes=codes,
            open=still_open,
            batch_size=size,
            tolerance=epsilon / n,
            scores=lambda: None,
            classes=problem.classes,
        )
        plan = strategy.plan(view, min(size, budget - len(positions)), rng)
        positions = np.concatenate([positions, plan.positions])
        codes = likeliest(world.mu[positions])
        rounds += 1
    chosen = int(agreement(problem.sets, naive(n, positions, codes, problem.classes)).argmax())
    return Result(chosen, budget, budget, rounds)
