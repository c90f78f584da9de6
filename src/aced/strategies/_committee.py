"""Query by committee: rows on which classifiers trained on resampled labels disagree.

The members are linear classifiers for bootstrap samples of the labels, all found in one call of the
linear oracle. Rows with the largest vote entropy come first. Among equal rows, those with the smallest
margin of the learner's classifier come first.
"""

from __future__ import annotations

import numpy as np
from scipy.special import xlogy

from aced._check import whole
from aced.oracles import LinearOracle, argmax
from aced.strategies._base import Plan, Strategy, View
from aced.strategies._passive import Passive
from aced.strategies._ranked import highest
from aced.strategies._uncertainty import margins


class Committee(Strategy):
    """The open rows with the largest vote entropy among ``members`` linear classifiers."""

    name = "committee"

    def __init__(self, members: int = 16) -> None:
        self.members = whole("members", members, 2)

    def plan(self, view: View, size: int, rng: np.random.Generator) -> Plan:
        margin = view.scored(margins)
        seen, codes = np.unique(view.codes, return_inverse=True)
        if margin is None or len(seen) < 2:
            return Passive().plan(view, size, rng)
        known, count = len(view.positions), len(seen)
        # e_y, relative to class 0: a label 0 speaks against every other class
        wanted = (codes[:, None] == np.arange(1, count)).astype(float)
        wanted[codes == 0] = -1.0
        weights = np.zeros((self.members, len(view.pool), count - 1), np.float32)
        counts = rng.multinomial(known, np.full(known, 1 / known), size=self.members)
        weights[:, view.positions] = counts[:, :, None] * wanted
        oracle = LinearOracle(view.pool, classes=count, steps=4, workers=view.workers)
        labels, _ = argmax(oracle, weights if count > 2 else weights[:, :, 0])
        entropy = np.zeros(len(view.pool))
        for code in range(count):
            votes = (labels == code).mean(axis=0)
            entropy -= xlogy(votes, votes)
        return highest(entropy + 1e-6 / (1 + margin), view, size)
