"""Entropy sampling: the rows whose predicted label has the largest entropy.

With two classes the order is that of margin sampling.
"""

from __future__ import annotations

import numpy as np
from scipy.special import expit, xlogy

from aced.strategies._base import Plan, Strategy, View
from aced.strategies._passive import Passive
from aced.strategies._ranked import highest


class Entropy(Strategy):
    """The open rows with the largest -Σ p log p, largest first."""

    name = "entropy"

    def plan(self, view: View, size: int, rng: np.random.Generator) -> Plan:
        scores = view.scores()
        if scores is None:
            return Passive().plan(view, size, rng)
        p = expit(scores)
        # far from the boundary p rounds to 0 or 1; the margin decides among such rows
        return highest(-xlogy(p, p) - xlogy(1 - p, 1 - p) - 1e-9 * np.abs(scores), view, size)
