"""Least confidence: the rows whose predicted label has the smallest probability.

With two classes the order is that of margin sampling.
"""

from __future__ import annotations

import numpy as np

from aced._types import Float64
from aced.strategies._base import Plan, Strategy, View
from aced.strategies._passive import Passive
from aced.strategies._ranked import highest
from aced.strategies._uncertainty import FAR, doubts, margins


class LeastConfidence(Strategy):
    """The open rows with the largest 1 - max p, largest first."""

    name = "least-confidence"

    def plan(self, view: View, size: int, rng: np.random.Generator) -> Plan:
        found = view.scored(_values)
        if found is None:
            return Passive().plan(view, size, rng)
        return highest(found, view, size)


def _values(scores: Float64) -> Float64:
    """1 - max p, less a little for the margin, which decides where p rounds to 1."""
    return doubts(scores) - 1e-9 * np.minimum(margins(scores), FAR)
