"""Plans of strategies that leave nothing to chance."""

from __future__ import annotations

import numpy as np

from aced._types import Float64
from aced.strategies._base import Plan, View


def highest(values: Float64, view: View, size: int) -> Plan:
    """The open rows with the largest values, largest first, each with probability 1."""
    rows = np.flatnonzero(view.open)
    costs = -values[rows]
    if size < len(rows):  # keep what can be among the largest, ties included, in order
        few = np.flatnonzero(costs <= np.partition(costs, size - 1)[size - 1])
        rows, costs = rows[few], costs[few]
    top = rows[np.argsort(costs, kind="stable")[:size]]
    return Plan(top.astype(np.int64), np.ones(len(top)))
