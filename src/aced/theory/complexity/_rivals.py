"""The hypotheses other than h* and the scale 1 / max(Δ_h, ε) on which each is judged."""

from __future__ import annotations

import numpy as np

from aced._errors import InvalidInput
from aced._types import Float64, Ints
from aced.design.explicit import Allocation
from aced.theory._bandit import Bandit


def rivals(problem: Bandit, epsilon: float) -> tuple[Ints, Float64]:
    """Numbers of the rivals and their scales; ε in rows."""
    if not epsilon >= 0:
        raise InvalidInput("epsilon", f"must not be negative, got {epsilon}")
    which = np.delete(np.arange(len(problem)), problem.best)
    with np.errstate(divide="ignore"):
        return which, 1 / np.maximum(problem.gaps[which], epsilon)


def nothing_to_find(problem: Bandit, alone: bool) -> Allocation:
    """The value 0 for a single hypothesis, infinity when a rival cannot be told from h*."""
    value = 0.0 if alone else np.inf
    return Allocation(np.full(problem.n, 1 / problem.n), value, value)
