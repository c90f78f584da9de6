"""Least confidence: the rows whose predicted label has the smallest probability.

With two classes the order is that of margin sampling.
"""

from __future__ import annotations

import numpy as np
from scipy.special import expit

from aced.strategies._base import Plan, Strategy, View
from aced.strategies._passive import Passive
from aced.strategies._ranked import highest


class LeastConfidence(Strategy):
    """The open rows with the largest 1 - max(p, 1 - p), largest first."""

    name = "least-confidence"

    def plan(self, view: View, size: int, rng: np.random.Generator) -> Plan:
        scores = view.scores()
        if scores is None:
            return Passive().plan(view, size, rng)
        return highest(expit(-np.abs(scores)) - 1e-9 * np.abs(scores), view, size)
