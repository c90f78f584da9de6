"""Passive: uniform draws without replacement, with which other strategies are compared."""

from __future__ import annotations

import numpy as np

from aced.design import draw
from aced.strategies._base import Plan, Strategy, View


class Passive(Strategy):
    """Every open row is equally likely to be the next."""

    name = "passive"
    floor = 1.0

    def plan(self, view: View, size: int, rng: np.random.Generator) -> Plan:
        return Plan(*draw([np.ones(len(view.pool))], view.open, size, rng), explore=1.0)
