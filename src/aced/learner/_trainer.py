"""Who trains a learner's classifier: with a penalty chosen or fixed, or a classifier of the user's."""

from __future__ import annotations

from typing import Any, Protocol

from aced._types import Array
from aced._workers import Workers
from aced.estimators import Chosen
from aced.learner._classifier import Fixed, Own
from aced.pool import Pool

CHOSEN = "chosen"
"""What a saved learner has in place of a fixed penalty."""


class Trainer(Protocol):
    """Trains classifiers on rows of one pool."""

    def fit(self, rows: Any, labels: Array) -> Any:
        """A classifier fitted to these rows (m, p) and labels (m,)."""


def make_trainer(pool: Pool, workers: Workers, classifier: Any, l2: Any) -> Trainer:
    """The trainer for these arguments of a learner."""
    if classifier is not None:
        return Own(classifier)
    return Chosen(pool, workers) if l2 is None else Fixed(pool, l2)
