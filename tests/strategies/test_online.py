"""The online learner of active cover: each step solves its equation."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import expit

from aced.strategies._online import FLAT, Online
from tests.helpers import blobs


def test_a_step_solves_its_equation():
    rng = np.random.default_rng(0)
    learner = Online(1, 5, 0.7)
    for _ in range(60):
        x, y, c = rng.normal(size=5), rng.choice([-1.0, 1.0]), float(rng.uniform(0.2, 5))
        probe = Online(1, 5, 0.7)
        probe.restore(learner.state())
        after = learner.learn(0, x, y, c)
        assert learner.margins(x)[0] == pytest.approx(after, abs=1e-9)
        # the same by definition, from the state before it
        grown = np.maximum(probe.largest[0], np.abs(x))
        start = probe.weights[0] * np.where(probe.largest[0] > 0, probe.largest[0] / grown, 1.0)
        z = y * (probe.weights[0] @ x)  # before weights shrink to the new scale
        squares = probe.squares[0] + c * expit(-z) ** 2 * x**2
        totals = probe.totals[0] + np.array([c * ((x / grown) ** 2).sum(), c])
        reach = (x**2 / (np.sqrt(squares) * grown)).sum() * np.sqrt(totals[1] / totals[0])
        final = z + y * (after - start @ x)  # what the step added
        assert final + np.exp(final) == pytest.approx(z + np.exp(z) + 0.7 * c * reach, rel=1e-8)


def test_an_example_without_loss_in_single_precision_changes_nothing():
    learner = Online(1, 2, 1.0)
    x = np.array([1.0, 1.0])
    while learner.margins(x)[0] <= FLAT:
        learner.learn(0, x, 1.0, 1e9)
    before = {name: array.copy() for name, array in learner.state().items()}
    assert np.float32(1) + np.exp(np.float32(-learner.margins(x)[0])) == 1
    learner.learn(0, 3 * x, 1.0, 1.0)
    for name, array in learner.state().items():
        np.testing.assert_array_equal(array, before[name])
    assert learner.margins(100 * x)[0] == 50


def test_it_learns():
    rows, labels = blobs(2000, 5, flip=0.0)
    learner = Online(1, 6, 1.0)
    full = np.column_stack([rows, np.ones(len(rows))]).astype(float)
    for x, label in zip(full, labels, strict=True):
        learner.learn(0, x, 2.0 * label - 1, 1.0)
    assert ((full @ learner.weights[0] > 0) == labels).mean() > 0.97
