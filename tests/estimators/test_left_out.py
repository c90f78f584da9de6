"""The closed form of errors on left-out labels, against leaving them out one by one."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse

from aced.estimators._left_out import GRID, _dual, _primal, best_penalty


def one_by_one(rows: np.ndarray, targets: np.ndarray, constant: float, alpha: float) -> float:
    z = np.column_stack([rows, np.full(len(rows), constant)])
    errors = []
    for i in range(len(z)):
        others = np.delete(z, i, axis=0)
        gram = others.T @ others + alpha * np.eye(z.shape[1])
        w = np.linalg.solve(gram, others.T @ np.delete(targets, i, axis=0))
        errors.append(targets[i] - z[i] @ w)
    return float(np.square(errors).mean())


def problem(m: int, p: int, classes: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(m + p)
    codes = rng.integers(classes, size=m)
    rows = rng.normal(size=(m, p)) + rng.normal(size=(classes, p))[codes]
    return rows, np.eye(classes)[codes] - 1 / classes


@pytest.mark.parametrize(("m", "p"), [(12, 30), (30, 30), (40, 7)])
@pytest.mark.parametrize("classes", [2, 3, 5, 30])
@pytest.mark.parametrize("sparse", [False, True])
def test_errors_are_those_of_fits_without_each_label(m, p, classes, sparse):
    rows, targets = problem(m, p, classes)
    given = scipy.sparse.csr_matrix(rows) if sparse else rows
    alphas = np.array([0.01, 1.0, 50.0])
    expected = [one_by_one(rows, targets, 1.5, alpha) for alpha in alphas]
    for way in (_dual, _primal):
        np.testing.assert_allclose(way(given, targets, 1.5)(alphas), expected, rtol=1e-6)


@pytest.mark.parametrize(("m", "p"), [(25, 60), (60, 8)])
def test_the_penalty_is_the_best_of_the_grid_and_its_neighbours(m, p):
    rows, targets = problem(m, p, 3)
    alpha, error = best_penalty(rows, targets, 1.0)
    assert error == pytest.approx(one_by_one(rows, targets, 1.0, alpha), rel=1e-6)
    unit = (np.square(rows).sum() + m) / min(m, p + 1)
    tried = [one_by_one(rows, targets, 1.0, a) for a in GRID * unit if a > 1e-6]
    assert error <= min(tried) * (1 + 1e-9)
    for beside in (0.316, 3.16):
        assert error <= one_by_one(rows, targets, 1.0, alpha * beside) * (1 + 1e-6)


def test_labels_of_pure_noise_get_a_large_penalty():
    rng = np.random.default_rng(0)
    rows, codes = rng.normal(size=(60, 40)), rng.integers(2, size=60)
    noise, _ = best_penalty(rows, np.eye(2)[codes] - 0.5, 1.0)
    rule, _ = best_penalty(rows, np.eye(2)[(rows[:, 0] > 0).astype(int)] - 0.5, 1.0)
    assert noise > 3 * rule


def test_rows_that_are_all_alike_are_no_error():
    targets = np.eye(2)[np.arange(6) % 2] - 0.5
    for rows in (np.zeros((6, 3)), np.ones((6, 20))):
        alpha, error = best_penalty(rows, targets, 1.0)
        assert alpha > 0
        assert np.isfinite(error)
