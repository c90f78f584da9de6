"""The logistic regression behind a design with more than two classes."""

from __future__ import annotations

import numpy as np
import pytest

from aced import Learner
from aced._workers import Workers
from aced.estimators import Chosen, logistic
from aced.estimators._left_out import best_penalty
from aced.estimators._logistic import REACH
from aced.oracles import LinearOracle, Weights, labels_of
from aced.pool import Pool
from aced.strategies import Aced
from tests.helpers import relative, wedges


@pytest.mark.parametrize("classes", [2, 3, 6])
def test_estimates_are_the_classifiers_probabilities_and_labels_are_kept(classes):
    rows, labels = wedges(n=500, p=5, classes=classes)
    pool, workers, positions = Pool(rows), Workers(2), np.arange(0, 500, 5)
    chosen = Chosen(pool, workers)
    mu, regression, ridge = logistic(pool, workers, positions, labels[positions], chosen)
    model = chosen.fit(rows[positions], labels[positions])
    eta = model.predict_proba(rows)
    others = np.setdiff1d(np.arange(500), positions)
    np.testing.assert_allclose(mu[others], (eta[:, 1:] - eta[:, :1])[others], atol=1e-5)
    np.testing.assert_array_equal(mu[positions], relative(labels[positions], classes))
    oracle = LinearOracle(pool, classes=classes, workers=workers)
    np.testing.assert_array_equal(
        labels_of(oracle, oracle.from_array(regression))[0], model.predict(rows)
    )
    assert ridge.shape == (6,)


def test_the_ridge_is_a_tenth_of_the_penalty_relative_to_what_the_labels_say():
    """Columns in one scale: α / m of the ridge regression that leave-one-out chose, for every column."""
    rows, labels = wedges(n=400, p=4, classes=3)
    rows = (rows - rows.mean(axis=0)) / rows.std(axis=0)
    pool, workers, known = Pool(rows), Workers(1), np.arange(80)
    ridge = logistic(pool, workers, known, labels[:80], Chosen(pool, workers))[2]
    targets = np.eye(3)[labels[:80]] - 1 / 3
    alpha, _ = best_penalty(pool.rows(known), targets, 1.0)
    np.testing.assert_allclose(ridge[:-1], alpha / 80 / REACH, rtol=1e-4)
    assert ridge[-1] == 0


def test_columns_with_little_spread_are_held_back_where_their_spread_says_what_they_are_worth():
    """Principal axes: the labels follow the wide ones, so one scale is chosen for all columns, and a
    column with a tenth of the spread gets a hundred times the ridge."""
    rng = np.random.default_rng(0)
    spread = np.r_[np.ones(3), np.full(60, 0.1)]
    rows = (rng.standard_normal((600, 63)) * spread).astype(np.float32)
    labels = (rows[:, :3] + 0.1 * rng.standard_normal((600, 3))).argmax(axis=1)
    pool, workers = Pool(rows), Workers(1)
    ridge = logistic(pool, workers, np.arange(60), labels[:60], Chosen(pool, workers))[2]
    actual = rows.std(axis=0)
    np.testing.assert_allclose(ridge[:-1] / ridge[0], np.square(actual[0] / actual), rtol=1e-3)


def test_the_ridge_is_added_to_the_diagonal_of_h():
    rows, _ = wedges(n=300, p=4, classes=3)
    pool = Pool(rows)
    plain = LinearOracle(pool, classes=3, workers=Workers(1))
    extra = np.array([0.5, 0.0, 2.0, 0.1, 0.0])
    vectors = np.random.default_rng(0).standard_normal((4, 300, 2))
    weights = Weights.given(pool, vectors)
    standard = np.column_stack([(rows - rows.mean(axis=0)) / rows.std(axis=0), np.ones(300)])
    full = np.concatenate([np.zeros((4, 300, 1)), vectors], axis=2)
    total = (full.sum(axis=2) - 3 * full.min(axis=2)).mean(axis=0)
    h = (standard.T * total) @ standard / 4
    for oracle, ridge in ((plain, 1e-5), (plain.with_ridge(extra), 1e-5 + extra)):
        inverse = np.linalg.inv(h + np.diag(ridge * np.diag(h)))
        expected = np.einsum("ij,jk,ik->i", standard, inverse, standard)
        np.testing.assert_allclose(oracle.prepare(weights).leverage(0.0), expected, rtol=2e-3)


def _problem(classes, **options):
    rows, labels = wedges(n=400, p=5, classes=classes)
    learner = Learner(rows, strategy=Aced(**options), batch_size=40, threads=1)
    first = learner.ask()
    learner.tell(first.ids, labels[first.ids])
    learner.ask()
    return learner.round.problem, labels[first.ids]


def test_the_default_is_least_squares_for_two_classes_and_logistic_for_more():
    for classes, named in ((2, "least-squares"), (4, "logistic")):
        default, told = _problem(classes)
        assert len(np.unique(told)) == classes
        same, _ = _problem(classes, estimator=named)
        np.testing.assert_array_equal(default.mu, same.mu)
        other, _ = _problem(classes, estimator={2: "logistic", 4: "least-squares"}[classes])
        assert np.abs(default.mu - other.mu).max() > 0.01
        assert isinstance(default.oracle.ridge, float) == (named == "least-squares")
