"""The sample complexities that the paper compares, and the inequalities between measures.

Sample complexities are stated up to universal constants, which are 1 here, so they say how the
number of labels grows, not how large it is. The inequalities have constants that are proved:

- γ* ≤ 2 log(|H| - 1) ρ* (prop. rho_gamma_rel): the expected maximum of N normals of variance
  at most v is at most sqrt(2 v log N), and there are |H| - 1 rivals.
- ρ*(ε) ≤ 36 K θ(ε) max(1, ν²/ε²) without noise, and ρ*(ε) ≤ 4 K a² ε^(2α-2) θ(a ε^α) under
  Tsybakov's condition (prop. disag_coeff_rhostar), K = ⌈log2(1 / max(ε, Δ_min/n))⌉ + 1 levels
  of the peeling: no gap that counts is smaller than either. The proof prints 2 and K - 1
  where its steps give 4 (a gap may be half of its level's, and enters squared) and K (k runs
  from 0).

More than two classes. The inequalities hold as they stand: their proofs use distances, gaps, and that
where two labelings differ at least one of them errs. So do the sample complexities of a union bound and
of the efficient algorithm: their proofs need of a draw only its size and its variance. Those of ACED
rest on the chaining estimator, and those with the disagreement coefficient on the VC dimension. The
paper has both for two classes only, so they are None for more.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from aced._check import positive
from aced._errors import InvalidInput
from aced.theory._bandit import Bandit
from aced.theory.complexity._disagreement import disagreement_coefficient
from aced.theory.complexity._tsybakov import Tsybakov, tsybakov_bound


@dataclass(frozen=True)
class Bounds:
    """Numbers of labels up to a constant, at error ε and confidence δ; None if one does not apply."""

    aced: float | None
    fixed_budget: float | None
    union: float
    efficient: float
    disagreement: float | None
    tsybakov: float | None


def sample_complexities(
    problem: Bandit,
    *,
    rho: float,
    gamma: float,
    psi: float,
    dimension: int | None,
    epsilon: float,
    delta: float,
    pair: Tsybakov | None,
) -> Bounds:
    """All sample complexities at ε > 0, a fraction of n, from the measures of an instance.

    ``dimension`` is the VC dimension, None for more than two classes.
    """
    log, level = np.log(1 / delta), max(np.log(1 / epsilon), 1.0)
    size = np.log(max(len(problem), 2))
    theta = disagreement_coefficient(problem, epsilon)
    two = dimension is not None
    return Bounds(
        aced=float(level * (gamma + rho * log)) if two else None,
        fixed_budget=float(level * log * (gamma + rho)) if two else None,
        union=float(level * rho * (size + log)),
        efficient=float(
            level * ((gamma + rho + psi) * log + psi * size * max(np.log(max(size, 1.0)), 1.0))
        ),
        disagreement=None
        if dimension is None
        else float(theta * (problem.nu**2 / epsilon**2 + level) * dimension),
        tsybakov=None
        if dimension is None or pair is None
        else float(tsybakov_bound(problem, pair, epsilon) * dimension * level),
    )


def levels(problem: Bandit, epsilon: float) -> int:
    """K: how many times a gap can be halved between n and the smallest that counts."""
    finest = max(epsilon, problem.delta_min / problem.n)
    if not finest > 0:
        raise InvalidInput("epsilon", "must be positive: this instance has several best hypotheses")
    return int(np.ceil(np.log2(1 / min(finest, 1.0)))) + 1


def rho_bound_noiseless(problem: Bandit, epsilon: float) -> float:
    """36 K θ(ε) max(1, ν²/ε²), for η in {0, 1}ⁿ and ε ≥ Δ_min / n."""
    positive("epsilon", epsilon)
    theta = disagreement_coefficient(problem, epsilon)
    return float(36 * levels(problem, epsilon) * theta * max(1.0, (problem.nu / epsilon) ** 2))


def rho_bound_tsybakov(problem: Bandit, pair: Tsybakov, epsilon: float) -> float:
    """4 K a² ε^(2α-2) θ(a ε^α)."""
    return 4 * levels(problem, epsilon) * tsybakov_bound(problem, pair, epsilon)


def gamma_bound(problem: Bandit, rho: float) -> float:
    """2 log(|H| - 1) ρ*."""
    return float(2 * np.log(max(len(problem) - 1, 1)) * rho)


def threshold_gamma_bound(n: int, signal: float) -> float:
    """194 log2(n) log(log2(2n)) / signal² (appendix on thresholds; signal = |μ_i|)."""
    return float(194 * np.log2(n) * np.log(np.log2(2 * n)) / signal**2)


def threshold_rho(n: int, cut: int, signal: float) -> float:
    """ρ*(0) of thresholds in closed form.

    On either side the rows at distance j from the cut must satisfy Σ_{i ≤ j} 1/λ_i ≤ ρ (signal j)²;
    all are tight at the optimum, hence 1/λ_j = ρ signal² (2j - 1) and Σ λ = 1 gives ρ.
    """

    def odd(count: int) -> float:
        return float((1 / (2 * np.arange(1, count + 1) - 1)).sum())

    return (odd(cut - 1) + odd(n - cut)) / signal**2
