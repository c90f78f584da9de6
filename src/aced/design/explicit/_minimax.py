"""min over λ of max_h Σ_i C_hi / λ_i, with its dual.

For weights q over the hypotheses, Σ_i c_i / λ_i with c = qC is least at λ ∝ sqrt(c), so

    min_λ max_h Σ_i C_hi / λ_i  =  max_{q in simplex} (Σ_i sqrt(c_i))²
                                =  max_{q ≥ 0} 2 Σ_i sqrt(c_i) - Σ_h q_h,

the last by scaling q. A primal-dual interior point method solves it for a working set of
hypotheses; those that the resulting λ violates most are added until none is left. Any λ
gives an upper bound and any q a lower one, so the answer comes with its gap.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from aced._errors import InvalidInput
from aced._types import Array, Float64, Ints
from aced._workers import Workers
from aced.design.explicit._allocation import Allocation, spread

FEW = 64
"""How many hypotheses are added to the working set the first time; the number doubles each time."""


def squared_distances(points: Array, inverse: Float64) -> Float64:
    """‖h - h'‖² = Σ_i 1{h(i) ≠ h'(i)} u_i for all pairs, shape (H, H).

    ``points`` are sets as 0 and 1, (H, n), or the corners of labelings by K classes, (H, n, K - 1)
    (:mod:`aced._labelings`): in both, two classes are 1 apart.
    """
    table = points.reshape(len(points), -1).astype(float)
    scaled = table * np.repeat(inverse, table.shape[1] // len(inverse))
    size = (scaled * table).sum(axis=1)
    squares = size[:, None] + size[None, :] - 2 * (scaled @ table.T)
    np.fill_diagonal(squares, 0.0)
    return np.asarray(np.maximum(squares, 0.0))


def minimax(costs: Array, tolerance: float = 1e-7, limit: int = 100) -> Allocation:
    """The design whose costliest row of ``costs`` (H, n) costs least, up to a gap of ``tolerance``."""
    table = np.asarray(costs, dtype=float)
    if table.ndim != 2 or not (table >= 0).all() or not np.isfinite(table).all():
        raise InvalidInput("costs", "must be a matrix of finite numbers that are not negative")
    n = table.shape[1]
    lam = np.full(n, 1 / n)
    members = _worst(table @ (1 / lam), np.empty(0, np.int64), FEW)
    if len(members) == 0:
        raise InvalidInput("costs", "must have a positive entry: no row tells two hypotheses apart")
    best, lower = Allocation(lam, float((table @ (1 / lam)).max()), 0.0), 0.0
    for turn in range(limit):
        part = table[members]
        used = np.asarray(part.any(axis=0))
        with Workers(1).session():
            inner, bound = _interior_point(part[:, used], tolerance / 4)
        lower = max(lower, bound)
        lam = spread(inner, used)
        values = table @ (1 / np.maximum(lam, 1e-12 / n))
        upper = float(values.max())
        if upper < best.value:
            best = Allocation(lam, upper, lower)
        more = _worst(np.where(values > lower * (1 + tolerance / 2), values, 0.0), members, FEW << turn)
        if upper <= lower * (1 + tolerance) or len(more) == 0:
            break
        members = np.concatenate([members, more])
    return Allocation(best.lam, best.value, min(lower, best.value))


def _worst(values: Float64, taken: Ints, count: int) -> Ints:
    open_values = values.copy()
    open_values[taken] = 0.0
    count = min(count, int((open_values > 0).sum()))
    if count == 0:
        return np.empty(0, np.int64)
    top = np.argpartition(-open_values, count - 1)[:count]
    return np.sort(top).astype(np.int64)


def _interior_point(costs: Float64, tolerance: float, limit: int = 200) -> tuple[Float64, float]:
    """λ > 0 and the dual value for the rows of ``costs``, every column of which is used.

    Newton's method on   1 - Σ_i C_hi / sqrt(c_i) = z_h,   q_h z_h = κ,   κ → 0.
    """
    members = len(costs)
    start = float(np.sqrt(costs.mean(axis=0)).sum()) ** 2
    q = np.full(members, start / members)
    z = np.ones(members)
    for _ in range(limit):
        c = q @ costs
        root = np.sqrt(c)
        pull = costs @ (1 / root)
        total = float(root.sum())
        if total * pull.max() <= total**2 / q.sum() * (1 + tolerance):
            break
        kappa = 0.1 * float(q @ z) / members
        curvature = 0.5 * (costs * c**-1.5) @ costs.T
        curvature[np.diag_indices(members)] += z / q
        residual = 1 - pull - z
        dq = cho_solve(cho_factor(curvature, check_finite=False), kappa / q - z - residual)
        dz = (kappa - z * dq) / q - z
        step = min(1.0, 0.99 * _longest(q, dq), 0.99 * _longest(z, dz))
        q, z = q + step * dq, z + step * dz
    c = q @ costs
    root = np.sqrt(c)
    return root / root.sum(), float(root.sum()) ** 2 / float(q.sum())


def _longest(x: Float64, dx: Float64) -> float:
    """The largest step that keeps x positive."""
    shrinking = dx < 0
    return float((-x[shrinking] / dx[shrinking]).min()) if shrinking.any() else np.inf
