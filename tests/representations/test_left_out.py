"""The closed form of errors on left-out labels, against leaving them out one by one."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse

from aced.representations._left_out import GRID, _dual, _primal, by_kernel, by_rows, centred_targets


def one_by_one(rows: np.ndarray, targets: np.ndarray, constant: float, alpha: float) -> np.ndarray:
    """What each row's target is predicted to be by a fit to the others, (m, K)."""
    z = np.column_stack([rows, np.full(len(rows), constant)])
    found = []
    for i in range(len(z)):
        others = np.delete(z, i, axis=0)
        gram = others.T @ others + alpha * np.eye(z.shape[1])
        found.append(z[i] @ np.linalg.solve(gram, others.T @ np.delete(targets, i, axis=0)))
    return np.array(found)


def error(rows: np.ndarray, targets: np.ndarray, constant: float, alpha: float) -> float:
    return float(np.square(targets - one_by_one(rows, targets, constant, alpha)).mean())


def problem(m: int, p: int, classes: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(m + p)
    codes = rng.integers(classes, size=m)
    rows = rng.normal(size=(m, p)) + rng.normal(size=(classes, p))[codes]
    return rows, centred_targets(codes, classes)


def gaussian(rows: np.ndarray) -> np.ndarray:
    apart = rows[:, None, :] - rows[None, :, :]
    return np.exp(-np.square(apart).sum(axis=2) / (2 * rows.shape[1]))


@pytest.mark.parametrize(("m", "p"), [(12, 30), (30, 30), (40, 7)])
@pytest.mark.parametrize("classes", [2, 5, 30])
def test_errors_are_those_of_fits_without_each_label(m, p, classes):
    rows, targets = problem(m, p, classes)
    alphas = np.array([0.01, 1.0, 50.0])
    expected = np.stack([targets - one_by_one(rows, targets, 1.5, a) for a in alphas], axis=1)
    for errors, _ in (_dual(rows @ rows.T + 1.5**2, targets), _primal(rows, targets, 1.5)):
        np.testing.assert_allclose(errors(alphas), expected, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize(("m", "p"), [(25, 60), (60, 8)])
@pytest.mark.parametrize("sparse", [False, True])
def test_the_penalty_is_the_best_of_the_grid_and_its_neighbours(m, p, sparse):
    rows, targets = problem(m, p, 3)
    found = by_rows(scipy.sparse.csr_matrix(rows) if sparse else rows, targets, 1.0)
    np.testing.assert_allclose(found.scores, one_by_one(rows, targets, 1.0, found.alpha), atol=1e-7)
    assert found.error == pytest.approx(error(rows, targets, 1.0, found.alpha), rel=1e-6)
    unit = (np.square(rows).sum() + m) / min(m, p + 1)
    tried = [error(rows, targets, 1.0, a) for a in GRID * unit if a > 1e-6]
    assert found.error <= min(tried) * (1 + 1e-9)
    for beside in (0.316, 3.16):
        assert found.error <= error(rows, targets, 1.0, found.alpha * beside) * (1 + 1e-6)
    z = np.column_stack([rows, np.ones(m)])
    expected = np.linalg.solve(z.T @ z + found.alpha * np.eye(p + 1), z.T @ targets)
    np.testing.assert_allclose(found.weights, expected, atol=1e-7)


@pytest.mark.parametrize("classes", [2, 4])
def test_with_a_kernel_scores_are_those_of_fits_without_each_label(classes):
    rows, targets = problem(40, 5, classes)
    gram = gaussian(rows) + 0.25
    found = by_kernel(gram, targets)
    expected = np.empty_like(targets)
    for i in range(40):
        rest = np.delete(np.arange(40), i)
        dual = np.linalg.solve(gram[np.ix_(rest, rest)] + found.alpha * np.eye(39), targets[rest])
        expected[i] = gram[i, rest] @ dual
    np.testing.assert_allclose(found.scores, expected, atol=1e-7)
    whole = np.linalg.solve(gram + found.alpha * np.eye(40), targets)
    np.testing.assert_allclose(found.weights, whole, rtol=1e-6, atol=1e-7)
    assert found.error == pytest.approx(np.square(targets - expected).mean(), rel=1e-6)


def test_a_kernel_of_products_is_a_fit_to_the_rows():
    rows, targets = problem(20, 30, 3)
    primal, dual = by_rows(rows, targets, 1.5), by_kernel(rows @ rows.T + 1.5**2, targets)
    assert primal.alpha == pytest.approx(dual.alpha)
    np.testing.assert_allclose(primal.scores, dual.scores, atol=1e-8)
    np.testing.assert_allclose(primal.weights[:-1], rows.T @ dual.weights, atol=1e-8)


def test_labels_of_pure_noise_get_a_large_penalty():
    rng = np.random.default_rng(0)
    rows, codes = rng.normal(size=(60, 40)), rng.integers(2, size=60)
    noise = by_rows(rows, centred_targets(codes, 2), 1.0)
    rule = by_rows(rows, centred_targets((rows[:, 0] > 0).astype(int), 2), 1.0)
    assert noise.alpha > 3 * rule.alpha


def test_rows_that_are_all_alike_are_no_error():
    targets = centred_targets(np.arange(6) % 2, 2)
    for rows in (np.zeros((6, 3)), np.ones((6, 20))):
        for found in (by_rows(rows, targets, 1.0), by_kernel(rows @ rows.T + 1.0, targets)):
            assert found.alpha > 0
            assert np.isfinite(found.scores).all()
            assert np.isfinite(found.error)
