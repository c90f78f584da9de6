"""Rounds of a learner, to be compared between those who compute them."""

from __future__ import annotations

import numpy as np

from aced.design import FixedPoint
from aced.learner import Learner
from aced.pool import Pool
from aced.strategies import Aced
from tests.backends.kernels import rows


def labelled(n=20_000):
    """Rows of two parts, and labels by a rule."""
    given = rows(n, 4)
    return given, (given @ np.arange(4) > 1).astype(int)


def asked(strategy=None, rounds=2, batch=20, **options):
    """Ids of the rows asked for and, where there is one, the last design; and the learner.

    By default a design from few draws: as many passes of each kind as two steps need.
    """
    given, labels = labelled()
    learner = Learner(
        Pool(given),
        strategy=strategy or Aced(solver=FixedPoint(draws=12, rounds=2)),
        classes=[0, 1],
        budget=rounds * batch,
        batch_size=batch,
        seed=1,
        **options,
    )
    ids = []
    while queries := learner.ask():
        ids.append(queries.ids)
        learner.tell(queries.ids, labels[queries.ids])
    return np.concatenate(ids), learner.design, learner


def assert_same_rounds(found, expected):
    """The same rows, and λ to the bit."""
    np.testing.assert_array_equal(found[0], expected[0])
    if expected[1] is not None:
        np.testing.assert_array_equal(found[1], expected[1])
