"""BADGE for linear models: k-means++ seeding on gradient embeddings.

The gradient of the logistic loss at the predicted label ŷ is (p - ŷ)(x, 1), and its size is
min(p, 1 - p) |(x, 1)|. The next row is drawn with probability proportional to the squared distance
of its gradient from the gradients of the rows drawn before it. So uncertain rows that are far from
one another are likely (Ash et al. 2020), and draw probabilities are known.
"""

from __future__ import annotations

import numpy as np
from scipy.special import expit

from aced.strategies._base import Plan, Strategy, View
from aced.strategies._distances import Nearest
from aced.strategies._passive import Passive


class Badge(Strategy):
    """k-means++ on the gradients of the open rows."""

    name = "badge"

    def plan(self, view: View, size: int, rng: np.random.Generator) -> Plan:
        scores = view.scores()
        if scores is None:
            return Passive().plan(view, size, rng)
        size = min(size, int(view.open.sum()))
        chosen: list[int] = []
        probabilities: list[float] = []
        left = view.open.copy()
        with view.workers.session():
            # p - ŷ is positive where the predicted label is 0
            scale = np.where(scores > 0, -1.0, 1.0) * expit(-np.abs(scores))
            nearest = Nearest(view.pool, view.workers, scale.astype(np.float32), bias=True)
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
