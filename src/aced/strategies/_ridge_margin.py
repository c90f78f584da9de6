"""Margin sampling with a regression of its own: the rows nearest to the regression's boundary.

Ordinary margin sampling depends on how the learner's classifier is fitted. Without a penalty, and with
about as many labels as features, that classifier's boundary is mostly noise. Here the boundary is that
of a least-squares fit whose penalty is chosen by leave-one-out (:mod:`aced.estimators._assisted`). The
strategy leaves nothing to chance, so its draws have probability 1 and cannot be reweighted. Until two
classes have been seen it draws uniformly.
"""

from __future__ import annotations

import numpy as np

from aced.estimators import predict
from aced.strategies._base import Plan, Strategy, View
from aced.strategies._passive import Passive
from aced.strategies._ranked import highest


class RidgeMargin(Strategy):
    """The open rows whose first and second class have the nearest predictions, nearest first."""

    name = "ridge-margin"

    def plan(self, view: View, size: int, rng: np.random.Generator) -> Plan:
        seen, codes = np.unique(view.codes, return_inverse=True)
        if len(seen) < 2:
            return Passive().plan(view, size, rng)
        scores, _ = predict(view.pool, view.workers, view.positions, codes, len(seen))
        if len(seen) == 2:
            return highest(-np.abs(scores[:, 0].astype(float)), view, size)
        scores = np.column_stack([np.zeros(len(scores), np.float32), scores])  # class 0 among them
        scores.partition(len(seen) - 2, axis=1)
        return highest((scores[:, -2] - scores[:, -1]).astype(float), view, size)
