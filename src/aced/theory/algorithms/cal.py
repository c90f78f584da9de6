"""CAL: uniform draws from the disagreement region, one at a time; one wrong label drops a set.

Made for the realisable case, where some hypothesis is never wrong. With noise it drops the
best set sooner or later; the race shows how often.
"""

from __future__ import annotations

import numpy as np

from aced.theory.algorithms._elimination import check_arguments
from aced.theory.algorithms._result import Result
from aced.theory.bandit import Bandit


def cal(
    problem: Bandit,
    rng: np.random.Generator,
    *,
    epsilon: float = 0.0,
    cap: int | None = None,
) -> Result:
    """The set that is left when all the others have been contradicted.

    With ε > 0 it stops as soon as the sets left differ in at most ε rows.
    """
    check_arguments(0.5, epsilon, cap)
    alive = np.arange(len(problem))
    drawn = np.zeros(problem.n, np.int64)
    labels = 0
    one = np.zeros(problem.n, np.int64)
    while True:
        region = np.flatnonzero((problem.sets[alive] != problem.sets[alive[0]]).any(axis=0))
        done = len(region) <= epsilon or len(alive) == 1
        if done or (cap is not None and labels >= cap):
            return Result(int(alive[0]), labels, int((drawn > 0).sum()), labels, finished=done)
        row = int(rng.choice(region))
        one[row] = 1
        label = bool(problem.values(one, rng)[row] > 0)
        one[row] = 0
        drawn[row] += 1
        labels += 1
        alive = alive[problem.sets[alive, row] == label]
