"""Core-set: greedy k-centre. Each next row is the one farthest from all rows chosen so far.

This is the method of Sener and Savarese (2018), on the rows as they are. Its covering radius is
within a factor 2 of the smallest. It looks at the rows alone, not at the labels.
"""

from __future__ import annotations

import numpy as np

from aced.strategies._base import Plan, Strategy, View
from aced.strategies._distances import Nearest
from aced.strategies._passive import Passive


class CoreSet(Strategy):
    """The open rows that are farthest from all rows that are not open, farthest first."""

    name = "core-set"

    def plan(self, view: View, size: int, rng: np.random.Generator) -> Plan:
        size = min(size, int(view.open.sum()))
        chosen: list[int] = []
        with view.workers.session():
            nearest = Nearest(view.pool, view.workers)
            taken = np.flatnonzero(~view.open)
            if len(taken) == 0:
                first = Passive().plan(view, 1, rng)
                chosen.append(int(first.positions[0]))
                nearest.add(first.positions)
            nearest.add(taken)
            while len(chosen) < size:
                distance = np.where(view.open, nearest.squares, -1.0)
                distance[chosen] = -1.0
                following = int(distance.argmax())
                chosen.append(following)
                nearest.add(np.array([following]))
        return Plan(np.array(chosen, dtype=np.int64), np.ones(len(chosen)))
