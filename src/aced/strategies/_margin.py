"""Margin sampling: the rows whose first and second class have the nearest scores.

This is the rule that most people use. For two classes it is the distance from the decision boundary,
and least confidence and entropy give the same order. The scores are those of the decision function;
a classifier that has probabilities only has their logarithms as scores, and the margin is log p₁/p₂.
It leaves nothing to chance, so its draws have probability 1 and cannot be reweighted. Until two
classes have been seen it draws uniformly.
"""

from __future__ import annotations

import numpy as np

from aced.strategies._base import Plan, Strategy, View
from aced.strategies._passive import Passive
from aced.strategies._ranked import highest
from aced.strategies._uncertainty import margins


class Margin(Strategy):
    """The open rows with the smallest difference of the two highest scores, smallest first."""

    name = "margin"

    def plan(self, view: View, size: int, rng: np.random.Generator) -> Plan:
        found = view.scored(margins)
        if found is None:
            return Passive().plan(view, size, rng)
        return highest(-found, view, size)
