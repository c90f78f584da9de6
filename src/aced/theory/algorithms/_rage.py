"""RAGE-style elimination: the best design for single comparisons, and a naive union bound.

Round k minimises max_{h,h'} ‖h - h'‖² and asks that each of the P pairs be estimated to the
width with probability 1 - δ_k / P, by ridge importance weighting.

    N_k = 2 c² max ‖h - h'‖² log(2P / δ_k) / width²,   c = sqrt(2/3) + 1

is the proposition's bound (``constant=None``); with ``constant=1`` (default) c is 1, which
is right for normal estimates, to match the default of fixed-confidence ACED.

The bound and the design are about distances of labelings, so they hold for any number of classes.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from aced._labelings import corners
from aced._types import Array, Float64, Rng
from aced.design.explicit import diameter_design, squared_distances
from aced.estimators import CONSTANT as RIDGE, Sample, pair_estimates
from aced.theory._bandit import Bandit
from aced.theory.algorithms._elimination import Planner, Remembered, check_constant, eliminate
from aced.theory.algorithms._result import Result


class UnionPhase:
    """A design, and a ridge estimate for every pair of sets."""

    def __init__(self, sets: Array, lam: Float64, delta: float, constant: float | None) -> None:
        self.sets, self.lam = sets, lam
        self.first, self.second = np.triu_indices(len(sets), 1)
        inverse = 1 / np.where(lam > 0, lam, np.inf)
        squares = squared_distances(corners(sets), inverse)
        self.squares = squares[self.first, self.second]
        self.level = float(np.log(2 * len(self.first) / delta))
        self.constant = RIDGE**2 if constant is None else constant

    def draws(self, width: float) -> int:
        return int(np.ceil(2 * self.constant * self.squares.max() * self.level / width**2))

    def lead(self, sample: Sample) -> Float64:
        s = np.sqrt(self.level * sample.t / (3 * self.squares))
        estimates = pair_estimates(sample, self.sets, self.first, self.second, s)
        lead = np.zeros(len(self.sets))
        np.maximum.at(lead, self.second, estimates)
        np.maximum.at(lead, self.first, -estimates)
        return lead


def union_planner(design: Callable[[Array], Float64], constant: float | None) -> Planner:
    """Phases with a union bound, whose λ is a function of the sets alive."""
    check_constant(constant)
    return Remembered(lambda sets, delta: UnionPhase(sets, design(sets), delta, constant))


def rage_planner(constant: float | None = 1.0) -> Planner:
    """Phases of RAGE-style elimination."""
    return union_planner(lambda sets: diameter_design(sets).lam, constant)


def rage(
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
    return eliminate(problem, planner or rage_planner(constant), delta, rng, epsilon, cap)
