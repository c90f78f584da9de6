"""A²: uniform draws from the disagreement region of the sets alive, and a union bound.

Agnostic and round-based, as in the analyses with the disagreement coefficient. It differs
from :mod:`aced.theory.algorithms._rage` in its design alone, so a race between the two
shows what the design is worth. Both take any number of classes.
"""

from __future__ import annotations

import numpy as np

from aced._types import Array, Float64, Rng
from aced.theory._bandit import Bandit
from aced.theory.algorithms._elimination import Planner, eliminate
from aced.theory.algorithms._rage import union_planner
from aced.theory.algorithms._result import Result


def a2_planner(constant: float | None = 1.0) -> Planner:
    """Phases of A²."""
    return union_planner(uniform_where_apart, constant)


def uniform_where_apart(sets: Array) -> Float64:
    """The uniform λ on the rows in which sets differ."""
    region = (sets != sets[0]).any(axis=0)
    return np.asarray(region / region.sum())


def a2(
    problem: Bandit,
    delta: float,
    rng: Rng,
    *,
    epsilon: float = 0.0,
    cap: int | None = None,
    constant: float | None = 1.0,
    planner: Planner | None = None,
) -> Result:
    """An ε-good set (ε in rows) with probability 1 - δ; the options are as in ``fixed_confidence``."""
    return eliminate(problem, planner or a2_planner(constant), delta, rng, epsilon, cap)
