"""The model beyond the labels from which its penalty is chosen, and as scikit-learn's objects."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse

from aced import Learner, Pool
from aced._workers import Workers
from aced.representations import Representations, _model, as_classifier
from aced.representations._left_out import by_rows, centred_targets
from aced.representations._model import fit


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("shape", [(300, 20), (90, 250)])
def test_weights_of_all_labels_solve_the_normal_equations(shape, sparse, monkeypatch):
    """The penalty comes from 40 of the labels."""
    monkeypatch.setattr(_model, "MOST_LABELS", 40)
    monkeypatch.setattr(_model, "BLOCK", 64)
    rng = np.random.default_rng(0)
    rows = rng.normal(size=shape).astype(np.float32)
    codes = (rows[:, :3].sum(axis=1) > 0).astype(int)
    found = fit(scipy.sparse.csr_array(rows) if sparse else rows, codes, 2, 0.7)
    z = np.column_stack([rows.astype(float), np.full(len(rows), 0.7)])
    some = len(found.left_out)
    alpha = found.alpha * some
    wanted = np.linalg.solve(z.T @ z + alpha * np.eye(z.shape[1]), z.T @ centred_targets(codes, 2))
    assert 40 <= some <= 42
    np.testing.assert_allclose(found.weights, found.slope * wanted, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("labels", [4096, 4097, 4500])
def test_columns_that_depend_on_one_another(labels):
    """Two sets of dummy columns: the rank is one less than their number."""
    rng = np.random.default_rng(0)
    one, two = np.arange(4500) % 4, rng.integers(0, 5, 4500)
    rows = np.column_stack([np.eye(4)[one], np.eye(5)[two]])
    learner = Learner(rows, representation="linear")
    learner.tell(np.arange(labels), (one == 1)[:labels].astype(int))
    assert (learner.predict() == (one == 1)).all()


def test_a_narrow_direction_is_not_rounded_away():
    """Two columns differ by a thousandth, and nothing else matters. Products in float32 lose it."""
    rng = np.random.default_rng(0)
    x, u, v = rng.normal(size=(3, 6000))
    rows = np.column_stack([x, x + 1e-3 * u, v])
    right = []
    for labels in (4000, 4500):
        learner = Learner(rows, representation="linear")
        learner.tell(np.arange(labels), (u > 0)[:labels].astype(int))
        right.append(float((learner.predict() == (u > 0)).mean()))
    assert min(right) > 0.97
    assert right[1] == pytest.approx(right[0], abs=0.01)


def test_few_dimensions_in_many_columns():
    rng = np.random.default_rng(0)
    inside = rng.normal(size=(1300, 20))
    rows = inside @ rng.normal(size=(20, 1500))
    codes = (inside[:, 0] > 0).astype(int)
    learner = Learner(rows, representation="linear")
    learner.tell(np.arange(1200), codes[:1200])
    assert (learner.predict() == codes).mean() > 0.95


@pytest.mark.parametrize("offset", [0.0, 1e4])
def test_the_classifier_says_of_rows_far_from_zero_what_the_model_says(offset):
    near = np.random.default_rng(0).normal(size=(400, 3))
    codes = (np.square(near).sum(axis=1) > 2.4).astype(int)
    rows = (near + offset).astype(np.float32)
    asked, known = Representations(Pool(rows), Workers(1), "rbf"), np.arange(200)
    choice = asked.choose(None, known, codes[:200])
    model = asked.fit(choice, known, codes[:200])
    said = as_classifier(model, np.array([0, 1]), asked.lift_of(choice)).predict_proba(rows)
    np.testing.assert_allclose(said, model.probabilities(Workers(1)), atol=1e-3)


def test_a_lifted_classifier_takes_sparse_rows():
    """A sparse pool of few columns becomes dense, and new rows may still be sparse."""
    rng = np.random.default_rng(0)
    rows = scipy.sparse.random_array((300, 40), density=0.2, rng=rng, format="csr")
    codes = (rows[:, [0, 1, 2]].sum(axis=1) > 0.4).astype(int)
    learner = Learner(rows, representation="rbf")
    learner.tell(np.arange(100), codes[:100])
    assert "nystroem" in learner.classifier.named_steps
    said = learner.classifier.predict_proba(rows)
    np.testing.assert_allclose(said, learner.classifier.predict_proba(rows.toarray()), atol=1e-6)
    np.testing.assert_array_equal(learner.classifier.predict(rows), learner.predict())


def test_by_rows_and_fit_agree_where_all_labels_are_looked_at():
    rng = np.random.default_rng(1)
    rows = rng.normal(size=(60, 8)).astype(np.float32)
    codes = (rows[:, 0] > 0).astype(int)
    found, alone = fit(rows, codes, 2, 1.0), by_rows(rows, centred_targets(codes, 2), 1.0)
    np.testing.assert_allclose(found.weights, found.slope * alone.weights)
