"""BADGE for linear models: k-means++ seeding on gradient embeddings.

The gradient of the logistic loss at the predicted label ŷ is a ⊗ (x, 1), with a = p - e_ŷ: one number
of a for each class. Its size is |a| |(x, 1)|. With two classes the numbers of a are opposite, and one
of them is enough: it is ± min(p, 1 - p), and all distances shrink alike. Gradients are never written
out; distances come from inner products of both factors (:mod:`aced.strategies._distances`). The next
row is drawn with probability proportional to the squared distance of its gradient from the gradients
of the rows drawn before it. So uncertain rows that are far from one another are likely (Ash et al.
2020), and draw probabilities are known.
"""

from __future__ import annotations

import numpy as np

from aced._types import Float32, Float64
from aced.strategies._base import Plan, Strategy, View
from aced.strategies._distances import Nearest
from aced.strategies._passive import Passive
from aced.strategies._uncertainty import doubts, probabilities


class Badge(Strategy):
    """k-means++ on the gradients of the open rows."""

    name = "badge"

    def plan(self, view: View, size: int, rng: np.random.Generator) -> Plan:
        factors = view.scored(_residuals)
        if factors is None:
            return Passive().plan(view, size, rng)
        size = min(size, int(view.open.sum()))
        chosen: list[int] = []
        probabilities: list[float] = []
        left = view.open.copy()
        with view.workers.session():
            nearest = Nearest(view.pool, view.workers, factors, bias=True)
            while len(chosen) < size:
                value = nearest.squares if chosen else nearest.norms
                weight = np.where(left, np.maximum(value, 0.0), 0.0)
                if not weight.any():
                    weight = left.astype(float)
                share = weight / weight.sum()
                row = int(rng.choice(len(share), p=share))
                chosen.append(row)
                probabilities.append(float(share[row]))
                left[row] = False
                nearest.add(np.array([row]))
        return Plan(np.array(chosen, dtype=np.int64), np.array(probabilities))


def _residuals(scores: Float64) -> Float32:
    """a = p - e_ŷ of every row, (m, K); (m, 1) for two classes: that of the second."""
    wrong = doubts(scores)
    if scores.ndim == 1:  # p - ŷ is positive where the predicted label is 0
        return np.where(scores > 0, -wrong, wrong).astype(np.float32)[:, None]
    found = probabilities(scores)
    found[np.arange(len(found)), scores.argmax(axis=1)] = -wrong
    return found.astype(np.float32)
