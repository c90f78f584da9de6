"""All measures of an instance at once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from aced._check import probability, whole
from aced._errors import InvalidInput
from aced._workers import Workers
from aced.design.explicit import Allocation
from aced.theory._bandit import Bandit
from aced.theory.complexity._bounds import Bounds, sample_complexities
from aced.theory.complexity._disagreement import disagreement_coefficient
from aced.theory.complexity._gamma import gamma
from aced.theory.complexity._psi import psi
from aced.theory.complexity._rho import rho
from aced.theory.complexity._tsybakov import Tsybakov, tsybakov
from aced.theory.complexity._vc import vc_dimension


@dataclass(frozen=True)
class Measures:
    """The measures of an instance; ε and Δ_min are errors, fractions of n.

    ``dimension`` is the VC dimension, None for more than two classes.
    """

    n: int
    hypotheses: int
    classes: int
    epsilon: float
    rho: Allocation
    gamma: Allocation
    psi: Allocation
    disagreement: float
    delta_min: float
    nu: float
    dimension: int | None
    dimension_exact: bool
    tsybakov: Tsybakov | None
    bounds: Bounds | None


def measure(
    problem: Bandit,
    epsilon: float = 0.0,
    *,
    delta: float = 0.1,
    seed: int = 0,
    workers: Workers | None = None,
    report: Callable[[str], None] | None = None,
) -> Measures:
    """Everything that ``aced theory`` prints; at ε = 0 the bounds are taken at Δ_min / n."""
    if not 0 <= epsilon < 1:
        raise InvalidInput("epsilon", f"must lie in [0, 1), got {epsilon}")
    probability("delta", delta)
    whole("seed", seed, 0)
    tell = report or (lambda text: None)
    rows = epsilon * problem.n
    tell("rho")
    best_rho = rho(problem, rows)
    tell("gamma")
    best_gamma = gamma(problem, rows, seed=seed, workers=workers)
    best_psi = psi(problem, rows)
    dimension, exact = None, False
    if problem.classes == 2:
        tell("dimension")
        dimension, exact = vc_dimension(problem.sets)
    least = epsilon if epsilon > 0 else problem.delta_min / problem.n
    pair = bounds = None
    if 0 < least <= 1:
        pair = tsybakov(problem, least)
        bounds = sample_complexities(
            problem,
            rho=best_rho.value,
            gamma=best_gamma.value,
            psi=best_psi.value,
            dimension=dimension,
            epsilon=least,
            delta=delta,
            pair=pair,
        )
    return Measures(
        n=problem.n,
        hypotheses=len(problem),
        classes=problem.classes,
        epsilon=epsilon,
        rho=best_rho,
        gamma=best_gamma,
        psi=best_psi,
        disagreement=disagreement_coefficient(problem, epsilon),
        delta_min=problem.delta_min / problem.n,
        nu=problem.nu,
        dimension=dimension,
        dimension_exact=exact,
        tsybakov=pair,
        bounds=bounds,
    )
