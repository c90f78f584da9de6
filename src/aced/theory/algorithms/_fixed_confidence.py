"""Fixed-confidence ACED (alg. action_chaining): elimination with the chaining design and
estimator.

Round k minimises τ(λ) = E[max_{h,h'} (h - h')·A(λ)^(-1/2) ζ]² + 2 log(1/δ_k) max ‖h - h'‖² over
the sets alive, and draws N_k = c τ_k (2^(k+1) / n)² labels.

The constant c. For an estimate that is normal with covariance A(N λ)^-1, Borell's inequality
bounds all comparisons at once by (E max + sqrt(2 log(1/δ)) diameter) / sqrt(N), at most
sqrt(2 τ / N): c = 2, the default, is right for it. For the estimator as built, whatever the
labels, the guarantee holds with ``constant=None``: N_k is then computed from the
estimator's own width (:meth:`aced.estimators.Chaining.width`), which is much larger.

The paper proves it for two classes, and it takes no more.
"""

from __future__ import annotations

import numpy as np

from aced._labelings import only_two
from aced._types import Array, Float64, Rng
from aced.design.explicit import chaining_design
from aced.estimators import Chaining, Sample
from aced.theory._bandit import Bandit
from aced.theory.algorithms._elimination import Planner, Remembered, check_constant, eliminate
from aced.theory.algorithms._result import Result

CONSTANT = 2.0


class ChainingPhase:
    """The chaining design of some sets, its value τ, and the estimator that goes with it."""

    def __init__(self, sets: Array, delta: float, constant: float | None) -> None:
        found = chaining_design(sets, 2 * np.log(1 / delta), seed=0)
        self.lam, self.tau = found.allocation.lam, found.allocation.value
        self.sets, self.constant = sets, constant
        self.estimator = Chaining(sets, self.lam, delta)

    def draws(self, width: float) -> int:
        if self.constant is None:
            return self.estimator.draws_for(width)
        return int(np.ceil(self.constant * self.tau / width**2))

    def lead(self, sample: Sample) -> Float64:
        scores = self.sets @ self.estimator.fit(sample).mu
        return np.asarray(scores.max() - scores)


def chaining_planner(constant: float | None = CONSTANT) -> Planner:
    """Phases of fixed-confidence ACED."""
    check_constant(constant)
    return Remembered(lambda sets, delta: ChainingPhase(sets, delta, constant))


def fixed_confidence(
    problem: Bandit,
    delta: float,
    rng: Rng,
    *,
    epsilon: float = 0.0,
    cap: int | None = None,
    constant: float | None = CONSTANT,
    planner: Planner | None = None,
) -> Result:
    """An ε-good set (ε in rows) with probability 1 - δ; at most ``cap`` labels if given.

    This is proved for ``constant=None``; with the default ``constant`` it holds for normal estimates.
    A ``planner`` takes the place of the one that ``constant`` would give.
    """
    only_two("problem", problem.classes, "fixed-confidence ACED is proved")
    return eliminate(problem, planner or chaining_planner(constant), delta, rng, epsilon, cap)
