"""The estimator whose existence a theorem states (thm. exists_est_gamma), as a program.

1. An admissible sequence: T_1 ⊂ … ⊂ T_K = G with |T_k| ≤ 2^(2^k), the first sets of a
   farthest-point order in the metric d(h, h') = ‖h - h'‖_{A(tλ)^-1}.
2. For each pair of sets, at the first level k that holds both, the ridge estimate of
   (h - h')·μ with s = sqrt(2/3) (u + 2^(k/2)) / d(h, h'). It misses by more than
   c (u + 2^(k/2)) d(h, h'), c = 2 (sqrt(2/3) + 1), with probability 2 exp(-2 (u + 2^(k/2))²)
   at most. (The proof prints sqrt(1/3); the optimum of its own proposition is sqrt(2/3).)
3. u is the smallest for which these probabilities add up to δ, so no constant c' is left.
4. P = {z in [-1, 1]ⁿ: |(h - h')·z - estimate| ≤ c (u + 2^(k/2)) d(h, h') for every pair}.
   A linear program finds the z that exceeds the widths by the smallest factor τ; P is
   empty if and only if τ > 1. The paper then allows any point; ours is that same z. A tiny
   cost on Σ |z| keeps rows of which nothing is known at 0, where a solver would otherwise
   leave them at an end of [-1, 1].

The theorem is proved for two classes, and the estimator takes no more.

μ itself lies in P with probability 1 - δ, and then for every pair the estimate is off by
at most the shortest chain of widths between the two sets, times 1 + τ.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq, linprog

from aced._check import positive, probability
from aced._errors import InvalidInput
from aced._labelings import classes_in, only_two
from aced._types import Array, Bools, Float64, Ints
from aced.estimators._ridge import CONSTANT, pair_estimates
from aced.estimators._sample import Sample

WIDTH = 2 * CONSTANT
AT_ONCE = 200
"""How many constraints are added to the linear program at a time."""
NEUTRAL = 1e-4
"""What |z| = 1 everywhere costs, in units of the excess."""


@dataclass(frozen=True)
class Estimate:
    """μ̂ with what is known about it."""

    mu: Float64  # (n,)
    excess: float  # τ: P is not empty if and only if this is at most 1

    @property
    def consistent(self) -> bool:
        """Whether μ̂ lies in P."""
        return self.excess <= 1 + 1e-7


class Chaining:
    """The estimator for sets G (H, n), a design λ and a failure probability δ.

    Everything except the labels is computed once; t, the number of draws, only scales it.
    """

    def __init__(self, sets: Array, lam: Float64, delta: float) -> None:
        only_two("sets", classes_in(sets), "the chaining estimator is proved")
        table = np.asarray(sets, dtype=bool)
        if table.ndim != 2 or len(table) < 2:
            raise InvalidInput("sets", "must hold at least two sets")
        if np.shape(lam) != (table.shape[1],):
            raise InvalidInput(
                "lam", f"must have one entry a row ({table.shape[1]}), got {np.shape(lam)}"
            )
        probability("delta", delta)
        apart = (table != table[0]).any(axis=0)
        if not (np.asarray(lam)[apart] > 0).all():
            raise InvalidInput("lam", "must be positive on every row in which two sets differ")
        self.sets, self.lam, self.delta = table, np.asarray(lam, dtype=float), delta
        self.rows = np.flatnonzero(apart)
        self.order, self.distances = _farthest_first(table[:, apart], self.lam[apart])
        sizes = admissible_sizes(len(table))
        place = np.empty(len(table), np.int64)
        place[self.order] = np.arange(len(table))
        level = 1 + np.searchsorted(np.array(sizes), place, side="right")  # level of a set, (H,)
        self.first, self.second = np.triu_indices(len(table), 1)
        self.pair_distances = self.distances[self.first, self.second]  # at t = 1
        self.level = np.maximum(level[self.first], level[self.second])  # of a pair
        counts = np.bincount(self.level)
        self.u = _smallest_u(np.flatnonzero(counts), counts[counts > 0], delta)
        self.reach = self.u + 2.0 ** (self.level / 2)  # u + 2^(k/2) of a pair
        self.set_level = level

    def width(self, t: int) -> float:
        """With probability 1 - δ, |(h - h')·(μ̂ - μ)| is at most this for all pairs at once.

        For each pair the smaller of its own constraint and the chains of both to the first
        set; a set of level k hangs from the set of a lower level for which the sum is least.
        """
        best = np.full(len(self.sets), np.inf)
        best[self.order[0]] = 0.0
        for k in range(1, int(self.set_level.max()) + 1):
            new = self.order[(self.set_level[self.order] == k) & np.isinf(best[self.order])]
            old = np.flatnonzero(np.isfinite(best))
            step = 2 * WIDTH * (self.u + 2.0 ** (k / 2)) * self.distances[np.ix_(new, old)]
            best[new] = (best[old] + step).min(axis=1)
        direct = np.zeros_like(self.distances)
        direct[self.first, self.second] = 2 * WIDTH * self.reach * self.pair_distances
        direct = np.maximum(direct, direct.T)
        return float(np.minimum(direct, best[:, None] + best[None, :]).max() / np.sqrt(t))

    def draws_for(self, width: float) -> int:
        """The smallest t for which ``width(t)`` is at most this."""
        return int(np.ceil((self.width(1) / positive("width", width)) ** 2))

    def fit(self, sample: Sample) -> Estimate:
        """A point of P, or the one that misses it by the smallest factor."""
        only_two("sample", sample.classes, "the chaining estimator is proved")
        root = np.sqrt(sample.t)
        widths = WIDTH * self.reach * self.pair_distances / root
        s = np.sqrt(2 / 3) * self.reach * root / self.pair_distances
        targets = pair_estimates(sample, self.sets, self.first, self.second, s)
        groups, member = np.unique(self.sets[:, self.rows], axis=1, return_inverse=True)
        sizes = np.bincount(member.ravel()).astype(float)
        totals, excess = _least_excess(
            groups.astype(float), self.first, self.second, targets, widths, sizes
        )
        mu = np.zeros(len(self.lam))
        mu[self.rows] = (totals / sizes)[member.ravel()]
        return Estimate(mu, excess)


def admissible_sizes(count: int) -> list[int]:
    """|T_1|, |T_2|, … = 4, 16, 256, …, the last one everything.

    >>> admissible_sizes(401)
    [4, 16, 256, 401]
    """
    sizes = [min(4, count)]
    while sizes[-1] < count:
        sizes.append(min(2 ** (2 ** (len(sizes) + 1)), count))
    return sizes


def _farthest_first(sets: Bools, lam: Float64) -> tuple[Ints, Float64]:
    """Sets in farthest-point order, and all distances ‖h - h'‖_{A(λ)^-1}."""
    scaled = sets / lam
    size = scaled.sum(axis=1)
    squares = size[:, None] + size[None, :] - 2 * scaled @ sets.T.astype(float)
    np.fill_diagonal(squares, 0.0)
    distances = np.sqrt(np.maximum(squares, 0.0))
    if (distances + np.eye(len(sets)) <= 0).any():
        raise InvalidInput("sets", "must differ from one another; remove duplicates")
    order = [0]
    nearest = distances[0].copy()
    for _ in range(len(sets) - 1):
        following = int(nearest.argmax())
        order.append(following)
        nearest = np.minimum(nearest, distances[following])
        nearest[order] = -1.0
    return np.array(order), distances


def _smallest_u(levels: Array, counts: Array, delta: float) -> float:
    """The u ≥ 0 at which Σ_k (pairs at k) 2 exp(-2 (u + 2^(k/2))²) = δ."""

    def failure(u: float) -> float:
        return float((counts * 2 * np.exp(-2 * np.square(u + 2.0 ** (levels / 2)))).sum()) - delta

    return 0.0 if failure(0.0) <= 0 else float(brentq(failure, 0.0, 100.0))


def _least_excess(
    groups: Float64, first: Ints, second: Ints, targets: Float64, widths: Float64, sizes: Float64
) -> tuple[Float64, float]:
    """argmin over z, |z_g| ≤ size_g, of max over pairs |(h - h')·z - target| / width.

    Rows that no set tells apart act through their sum, one variable a group. Constraints
    enter as they are found violated; the last program's optimum is that of all of them.
    """
    count = len(sizes)
    groups = groups - groups[0]  # differences are all that counts
    active = np.argsort(-np.abs(targets) / widths, kind="stable")[:AT_ONCE]
    bounds = [*((0.0, size) for size in sizes.tolist() * 2), (0.0, None)]
    cost = np.append(np.full(2 * count, NEUTRAL / sizes.sum()), 1.0)
    while True:
        rows = (groups[first[active]] - groups[second[active]]) / widths[active, None]
        level = targets[active] / widths[active]
        slack = -np.ones((len(active), 1))
        answer = linprog(
            cost,
            A_ub=np.vstack([np.hstack([rows, -rows, slack]), np.hstack([-rows, rows, slack])]),
            b_ub=np.concatenate([level, -level]),
            bounds=bounds,
            method="highs",
        )
        z, excess = answer.x[:count] - answer.x[count : 2 * count], float(answer.x[-1])
        scores = groups @ z
        missed = np.abs(scores[first] - scores[second] - targets) / widths
        missed[active] = 0.0
        worst = np.argsort(-missed, kind="stable")[:AT_ONCE]
        worst = worst[missed[worst] > excess + 1e-7]
        if len(worst) == 0:
            return z, excess
        active = np.concatenate([active, worst])
