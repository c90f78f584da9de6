"""Entropy sampling: the rows whose predicted label has the largest entropy.

With two classes the order is that of margin sampling.
"""

from __future__ import annotations

import numpy as np
from scipy.special import expit, xlogy

from aced._types import Float64
from aced.strategies._base import Plan, Strategy, View
from aced.strategies._passive import Passive
from aced.strategies._ranked import highest
from aced.strategies._uncertainty import FAR, margins, probabilities


class Entropy(Strategy):
    """The open rows with the largest -Σ p log p, largest first."""

    name = "entropy"

    def plan(self, view: View, size: int, rng: np.random.Generator) -> Plan:
        found = view.scored(_entropies)
        if found is None:
            return Passive().plan(view, size, rng)
        return highest(found, view, size)


def _entropies(scores: Float64) -> Float64:
    """-Σ p log p, less a little for the margin.

    Far from the boundary p rounds to 0 or 1; the margin decides among such rows.
    """
    far = 1e-9 * np.minimum(margins(scores), FAR)
    if scores.ndim == 1:
        p = expit(scores)
        return np.asarray(-xlogy(p, p) - xlogy(1 - p, 1 - p) - far)
    p = probabilities(scores)
    return np.asarray(-xlogy(p, p).sum(axis=1) - far)
