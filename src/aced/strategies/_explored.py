"""A floor for any strategy: uniform draws among those that it chooses.

Let c be the first row of the strategy's choice that was not drawn yet. The next row is drawn with the
probability

    q(i) = γ / open rows + (1 - γ) [i = c],

given the choice. So every open row has a chance, and what labels say of the pool has a meaning.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from aced._check import probability
from aced._types import Array, Rng
from aced.strategies._base import Plan, Strategy, View


class Explored(Strategy):
    """``strategy`` with the share ``explore`` of uniform draws."""

    def __init__(self, strategy: Strategy, explore: float) -> None:
        self.strategy, self.explore = strategy, probability("explore", explore)
        self.name, self.represented = strategy.name, strategy.represented
        self.two_classes, self.needs_all_labels = strategy.two_classes, strategy.needs_all_labels

    @property
    def floor(self) -> float:
        return self.explore

    def plan(self, view: View, size: int, rng: Rng) -> Plan:
        chosen = self.strategy.plan(view, size, rng)
        if chosen.explore >= self.explore:  # a uniform start, say
            return chosen
        left, rows = view.open.copy(), np.flatnonzero(view.open)
        size = min(size, len(rows))
        uniform, evenly = rng.random(size) < self.explore, iter(rng.permutation(rows).tolist())
        choice = iter(chosen.positions.tolist())
        first = next(choice, -1)
        positions, probabilities = np.zeros(size, np.int64), np.zeros(size)
        for t in range(size):
            while first >= 0 and not left[first]:
                first = next(choice, -1)
            row, share = first, self.explore if first >= 0 else 1.0
            if first < 0 or uniform[t]:
                row = next(row for row in evenly if left[row])
            positions[t], left[row] = row, False
            probabilities[t] = share / (len(rows) - t) + (1 - share) * (row == first)
        found = replace(chosen, positions=positions, probabilities=probabilities, explore=self.explore)
        return replace(found, least=None)  # what its own draws promise, these do not

    def __copy__(self) -> Explored:
        return Explored(copy.copy(self.strategy), self.explore)

    def reveal(self, labels: Any) -> None:
        self.strategy.reveal(labels)

    def options(self) -> dict[str, Any] | None:
        return self.strategy.options()

    def state(self) -> dict[str, Array]:
        return self.strategy.state()

    def restore(self, state: Mapping[str, Array]) -> None:
        self.strategy.restore(state)
