"""Designs for explicit classes against closed forms and a general solver."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize

from aced import InvalidInput
from aced._labelings import corners
from aced._workers import Workers
from aced.design.explicit import (
    chaining_design,
    diameter_design,
    minimax,
    narrowest,
    peak,
    squared_distances,
    width,
)


def general_solver(value, n):
    """min of a smooth function of λ over the simplex, from three starts."""
    best = np.inf
    for seed in range(3):
        start = np.random.default_rng(seed).dirichlet(np.full(n, 5.0))
        found = minimize(
            value,
            start,
            method="SLSQP",
            bounds=[(1e-6, 1)] * n,
            constraints={"type": "eq", "fun": lambda lam: lam.sum() - 1},
            options={"maxiter": 100, "ftol": 1e-12},
        )
        best = min(best, value(found.x / found.x.sum()))
    return best


def epigraph_solver(costs, begin=None):
    """min over (λ, t) of t with Σ C/λ ≤ t, by a general solver; it begins at the uniform λ."""
    n = costs.shape[1]
    begin = np.full(n, 1 / n) if begin is None else begin
    start = np.append(begin, (costs * n).sum(axis=1).max())
    found = minimize(
        lambda x: x[-1],
        start,
        jac=lambda x: np.append(np.zeros(n), 1.0),
        method="SLSQP",
        bounds=[(1e-7, 1)] * n + [(0, None)],
        constraints=[
            {"type": "eq", "fun": lambda x: x[:-1].sum() - 1},
            {"type": "ineq", "fun": lambda x: x[-1] - costs @ (1 / x[:-1])},
        ],
        options={"maxiter": 1000, "ftol": 1e-13},
    )
    lam = found.x[:-1] / found.x[:-1].sum()
    return (costs @ (1 / lam)).max()


@pytest.mark.parametrize("seed", range(6))
def test_minimax_agrees_with_a_general_solver(seed):
    rng = np.random.default_rng(seed)
    costs = rng.random((12, 5)) * (rng.random((12, 5)) < 0.7)
    costs[0] += 0.1
    found = minimax(costs)
    assert found.gap < 1e-6
    assert (costs @ (1 / np.maximum(found.lam, 1e-12))).max() == pytest.approx(found.value)
    assert found.lam.sum() == pytest.approx(1)
    assert found.value == pytest.approx(epigraph_solver(costs), rel=1e-4)


@pytest.mark.parametrize("m", [5, 10, 20])
def test_minimax_closed_form_on_spread(m):
    costs = np.zeros((m * m, m + m * m))
    costs[:, :m] = 1
    costs[np.arange(m * m), m + np.arange(m * m)] = 1
    found = minimax(costs)
    assert found.value == pytest.approx(4 * m * m, rel=1e-6)
    assert found.lam[:m].sum() == pytest.approx(0.5, rel=1e-3)


def test_minimax_on_many_hypotheses_is_certified():
    rng = np.random.default_rng(0)
    found = minimax((rng.random((2000, 60)) < 0.3).astype(float))
    assert found.gap < 1e-6


def test_peak_levels_the_costs():
    costs = np.array([2.0, 1.0, 0.0, 5.0])
    found = peak(costs)
    assert found.value == 8
    others = np.random.default_rng(0).dirichlet(np.ones(4), 200)
    assert (np.max(costs / others, axis=1) >= found.value - 1e-9).all()


def test_width_is_the_expected_maximum():
    """Within 4.5 standard errors of a direct computation with other draws (alarm rate 1e-5)."""
    rng = np.random.default_rng(1)
    directions, lam = rng.normal(size=(7, 5)), rng.dirichlet(np.ones(5))
    zeta = rng.normal(size=(200_000, 5))
    direct = ((zeta / np.sqrt(lam)) @ directions.T).max(axis=1)
    found = width(directions, lam, 40_000, 3)
    error = np.hypot(found.stderr, direct.std() / np.sqrt(len(direct)))
    assert abs(found.value - direct.mean()) < 4.5 * error
    # Σ s G = F, the identity behind the lower bound, holds draw by draw
    assert found.sensitivity @ (1 / np.sqrt(lam)) == pytest.approx(found.value, rel=1e-4)


def test_width_is_the_same_on_any_number_of_threads():
    rng = np.random.default_rng(2)
    directions, lam = rng.normal(size=(30, 20)), rng.dirichlet(np.ones(20))
    one = width(directions, lam, 3000, 5, workers=Workers(1))
    two = width(directions, lam, 3000, 5, workers=Workers(2))
    assert one.value == two.value
    np.testing.assert_array_equal(one.sensitivity, two.sensitivity)


@pytest.mark.parametrize("seed", range(3))
def test_narrowest_agrees_with_a_general_solver(seed):
    """Both are measured on the same 4000 draws, which neither has seen in full."""
    rng = np.random.default_rng(seed)
    directions = rng.normal(size=(10, 5))
    zeta = rng.normal(size=(4000, 5))

    def value(lam):
        scores = (zeta / np.sqrt(lam)) @ directions.T
        return (scores.max(axis=1) - scores.min(axis=1)).mean() / 2

    found = narrowest(directions, seed)
    assert value(found.lam) <= general_solver(value, 5) * 1.004
    assert found.gap < 0.05


def test_estimated_lower_bounds_are_below_the_optimum():
    """F* = 1/sqrt(π) sqrt(2) for two rows; 30 seeds, three standard errors: alarm rate 4 %, and
    the plug-in bound is low on average besides."""
    exact = np.sqrt(2 / np.pi)
    found = [narrowest(np.eye(2), seed) for seed in range(30)]
    assert sum(one.lower > exact for one in found) == 0
    assert min(one.lower for one in found) > 0.93 * exact
    sets = np.array([[0, 0], [0, 1], [1, 0], [1, 1]], bool)
    # by symmetry λ = (½, ½): width 2 · 2 · sqrt(2)/sqrt(2π), diameter² 4
    best = (4 * np.sqrt(2) / np.sqrt(2 * np.pi)) ** 2 + 3 * 4
    values = [chaining_design(sets, 3.0, seed).allocation for seed in range(20)]
    assert sum(one.lower > best for one in values) == 0
    assert min(one.lower for one in values) > 0.85 * best
    assert abs(np.mean([one.value for one in values]) / best - 1) < 0.01


def test_chaining_and_diameter_designs_agree_with_a_general_solver():
    rng = np.random.default_rng(4)
    sets = np.unique(rng.random((9, 6)) < 0.5, axis=0)
    zeta = rng.normal(size=(3000, 6))
    table = sets.astype(float)

    def diameter(lam):
        return squared_distances(table, 1 / lam).max()

    def objective(lam):
        scores = (zeta / np.sqrt(lam)) @ table.T
        return (scores.max(axis=1) - scores.min(axis=1)).mean() ** 2 + 5 * diameter(lam)

    found = chaining_design(sets, 5.0, 0)
    assert objective(found.allocation.lam) <= general_solver(objective, 6) * 1.02
    assert found.allocation.gap < 0.1
    assert found.diameter**2 == pytest.approx(diameter(found.allocation.lam))
    union = diameter_design(sets)
    first, second = np.triu_indices(len(sets), 1)
    exact = minimax(np.abs(table[first] - table[second]))
    assert union.value == pytest.approx(exact.value, rel=0.006)
    assert union.lower <= exact.value * (1 + 1e-9)


def one_hot_noise(rng, draws, n, classes):
    """ζ_ic ~ N(0, ½), each row and class on its own, (draws, n, K)."""
    return rng.normal(size=(draws, n, classes)) * np.sqrt(0.5)


def spread_of(zeta, table, best, lam, scale):
    """max_h scale_h Σ_i (ζ_{i,h̃(i)} - ζ_{i,h(i)}) / sqrt(λ_i) of every draw."""
    rows, weight = np.arange(table.shape[1]), 1 / np.sqrt(lam)
    kept = zeta[:, rows, table[best]]
    scores = [
        ((kept - zeta[:, rows, h]) @ weight) * factor for h, factor in zip(table, scale, strict=True)
    ]
    return np.max(scores, axis=0)


@pytest.mark.parametrize("classes", [2, 3, 4])
def test_distances_of_k_classes_count_the_rows_that_differ(classes):
    rng = np.random.default_rng(0)
    table, inverse = rng.integers(0, classes, (40, 15)), rng.uniform(0.5, 9, 15)
    found = squared_distances(corners(table), inverse)
    expected = ((table[:, None] != table[None, :]) * inverse).sum(axis=2)
    np.testing.assert_allclose(found, expected, atol=1e-9)


@pytest.mark.parametrize("classes", [3, 4])
def test_width_of_k_classes_is_that_of_one_hot_noise(classes):
    """2000 labelings; within 4.5 standard errors of noise for every row and class: alarm rate 1e-5."""
    rng = np.random.default_rng(classes)
    table = np.unique(rng.integers(0, classes, (2000, 12)), axis=0)
    lam, scale = rng.dirichlet(np.ones(12)), rng.uniform(0.2, 1, len(table))
    points = corners(table, classes)
    found = width((points[0] - points) * scale[:, None, None], lam, 4000, 1)
    direct = spread_of(one_hot_noise(rng, 8000, 12, classes), table, 0, lam, scale)
    error = np.hypot(found.stderr, direct.std() / np.sqrt(len(direct)))
    assert abs(found.value - direct.mean()) < 4.5 * error
    assert found.sensitivity @ (1 / np.sqrt(lam)) == pytest.approx(found.value, rel=1e-4)


@pytest.mark.parametrize("classes", [2, 3, 4])
def test_the_gradient_of_the_width_by_finite_differences(classes):
    """∂F/∂λ_i = -½ λ_i^(-3/2) G_i, on the same draws: no noise is left but that of single precision."""
    rng = np.random.default_rng(classes)
    points = corners(rng.integers(0, classes, (300, 6)), classes)
    directions, lam = points[0] - points, rng.dirichlet(np.full(6, 4.0))
    found = width(directions, lam, 3000, 2)
    for i in range(6):
        step = np.zeros(6)
        step[i] = 0.02 * lam[i]
        ends = [width(directions, lam + sign * step, 3000, 2).value for sign in (1, -1)]
        slope = (ends[0] - ends[1]) / (2 * step[i])
        assert slope == pytest.approx(-0.5 * lam[i] ** -1.5 * found.sensitivity[i], rel=0.01)


@pytest.mark.parametrize("classes", [3, 4])
def test_narrowest_of_k_classes_agrees_with_a_general_solver(classes):
    """Both are measured on the same 3000 draws of one-hot noise, which neither has seen in full."""
    rng = np.random.default_rng(classes)
    table = np.unique(rng.integers(0, classes, (12, 5)), axis=0)
    zeta, scale = one_hot_noise(rng, 3000, 5, classes), np.ones(len(table))

    def value(lam):
        return (
            spread_of(zeta, table, 0, lam, scale) + spread_of(-zeta, table, 0, lam, scale)
        ).mean() / 2

    points = corners(table, classes)
    found = narrowest(points[0] - points, 0)
    assert value(found.lam) <= general_solver(value, 5) * 1.006
    assert found.gap < 0.05


@pytest.mark.parametrize("classes", [3, 4])
def test_the_diameter_design_of_k_classes_is_the_minimax_over_pairs(classes):
    table = np.unique(np.random.default_rng(classes).integers(0, classes, (25, 8)), axis=0)
    first, second = np.triu_indices(len(table), 1)
    exact = minimax(table[first] != table[second])
    found = diameter_design(table)
    assert found.value == pytest.approx(exact.value, rel=0.006)
    assert found.lower <= exact.value * (1 + 1e-7)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: minimax(np.array([[1.0, -1.0]])), "costs must be"),
        (lambda: minimax(np.zeros((2, 2))), "no row tells"),
        (lambda: minimax(np.array([[np.nan]])), "costs must be"),
        (lambda: peak(np.zeros(3)), "no row tells"),
        (lambda: width(np.empty((0, 2)), np.ones(2) / 2, 10, 0), "directions must be"),
        (lambda: narrowest(np.zeros((2, 2)), 0), "directions must have"),
        (lambda: chaining_design(np.ones((2, 3), bool), 1.0, 0), "different sets"),
        (
            lambda: chaining_design(np.array([[0, 1], [2, 1]]), 1.0, 0),
            "3 classes, but the chaining design",
        ),
        (lambda: diameter_design(np.array([[0.5, 1], [2, 1]])), "numbers of classes"),
    ],
)
def test_bad_input_is_named(call, words):
    with pytest.raises(InvalidInput, match=words):
        call()
