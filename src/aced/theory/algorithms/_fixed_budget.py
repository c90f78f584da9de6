"""Fixed Budget ACED (alg. fixed_budget_comp) on an explicit class, with any estimator.

Round k = 1 … ⌊log2(n/ε)⌋ (ε in rows) has h̃ = argmax μ̂·h, the design that minimises

    E[max_h (h̃ - h)·A(λ)^(-1/2) ζ / (n 2^(1-k) + μ̂·(h̃ - h))]

N = ⌊T / rounds⌋ draws from it, and a new μ̂ from these draws alone.

Estimators are "ips"; "ridge", whose s is that of the farthest pair; "naive"; and "chaining", the
combination over the sets Ŝ_l for which the theorem is proved. Its failure probability is
δ_{k+1} = exp(-c' N / F²), kept within [1e-12, 1/2], with F the value of the design. The theorem
needs c' small enough for the widths to be 1/32 of each scale. With the estimator's own constants
that takes uselessly large budgets. So c' is ``constant``, 1/100 by default. It carries no
guarantee: it only sets how wide the polyhedra are.

For K classes the numerator is Σ_i (ζ_{i,h̃(i)} - ζ_{i,h(i)}) / sqrt(λ_i), ζ_ic ~ N(0, ½), as in γ*, and
μ̂ has K - 1 columns. "chaining" is proved for two classes and refuses more; by default it is used for
two classes, and "ridge" for more.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from aced._check import choice
from aced._errors import InvalidInput
from aced._labelings import agreement, behind, corners
from aced._types import Array, Float64, Rng
from aced.design.explicit import Allocation, narrowest, squared_distances, width
from aced.estimators import Sample, averages, combine, ips, ridge, scales
from aced.theory._bandit import Bandit
from aced.theory.algorithms._a2 import uniform_where_apart
from aced.theory.algorithms._result import Result

ESTIMATORS = ("chaining", "ridge", "ips", "naive")

Designer = Callable[[Array, Float64, int, float, Rng], Allocation]
"""A function of sets, μ̂, the number of h̃, shift and generator: the round's design and its value F."""


def explicit_design(sets: Array, mu: Float64, best: int, shift: float, rng: Rng) -> Allocation:
    """The design of a round, from all hypotheses."""
    scaled = np.delete(_ratios(sets, mu, best, shift), best, axis=0)
    # h̃ itself, at ratio 0, takes part in the maximum
    rows = np.concatenate([scaled, np.zeros((1, *scaled.shape[1:]))])
    return narrowest(rows, int(rng.integers(2**63)), pairs=256, rounds=16, final_pairs=256)


def uniform_design(sets: Array, mu: Float64, best: int, shift: float, rng: Rng) -> Allocation:
    """For comparison: the uniform design on the rows in which sets differ, with its width."""
    lam = uniform_where_apart(sets)
    found = width(_ratios(sets, mu, best, shift), lam, 256, int(rng.integers(2**63)))
    return Allocation(lam, found.value, found.lower(), found.stderr)


def _ratios(sets: Array, mu: Float64, best: int, shift: float) -> Float64:
    """(h̃ - h) / (shift + μ̂·(h̃ - h)), each class as its corner; (H, n, K - 1)."""
    points = corners(sets)
    return np.asarray((points[best] - points) / (shift + behind(sets, best, mu))[:, None, None])


def rounds_for(n: int, epsilon: float) -> int:
    """⌊log2(n/ε)⌋, at least one."""
    if not 0 < epsilon <= n:
        raise InvalidInput("epsilon", f"must lie in (0, n] = (0, {n}] rows, got {epsilon}")
    return max(1, int(np.floor(np.log2(n / epsilon) + 1e-9)))


def schedule(n: int, budget: int, epsilon: float) -> tuple[int, int]:
    """The number of rounds, and the draws of each."""
    rounds = rounds_for(n, epsilon)
    if budget < rounds:
        raise InvalidInput(
            "budget", f"is {budget}, but there are {rounds} rounds; give at least {rounds}"
        )
    return rounds, budget // rounds


def fixed_budget(
    problem: Bandit,
    budget: int,
    epsilon: float,
    rng: Rng,
    *,
    estimator: str | None = None,
    constant: float = 0.01,
    designer: Designer = explicit_design,
) -> Result:
    """The best guess after ``budget`` labels; ε counts rows, ``designer`` finds each round's design."""
    if estimator is None:
        estimator = "chaining" if problem.classes == 2 else "ridge"
    choice("estimator", estimator, ESTIMATORS)
    if estimator == "chaining" and problem.classes > 2:
        raise InvalidInput(
            "estimator",
            "must be ridge, ips or naive for more than two classes: chaining is proved for two",
        )
    rounds, size = schedule(problem.n, budget, epsilon)
    if len(problem) == 1:
        return Result(0, 0, 0, 0)
    mu = np.zeros_like(problem.mu)
    drawn = np.zeros(problem.n, np.int64)
    best = 0
    for k in range(1, rounds + 1):
        shift = problem.n * 2.0 ** (1 - k)
        design = designer(problem.sets, mu, best, shift, rng)
        sample = problem.draw(off_zero(design.lam, problem.sets), size, rng)
        drawn += sample.counts
        if estimator == "chaining":
            delta = float(np.clip(np.exp(-constant * size / max(design.value, 1e-9) ** 2), 1e-12, 0.5))
            mu = combine(problem.sets, scales(problem.sets, mu, best, k), sample, delta).mu
        else:
            mu = _estimate(estimator, problem.sets, sample)
        best = int(agreement(problem.sets, mu).argmax())
    return Result(best, int(drawn.sum()), int((drawn > 0).sum()), rounds)


def off_zero(lam: Float64, sets: Array, share: float = 1e-3) -> Float64:
    """λ with a thousandth of its mass spread over the rows in which sets differ.

    A design may leave such a row out; estimates divide by its λ.
    """
    region = (sets != sets[0]).any(axis=0)
    return np.asarray((1 - share) * lam + share * region / region.sum())


def _estimate(name: str, sets: Array, sample: Sample, delta: float = 0.1) -> Float64:
    if name == "ips":
        return ips(sample)
    if name == "naive":
        return averages(sample.per_row(sample.counts), sample.sums)
    inverse = 1 / np.where(sample.lam > 0, sample.lam, np.inf)
    farthest = squared_distances(corners(sets), inverse).max()
    return ridge(sample, float(np.sqrt(np.log(2 / delta) * sample.t / (3 * farthest))))
