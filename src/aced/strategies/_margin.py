"""Margin sampling: the rows whose score is nearest to the decision boundary.

This is the rule that most people use: uncertainty sampling, which for two classes is the same as
least confidence and entropy. It leaves nothing to chance, so its draws have probability 1
and cannot be reweighted. Until both classes have been seen it draws uniformly.
"""

from __future__ import annotations

import numpy as np

from aced.strategies._base import Plan, Strategy, View
from aced.strategies._passive import Passive
from aced.strategies._ranked import highest


class Margin(Strategy):
    """The open rows with the smallest |score|, smallest first."""

    name = "margin"

    def plan(self, view: View, size: int, rng: np.random.Generator) -> Plan:
        scores = view.scores()
        if scores is None:
            return Passive().plan(view, size, rng)
        return highest(-np.abs(scores), view, size)
