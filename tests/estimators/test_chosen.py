"""The default classifier: it scales its input and chooses its penalty."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse
from sklearn.datasets import load_digits, load_wine, make_classification
from sklearn.linear_model import LogisticRegression

from aced import Learner, Pool
from aced._workers import Workers
from aced.estimators import _chosen
from aced.estimators._chosen import choose
from aced.estimators._left_out import best_penalty
from aced.estimators._scaling import scalings
from tests.helpers import many_blobs


def accuracy(rows: np.ndarray, labels: np.ndarray, count: int, **arguments) -> float:
    """The accuracy on the other rows of classifiers trained on some, over five draws."""
    learner = Learner(Pool(rows), strategy="passive", threads=1, **arguments)
    found = []
    for seed in range(5):
        order = np.random.default_rng(seed).permutation(len(labels))
        known, rest = order[:count], order[count : count + 2000]
        found.append(learner.train(known, labels[known]).score(rows[rest], labels[rest]))
    return float(np.mean(found))


def test_a_table_in_mixed_units_works_as_it_is():
    rows, labels = load_wine(return_X_y=True)
    assert accuracy(rows, labels, 50) > 0.94
    assert accuracy(rows, labels, 50) > accuracy(rows, labels, 50, l2=1.0)


def test_more_features_than_labels_do_no_harm():
    how = {"n_informative": 10, "n_redundant": 20, "flip_y": 0.05, "random_state": 0}
    rows, labels = make_classification(3000, 250, **how)
    rows = (rows - rows.mean(axis=0)) / rows.std(axis=0)
    assert accuracy(rows, labels, 300) > accuracy(rows, labels, 300, l2=1.0) + 0.02


def test_principal_axes_are_not_made_equal():
    rows, labels = load_digits(return_X_y=True)
    noise = np.random.default_rng(0).normal(size=(len(rows), 150)) * 1e-3
    axes = np.linalg.svd(rows - rows.mean(axis=0), full_matrices=False)[2]
    turned = np.hstack([(rows - rows.mean(axis=0)) @ axes.T, noise]).astype(np.float32)
    own, common = scalings(Pool(turned), Workers(1))
    some = np.arange(0, len(rows), 6)
    chosen, *_ = choose((own, common), turned[some], np.eye(10)[labels[some]] - 0.1, 1.8)
    assert chosen is common
    assert accuracy(turned, labels, 300) > 0.9


@pytest.mark.parametrize("classes", [2, 3, 30])
def test_coefficients_are_those_of_a_fit_to_scaled_rows_in_the_pools_own_columns(classes):
    rows, codes = many_blobs(n=60 * classes, classes=classes)
    rows = np.hstack([rows * 10.0 ** np.arange(-4, 4), np.full((len(rows), 1), 7.0)]).astype(np.float32)
    learner = Learner(Pool(rows), strategy="passive", threads=1)
    learner.tell(np.arange(30 * classes), codes[: 30 * classes])
    model = learner.classifier
    spread = rows.astype(float).std(axis=0)[:8]
    scaled = (rows.astype(float) - rows.astype(float).mean(axis=0))[:, :8] / spread
    whole = np.column_stack([scaled, np.ones(len(rows))])
    expected = LogisticRegression(C=model.C, fit_intercept=False, tol=1e-8, max_iter=10000)
    expected.fit(whole[: 30 * classes], codes[: 30 * classes])
    assert (model.coef_[:, 8] == 0).all()  # the constant column
    np.testing.assert_allclose(model.predict_proba(rows), expected.predict_proba(whole), atol=0.02)
    largest = np.abs(expected.coef_).max()  # both end near to the minimum
    np.testing.assert_allclose(model.coef_[:, :8] * spread, expected.coef_[:, :8], atol=0.05 * largest)
    assert model.classes_.tolist() == list(range(classes))


def test_the_penalty_is_the_ridge_penalty_times_its_error_on_left_out_labels():
    rows, codes = many_blobs(n=120, classes=3)
    learner = Learner(Pool(rows), strategy="passive", threads=1)
    learner.tell(np.arange(60), codes[:60])
    own, _ = scalings(Pool(rows), Workers(1))
    alpha, error = best_penalty(own.apply(rows[:60]), np.eye(3)[codes[:60]] - 1 / 3, 1.0)
    assert pytest.approx(alpha * min(error, 2 / 9), rel=1e-6) == 1 / learner.classifier.C


def test_scales_are_those_of_the_pool():
    rows = np.random.default_rng(0).normal(3.0, [1.0, 20.0, 0.1], size=(300, 3)).astype(np.float32)
    own, common = scalings(Pool(rows), Workers(2))
    assert own.centre is not None
    np.testing.assert_allclose(own.centre, rows.mean(axis=0), rtol=1e-5)
    np.testing.assert_allclose(own.factor, 1 / rows.std(axis=0), rtol=1e-5)
    np.testing.assert_allclose(common.factor, 1 / np.sqrt(rows.var(axis=0).mean()), rtol=1e-5)


def test_sparse_rows_stay_sparse_and_have_one_scale():
    rng = np.random.default_rng(0)
    codes = np.arange(200) % 4
    dense = (rng.random((200, 5000)) < 0.01).astype(np.float32)
    dense[np.arange(200), codes] = 1.0
    pool = Pool(scipy.sparse.csr_matrix(dense))
    (only,) = scalings(pool, Workers(1))
    assert only.factor[0] == pytest.approx(1 / np.sqrt(np.square(dense).mean()), rel=1e-5)
    learner = Learner(pool, strategy="margin", threads=1)
    learner.tell(np.arange(100), codes[:100])
    assert learner.classifier.score(dense[100:], codes[100:]) > 0.9
    assert learner._scores().shape == (200, 4)


def test_many_labels_choose_by_some_of_them(monkeypatch):
    rows, codes = many_blobs(n=600, classes=4)
    targets = np.eye(4)[codes] - 0.25
    known = scalings(Pool(rows), Workers(1))
    monkeypatch.setattr(_chosen, "MOST_LABELS", 150)
    assert choose(known, rows, targets, 1.0) == choose(known, rows[::4], targets[::4], 1.0)


def test_saved_learners_choose_again_and_keep_a_fixed_penalty(tmp_path):
    rows, codes = many_blobs(n=120, classes=3)
    for l2 in (None, 0.5):
        learner = Learner(Pool(rows), strategy="margin", l2=l2, threads=1)
        learner.tell(np.arange(60), codes[:60])
        learner.save(tmp_path / "saved")
        other = Learner.load(tmp_path / "saved", Pool(rows), threads=1)
        np.testing.assert_array_equal(other.classifier.coef_, learner.classifier.coef_)
        assert (other.classifier.C == 2.0) == (l2 == 0.5)


def test_the_same_labels_give_the_same_classifier_with_any_number_of_threads():
    rows, codes = many_blobs(n=500, classes=5)
    models = [Learner(Pool(rows), threads=k).train(np.arange(200), codes[:200]) for k in (1, 3)]
    np.testing.assert_array_equal(models[0].coef_, models[1].coef_)


def test_one_label_of_each_of_two_classes_is_enough():
    learner = Learner(Pool(np.eye(6)), strategy="passive")
    learner.tell([0, 1], ["a", "b"])
    assert learner.classifier.predict(np.eye(6)[:2]).tolist() == ["a", "b"]


def test_labels_that_are_predicted_without_any_error_are_no_error():
    rows = np.repeat([[1.0, 0.0], [0.0, 1.0]], 30, axis=0)
    learner = Learner(Pool(rows), strategy="margin", threads=1)
    learner.tell(np.arange(60), np.repeat(["a", "b"], 30))
    assert np.isfinite(learner.classifier.coef_).all()
    assert learner.classifier.score(rows, np.repeat(["a", "b"], 30)) == 1


def test_a_hundred_classes():
    rows, codes = many_blobs(n=3000, p=30, classes=100)
    learner = Learner(Pool(rows), strategy="entropy", threads=1)
    learner.tell(np.arange(2000), codes[:2000])
    assert learner.classifier.score(rows[2000:], codes[2000:]) > 0.9
    assert len(learner.ask(10)) == 10


def test_a_pool_of_equal_rows_is_no_error():
    learner = Learner(Pool(np.ones((6, 3))), strategy="margin")
    learner.tell([0, 1, 2], ["a", "b", "b"])
    assert set(learner.classifier.predict(np.ones((2, 3)))) <= {"a", "b"}
    assert len(learner.ask(2)) == 2
