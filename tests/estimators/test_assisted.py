"""The model-assisted estimate: against scikit-learn, against refits that leave one out, at its edges."""

from __future__ import annotations

from importlib import import_module

import numpy as np
import pytest
import scipy.optimize
import scipy.sparse
from sklearn.linear_model import Ridge, RidgeCV

from aced._workers import Workers
from aced.estimators import assisted, predict, regress
from aced.estimators._assisted import BLOCK, GRID
from aced.pool import Pool
from tests.helpers import blobs, relative, wedges


def _noisy(m: int, p: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    rows = (3 + rng.standard_normal((m, p)) * rng.uniform(0.2, 4, p)).astype(np.float32)
    labels = (rows[:, 0] - 3 + rng.standard_normal(m) > 0).astype(np.int64)
    labels[:2] = 0, 1
    return rows, labels


def _alphas(rows: np.ndarray) -> np.ndarray:
    deviations = rows.astype(float) - rows.mean(axis=0, dtype=float)
    return GRID * np.square(deviations).sum() / min(rows.shape)


@pytest.mark.parametrize("shape", [(30, 50), (50, 50), (200, 20), (5, 3), (BLOCK + 900, 12)])
@pytest.mark.parametrize("make", [np.asarray, scipy.sparse.csr_array], ids=["dense", "sparse"])
def test_the_regression_is_that_of_scikit_learn(shape, make):
    rows, labels = _noisy(*shape)
    theirs = RidgeCV(_alphas(rows)).fit(rows.astype(float), 2 * labels - 1)
    expected = np.append(theirs.coef_, theirs.intercept_)
    np.testing.assert_allclose(regress(make(rows), labels)[0], expected, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("shape", [(12, 30), (40, 6)])
def test_the_penalty_is_the_one_with_the_least_error_on_labels_left_out(shape):
    rows, labels = _noisy(*shape, seed=3)
    y, errors = 2 * labels - 1, []
    for alpha in _alphas(rows):
        left_out = []
        for i in range(len(rows)):
            rest = np.arange(len(rows)) != i
            model = Ridge(alpha).fit(rows[rest].astype(float), y[rest])
            left_out.append(y[i] - model.predict(rows[i : i + 1].astype(float))[0])
        errors.append(np.square(left_out).sum())
    best = Ridge(_alphas(rows)[int(np.argmin(errors))]).fit(rows.astype(float), y)
    expected = np.append(best.coef_, best.intercept_)
    np.testing.assert_allclose(regress(rows, labels)[0], expected, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("number", [7.0, 0.1, 123.456, 1e6])
@pytest.mark.parametrize("shape", [(3, 8), (4, 3), (7, 64)])
@pytest.mark.parametrize("make", [np.asarray, scipy.sparse.csr_array], ids=["dense", "sparse"])
def test_rows_that_are_all_alike_predict_the_mean_label(number, shape, make):
    labels = np.arange(shape[0]) % 2
    found = regress(make(np.full(shape, number, np.float32)), labels)[0]
    np.testing.assert_allclose(found, [*np.zeros(shape[1]), np.mean(2 * labels - 1)], atol=1e-12)


@pytest.mark.parametrize("m", [40, 200])
@pytest.mark.parametrize("unit", [1.0, 1e-3, 1e4, 1e5])
def test_one_column_in_other_units_does_not_drown_the_rest(m, unit):
    """Four columns matter, a fifth is noise on another scale; 1000 other rows, 8 seeds fixed."""
    right = []
    for seed in range(8):
        rng = np.random.default_rng(seed)
        rows = rng.standard_normal((m + 1000, 50)).astype(np.float32)
        labels = (rows[:, :4].sum(axis=1) > 0).astype(np.int64)
        rows[:, 4] *= unit
        w = regress(rows[:m], labels[:m])[0]
        right.append(np.mean((rows[m:] @ w[:-1] + w[-1] > 0) == labels[m:]))
    assert np.mean(right) > (0.85 if m == 200 else 0.66)


@pytest.mark.parametrize("m", [60, 300])
def test_a_constant_column_carries_nothing(m):
    rows, labels = _noisy(m, 100)
    plain = regress(rows, labels)[0]
    with_constant = regress(np.column_stack([rows, np.full(m, 1e6, np.float32)]), labels)[0]
    assert abs(1e6 * with_constant[100]) < 1e-3
    assert np.corrcoef(plain[:100], with_constant[:100])[0, 1] > 0.99


def test_very_many_labels_and_features_are_thinned_out(monkeypatch):
    monkeypatch.setattr(import_module("aced.estimators._assisted"), "REGRESSED_LABELS", 300)
    rows = scipy.sparse.random(380, 320, 0.02, "csr", rng=np.random.default_rng(0))
    labels = np.arange(380) % 2
    np.testing.assert_array_equal(regress(rows, labels), regress(rows[::2], labels[::2]))


def test_two_labels_say_nothing_of_a_third():
    rows, labels = _noisy(2, 4)
    assert np.abs(regress(rows, labels)[0][:-1] @ (rows[1] - rows[0])) < 1e-3


def test_labels_are_kept_and_predictions_end_at_one():
    rows, labels = blobs(n=300, p=4)
    rows = np.vstack([rows, 50 * rows[:2]]).astype(np.float32)  # far out: the line goes beyond ±1
    positions = np.arange(0, 300, 3)
    mu, regression = assisted(Pool(rows), Workers(), positions, labels[positions])
    np.testing.assert_array_equal(mu[positions, 0], 2 * labels[positions] - 1)
    others = np.setdiff1d(np.arange(302), positions)
    line = rows @ regression[0, :-1] + regression[0, -1]
    np.testing.assert_allclose(mu[others, 0], np.clip(line, -1, 1)[others], atol=1e-5)
    assert np.abs(line[300:]).max() > 1
    np.testing.assert_allclose(
        predict(Pool(rows), Workers(), positions, labels[positions])[0][:, 0], line, rtol=1e-4, atol=1e-5
    )


def test_it_claims_nothing_where_labels_are_noise():
    """Coin flips for 60 labels: mean |μ̂| of the other rows over 20 fixed seeds, so no false alarms."""
    noise, signal = [], []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        rows = rng.standard_normal((400, 30)).astype(np.float32)
        positions = np.arange(60)
        for labels, kept in (
            (rng.integers(0, 2, 60), noise),
            ((rows[:60, 0] > 0).astype(np.int64), signal),
        ):
            mu, _ = assisted(Pool(rows), Workers(), positions, labels)
            kept.append(np.abs(mu[60:]).mean())
    assert np.mean(noise) < 0.3 < np.mean(signal)


def test_threads_do_not_matter():
    rows, labels = blobs(n=9000, p=6)
    positions = np.arange(0, 9000, 7)
    found = []
    for threads in (1, 3):
        workers = Workers(threads)
        with workers.session():
            found.append(assisted(Pool(rows), workers, positions, labels[positions])[0])
    np.testing.assert_array_equal(*found)


@pytest.mark.parametrize("shape", [(40, 60), (200, 15)])
def test_for_many_classes_the_regression_is_that_of_scikit_learn_on_one_hot_labels(shape):
    """One penalty for all classes: RidgeCV takes the mean of the squared errors over its targets."""
    rows, _ = _noisy(*shape)
    labels = np.random.default_rng(1).integers(0, 4, len(rows))
    hot = np.eye(4)[labels]
    theirs = RidgeCV(_alphas(rows)).fit(rows.astype(float), hot)
    expected = theirs.predict(rows.astype(float))
    found = regress(rows, labels, 4)
    ours = rows.astype(float) @ found[:, :-1].T + found[:, -1]
    np.testing.assert_allclose(ours, expected[:, 1:] - expected[:, :1], rtol=1e-6, atol=1e-8)


def test_for_many_classes_estimates_lie_on_the_simplex_and_labels_are_kept():
    rows, labels = wedges(n=300, p=4, classes=5)
    rows = np.vstack([rows, 50 * rows[:2]]).astype(np.float32)
    positions = np.arange(0, 300, 3)
    mu, regression = assisted(Pool(rows), Workers(), positions, labels[positions], 5)
    np.testing.assert_array_equal(mu[positions], relative(labels[positions], 5))
    w = regression.reshape(4, 5).astype(float)
    plane = rows @ w[:, :-1].T + w[:, -1]
    first = (1 - plane.sum(axis=1, keepdims=True)) / 5
    predicted = np.concatenate([first, plane + first], axis=1)
    others = np.setdiff1d(np.arange(302), positions)
    for i in others[::7]:  # the nearest point of the simplex, by a general solver
        best = scipy.optimize.minimize(
            lambda eta, point=predicted[i]: np.square(eta - point).sum(),
            np.full(5, 0.2),
            bounds=[(0, 1)] * 5,
            constraints={"type": "eq", "fun": lambda eta: eta.sum() - 1},
            options={"ftol": 1e-12},
        ).x
        np.testing.assert_allclose(mu[i], best[1:] - best[0], atol=1e-3)
