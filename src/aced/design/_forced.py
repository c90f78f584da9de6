"""The second design of the efficient algorithm (eq. action_efficient_2), through an oracle.

    min_λ max_h max_{i in h̃ Δ h} 1 / (λ_i (shift + μ̂·(h̃ - h)))

For row i only the best hypothesis that disagrees with h̃ there matters: with
m_i = max_{h: h_i ≠ h̃_i} μ̂·h, found by a weight on row i so large that it decides, the
costs are c_i = 1 / (shift + μ̂·h̃ - m_i), and λ ∝ c (:mod:`aced.design.explicit._peak`).
A row on which every hypothesis agrees with h̃ needs no mass.
"""

from __future__ import annotations

import numpy as np

from aced._types import Array, Bools, Float32, Float64
from aced.design._problem import Problem
from aced.design.explicit._allocation import Allocation
from aced.design.explicit._peak import peak
from aced.oracles import Oracle, argmax

AT_ONCE = 256
"""How many rows are forced in one call of the oracle."""


def forced_agreement(oracle: Oracle, mu: Float32, labels: Bools) -> Float64:
    """m_i for every row, -inf where no hypothesis disagrees with ``labels``; (n,)."""
    n = len(oracle.pool)
    decisive = 2 * float(np.abs(mu).sum(dtype=float)) + 1
    sign = np.where(labels, -1.0, 1.0)
    best = np.full(n, -np.inf)
    for start in range(0, n, AT_ONCE):
        rows = np.arange(start, min(start + AT_ONCE, n))
        vectors: Array = np.tile(mu.astype(float), (len(rows), 1))
        vectors[np.arange(len(rows)), rows] += decisive * sign[rows]
        found, _ = argmax(oracle, vectors)
        moved = found[np.arange(len(rows)), rows] != labels[rows]
        best[rows] = np.where(moved, found @ mu.astype(float), -np.inf)
    return best


def forced_design(problem: Problem) -> Allocation:
    """λ⁽²⁾ of a round."""
    mu, incumbent = problem.mu, problem.incumbent
    best = forced_agreement(problem.oracle, mu, incumbent.labels)
    return peak(1 / (problem.shift + np.maximum(incumbent.agreement - best, 0.0)))
