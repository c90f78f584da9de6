"""Designs through the oracle against brute force over the class."""

from __future__ import annotations

import numpy as np
import pytest

from aced._workers import Workers
from aced.design import (
    Dinkelbach,
    Incumbent,
    Problem,
    forced_agreement,
    forced_design,
    initial_incumbent,
)
from aced.oracles import FiniteOracle, GivenNoise, LinearOracle
from aced.pool import Pool
from tests.helpers import blobs, of_labels, ratio_by_definition


def state(seed: int, hypotheses: int, n: int = 24, classes: int = 2):
    rng = np.random.default_rng(seed)
    table = np.unique(rng.integers(0, classes, (2 * hypotheses, n)), axis=0)[:hypotheses]
    table[:, -1] = 1  # a row on which all agree
    table = np.unique(table, axis=0)
    known = (rng.random(n) < 0.6)[:, None]
    mu = (rng.normal(size=(n, classes - 1)) * known).astype(np.float32)
    pool = Pool(np.arange(n, dtype=float)[:, None])
    oracle = FiniteOracle(pool, table, classes=classes, workers=Workers(1))
    best = int(of_labels(mu, table).sum(axis=1).argmax())
    incumbent = Incumbent.of(oracle, oracle.from_array(np.array([best])), mu)
    return Problem(oracle, mu, 3.0, incumbent), table


@pytest.mark.parametrize(
    ("seed", "hypotheses", "classes"), [(0, 40, 2), (1, 400, 2), (2, 2000, 2), (7, 400, 3), (8, 2000, 4)]
)
def test_forced_rows_agree_with_brute_force(seed, hypotheses, classes):
    problem, table = state(seed, hypotheses, classes=classes)
    labels, agreements = problem.incumbent.labels, of_labels(problem.mu, table).sum(axis=1)
    expected = [
        max(agreements[table[:, i] != labels[i]].tolist(), default=-np.inf) for i in range(problem.n)
    ]
    np.testing.assert_allclose(forced_agreement(problem.oracle, problem.mu, labels), expected, rtol=1e-6)
    assert expected[-1] == -np.inf


@pytest.mark.parametrize(("seed", "hypotheses", "classes"), [(3, 60, 2), (4, 2000, 2), (9, 2000, 4)])
def test_forced_design_agrees_with_brute_force(seed, hypotheses, classes):
    problem, table = state(seed, hypotheses, classes=classes)
    apart = table != problem.incumbent.labels
    agreements = of_labels(problem.mu, table).sum(axis=1)
    denominator = problem.shift + problem.incumbent.agreement - agreements
    found = forced_design(problem)
    worst = max(
        (1 / (found.lam[row] * d)).max()
        for row, d in ((a, d) for a, d in zip(apart, denominator, strict=True) if a.any())
    )
    assert worst == pytest.approx(found.value, rel=1e-5)
    assert found.lam[-1] == 0
    rng = np.random.default_rng(0)
    for other in rng.dirichlet(np.ones(problem.n), 20):
        assert (apart / (other * denominator[:, None])).max() >= found.value * (1 - 1e-6)


@pytest.mark.parametrize(
    ("seed", "hypotheses", "classes"), [(5, 50, 2), (6, 2000, 2), (10, 2000, 3), (11, 2000, 4)]
)
def test_search_through_the_oracle_agrees_with_brute_force(seed, hypotheses, classes):
    problem, table = state(seed, hypotheses, classes=classes)
    rng = np.random.default_rng(seed)
    lam, zeta = rng.dirichlet(np.ones(problem.n)), rng.normal(size=(32, problem.n, classes - 1))
    found = Dinkelbach()(problem, lam, GivenNoise(problem.oracle.pool, zeta))
    np.testing.assert_allclose(found.ratio, ratio_by_definition(problem, lam, zeta, table), rtol=2e-5)


def test_forced_rows_with_a_linear_oracle():
    """Each answer disagrees on its row, and is no better than the unconstrained best."""
    rows, labels = blobs(200, 4)
    oracle = LinearOracle(Pool(rows), workers=Workers(1))
    mu = np.where(labels == 1, 1, -1).astype(np.float32)
    incumbent = initial_incumbent(oracle, mu)
    best = forced_agreement(oracle, mu, incumbent.labels)
    assert np.isfinite(best).mean() > 0.95
    assert best.max() <= incumbent.agreement + 0.02 * len(rows)
    margin = np.abs(rows @ np.linalg.lstsq(rows, mu, rcond=None)[0])
    inside, outside = best[margin < np.quantile(margin, 0.2)], best[margin > np.quantile(margin, 0.8)]
    assert np.mean(inside[np.isfinite(inside)]) > np.mean(outside[np.isfinite(outside)])
