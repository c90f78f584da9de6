"""CAL: uniform draws from the disagreement region, one at a time; one wrong label drops a set.

CAL is made for the realisable case, where some hypothesis is never wrong. With noise it drops the
best set sooner or later; the race shows how often. ``design`` replaces the uniform distribution by
another: CAL with :func:`designed` differs from CAL in where it looks and in nothing else.

With K classes a label drops every labelling that gives the row another class. With noise it may be a
class that none of them gives, which two classes cannot do; then no hypothesis is right, and CAL ends.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from aced._labelings import likeliest
from aced._types import Array, Float64, Rng
from aced.design.explicit import diameter_design
from aced.theory._bandit import Bandit
from aced.theory.algorithms._a2 import uniform_where_apart
from aced.theory.algorithms._elimination import check_arguments
from aced.theory.algorithms._result import Result

Chooser = Callable[[Array], Float64]
"""A function from the sets alive to a distribution over the rows."""


def designed(sets: Array) -> Float64:
    """argmin over λ of the largest ‖h - h'‖² among the sets alive."""
    return diameter_design(sets, tolerance=0.05).lam


def cal(
    problem: Bandit,
    rng: Rng,
    *,
    design: Chooser = uniform_where_apart,
    epsilon: float = 0.0,
    cap: int | None = None,
) -> Result:
    """The set that is left when all the others have been contradicted.

    With ε > 0 it stops as soon as the sets left differ in at most ε rows, and in any case after
    ``cap`` labels, or when a label contradicts all that are left: then the first of these is returned,
    as not finished. ``design`` gives the distribution that rows are drawn from.
    """
    check_arguments(0.5, epsilon, cap)
    alive = np.arange(len(problem))
    drawn = np.zeros(problem.n, np.int64)
    labels = 0
    one = np.zeros(problem.n, np.int64)
    lam, known = np.empty(0), 0
    while True:
        region = np.flatnonzero((problem.sets[alive] != problem.sets[alive[0]]).any(axis=0))
        done = len(region) <= epsilon or len(alive) == 1
        if done or (cap is not None and labels >= cap):
            return Result(int(alive[0]), labels, int((drawn > 0).sum()), labels, finished=done)
        if len(alive) != known:  # labels that drop nothing leave the design as it was
            lam, known = design(problem.sets[alive]), len(alive)
        row = int(rng.choice(problem.n, p=lam))
        one[row] = 1
        label = int(likeliest(problem.values(one, rng)[[row]])[0])
        one[row] = 0
        drawn[row] += 1
        labels += 1
        agree = problem.sets[alive, row] == label
        if not agree.any():
            return Result(int(alive[0]), labels, int((drawn > 0).sum()), labels, finished=False)
        alive = alive[agree]
