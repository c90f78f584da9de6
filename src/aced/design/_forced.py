"""The second design of the efficient algorithm (eq. action_efficient_2), through an oracle.

    min_λ max_h max_{i: h(i) ≠ h̃(i)} 1 / (λ_i D(h))

For row i only the best hypothesis that disagrees with h̃ there matters: with
m_i = max_{h: h(i) ≠ h̃(i)} Σ_j μ̂_{j,h(j)}, found by a weight on row i so large that it decides, the
costs are c_i = 1 / (shift + Σ_j μ̂_{j,h̃(j)} - m_i), and λ ∝ c (:mod:`aced.design.explicit._peak`).
A row on which every hypothesis agrees with h̃ needs no mass.
"""

from __future__ import annotations

import numpy as np

from aced._types import Array, Codes, Float32, Float64
from aced.design._problem import Problem
from aced.design.explicit._allocation import Allocation
from aced.design.explicit._peak import peak
from aced.oracles import Oracle, argmax, columns_of

AT_ONCE = 256
"""How many rows are forced in one call of the oracle."""


def forced_agreement(oracle: Oracle, mu: Float32, labels: Codes) -> Float64:
    """m_i for every row, -inf where no hypothesis disagrees with ``labels``; (n,)."""
    n, mu = len(oracle.pool), columns_of(mu)
    decisive = 2 * float(np.abs(mu).sum(dtype=float)) + 1
    away = np.where(np.arange(1, mu.shape[1] + 1) == labels[:, None], -decisive, 0.0)  # off the label
    away[labels == 0] = decisive
    padded = np.column_stack([np.zeros(n), mu])
    best = np.full(n, -np.inf)
    for start in range(0, n, AT_ONCE):
        rows = np.arange(start, min(start + AT_ONCE, n))
        vectors: Array = np.tile(mu.astype(float), (len(rows), 1, 1))
        vectors[np.arange(len(rows)), rows] += away[rows]
        found, _ = argmax(oracle, vectors)
        moved = found[np.arange(len(rows)), rows] != labels[rows]
        agreements = padded[np.arange(n), found].sum(axis=1)
        best[rows] = np.where(moved, agreements, -np.inf)
    return best


def forced_design(problem: Problem) -> Allocation:
    """λ⁽²⁾ of a round."""
    mu, incumbent = problem.mu, problem.incumbent
    best = forced_agreement(problem.oracle, mu, incumbent.labels)
    return peak(1 / (problem.shift + np.maximum(incumbent.agreement - best, 0.0)))
