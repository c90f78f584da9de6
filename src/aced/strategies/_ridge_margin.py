"""Margin sampling with a regression of its own: the rows nearest to the regression's boundary.

Ordinary margin sampling depends on how the learner's classifier is fitted. Without a penalty, and with
about as many labels as features, that classifier's boundary is mostly noise. Here the boundary is that
of a least-squares fit whose penalty is chosen by leave-one-out (:mod:`aced.estimators._assisted`). The
strategy leaves nothing to chance, so its draws have probability 1 and cannot be reweighted. Until both
classes have been seen it draws uniformly.
"""

from __future__ import annotations

import numpy as np

from aced.estimators import predict
from aced.strategies._base import Plan, Strategy, View
from aced.strategies._passive import Passive
from aced.strategies._ranked import highest


class RidgeMargin(Strategy):
    """The open rows with the smallest |w·x + b|, smallest first."""

    name = "ridge-margin"

    def plan(self, view: View, size: int, rng: np.random.Generator) -> Plan:
        if len(np.unique(view.codes)) < 2:
            return Passive().plan(view, size, rng)
        scores, _ = predict(view.pool, view.workers, view.positions, view.codes)
        return highest(-np.abs(scores.astype(float)), view, size)
