"""Tsybakov's condition |{i: h(i) ≠ h*(i)}| / n ≤ a (Δ_h / n)^α for every h ≠ h*, a ≥ 1, 0 < α ≤ 1.

For each α there is a smallest a; the pairs form a frontier. The condition is about distances and gaps
alone, so it reads the same for any number of classes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from aced._check import positive
from aced.theory._bandit import Bandit
from aced.theory.complexity._disagreement import disagreement_coefficient

ALPHAS = np.linspace(0.05, 1.0, 20)


@dataclass(frozen=True)
class Tsybakov:
    """A pair (a, α) for which the condition holds."""

    a: float
    alpha: float


def tsybakov_constant(problem: Bandit, alpha: float) -> float:
    """The smallest a ≥ 1 for this α; infinite when a rival has no gap."""
    rivals = np.delete(np.arange(len(problem)), problem.best)
    if len(rivals) == 0:
        return 1.0
    share, gap = problem.distances[rivals] / problem.n, problem.gaps[rivals] / problem.n
    with np.errstate(divide="ignore"):
        return max(1.0, float((share / gap**alpha).max()))


def tsybakov_bound(problem: Bandit, pair: Tsybakov, epsilon: float) -> float:
    """a² ε^(2α-2) θ(a ε^α), for ε > 0 as an error (a fraction of n)."""
    positive("epsilon", epsilon)
    theta = disagreement_coefficient(problem, pair.a * epsilon**pair.alpha)
    return float(pair.a**2 * epsilon ** (2 * pair.alpha - 2) * theta)


def tsybakov(problem: Bandit, epsilon: float) -> Tsybakov | None:
    """The pair with the smallest bound at ε, among 20 values of α; None when none holds."""
    pairs = [Tsybakov(tsybakov_constant(problem, float(alpha)), float(alpha)) for alpha in ALPHAS]
    pairs = [pair for pair in pairs if np.isfinite(pair.a)]
    return min(pairs, key=lambda pair: tsybakov_bound(problem, pair, epsilon), default=None)
