"""The fixed-budget estimator (step 1.2.2 of the fixed-budget proof): one μ̂ for all scales.

Ŝ_l = {h: (h̃ - h)·μ̂_k ≤ 2^(1-l) n}, l = 0 … k, are the sets that look within 2^(1-l) n of
the best. Each has its own chaining estimate μ̂_l, and

    P = {z in [-1, 1]ⁿ: |(h - h')·(μ̂_l - z)| ≤ 2^(-l) n / 32 for h, h' in Ŝ_l and every l}.

For one l this says that the numbers h·(μ̂_l - z), h in Ŝ_l, span at most 2^(-l) n / 32, so
two extra variables a level replace the pairs. As in :mod:`aced.estimators._chaining` the
linear program finds the z that exceeds the spans by the smallest factor.

The scales Ŝ_l make sense for any number of classes. Their combination is proved for two, because the
chaining estimates are.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import csr_matrix, hstack, vstack

from aced._labelings import behind, classes_in, only_two
from aced._types import Array, Float64, Ints
from aced.estimators._chaining import NEUTRAL, Chaining, Estimate
from aced.estimators._sample import Sample

SHARE = 1 / 32


def scales(sets: Array, mu: Float64, best: int, rounds: int) -> list[Ints]:
    """Members of Ŝ_0 ⊇ Ŝ_1 ⊇ … ⊇ Ŝ_k for k = ``rounds``; μ̂ is (n,), or (n, K - 1) for K classes."""
    n = sets.shape[1]
    gaps = behind(sets, best, mu)
    return [np.flatnonzero(gaps <= 2.0 ** (1 - level) * n) for level in range(rounds + 1)]


def combine(sets: Array, members: Sequence[Ints], sample: Sample, delta: float) -> Estimate:
    """μ̂ from the chaining estimates of every scale; a scale of one set says nothing."""
    only_two("sets", classes_in(sets), "the chaining estimator is proved")
    n = sets.shape[1]
    levels, seen = [], set[bytes]()
    for level in reversed(range(len(members))):
        inside = members[level]
        if len(inside) > 1 and inside.tobytes() not in seen:
            seen.add(inside.tobytes())
            part = Chaining(sets[inside], sample.lam, delta).fit(sample)
            levels.append((inside, 2.0**-level * n * SHARE, part.mu))
    if not levels:
        return Estimate(np.zeros(n), 0.0)
    return _combine(sets, levels)


def _combine(sets: Array, levels: list[tuple[Ints, float, Float64]]) -> Estimate:
    """argmin over z of the largest span relative to what is allowed."""
    n = sets.shape[1]
    groups, member = np.unique(sets, axis=1, return_inverse=True)
    member = member.ravel()
    sizes = np.bincount(member).astype(float)
    rows, right = [], []
    count = 2 * len(sizes) + 2 * len(levels) + 1
    for index, (inside, allowed, centre) in enumerate(levels):
        table = csr_matrix(groups[inside].astype(float))
        low, high = np.zeros((2, len(inside), 2 * len(levels) + 1))
        low[:, 2 * index] = 1.0  # low ≤ h·(centre - z)
        high[:, 2 * index + 1] = -1.0  # h·(centre - z) ≤ high
        scores = sets[inside] @ centre
        rows.append(hstack([table, -table, csr_matrix(low)]))
        rows.append(hstack([-table, table, csr_matrix(high)]))
        right += [scores, -scores]
        span = np.zeros(count)
        place = 2 * len(sizes) + 2 * index
        span[[place, place + 1, -1]] = -1.0, 1.0, -allowed
        rows.append(csr_matrix(span))
        right.append(np.zeros(1))
    bounds: list[tuple[float | None, float | None]] = [(0.0, size) for size in sizes.tolist() * 2]
    bounds += [(None, None)] * (2 * len(levels)) + [(0.0, None)]
    cost = np.zeros(count)
    cost[: 2 * len(sizes)], cost[-1] = NEUTRAL / n, 1.0
    answer = linprog(
        cost, A_ub=vstack(rows).tocsr(), b_ub=np.concatenate(right), bounds=bounds, method="highs"
    )
    totals = answer.x[: len(sizes)] - answer.x[len(sizes) : 2 * len(sizes)]
    mu = (totals / sizes)[member]
    return Estimate(mu.reshape(n), float(answer.x[-1]))
