"""Query by committee: rows on which classifiers trained on resampled labels disagree.

The members are linear separators for bootstrap samples of the labels, all found in one call of the
linear oracle. Rows with the largest vote entropy come first. Among equal rows, those nearest to the
boundary of the learner's classifier come first.
"""

from __future__ import annotations

import numpy as np
from scipy.special import xlogy

from aced._check import whole
from aced.oracles import LinearOracle, argmax
from aced.strategies._base import Plan, Strategy, View
from aced.strategies._passive import Passive
from aced.strategies._ranked import highest


class Committee(Strategy):
    """The open rows with the largest vote entropy among ``members`` separators."""

    name = "committee"

    def __init__(self, members: int = 16) -> None:
        self.members = whole("members", members, 2)

    def plan(self, view: View, size: int, rng: np.random.Generator) -> Plan:
        scores = view.scores()
        if scores is None or len(np.unique(view.codes)) < 2:
            return Passive().plan(view, size, rng)
        n, known = len(view.pool), len(view.positions)
        weights = np.zeros((self.members, n))
        counts = rng.multinomial(known, np.full(known, 1 / known), size=self.members)
        weights[:, view.positions] = counts * (2.0 * view.codes - 1)
        labels, _ = argmax(LinearOracle(view.pool, steps=4, workers=view.workers), weights)
        votes = labels.mean(axis=0)
        entropy = -xlogy(votes, votes) - xlogy(1 - votes, 1 - votes)
        nearness = 1 / (1 + np.abs(scores))
        return highest(entropy + 1e-6 * nearness, view, size)
