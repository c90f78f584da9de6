"""Complexity measures: closed forms, brute force, and the paper's inequalities."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from aced import InvalidInput
from aced.theory import Bandit, measure, random, rectangles, separators, spread, thresholds
from aced.theory.complexity import (
    Tsybakov,
    disagreement_coefficient,
    disagreement_region,
    gamma,
    gamma_bound,
    psi,
    rho,
    rho_bound_noiseless,
    rho_bound_tsybakov,
    threshold_gamma_bound,
    threshold_rho,
    tsybakov,
    tsybakov_constant,
    vc_dimension,
)
from tests.helpers import blobs


@pytest.mark.parametrize("m", [5, 10, 20])
def test_spread_has_its_closed_forms(m):
    found = measure(spread(m))
    assert found.rho.value == pytest.approx(4 * m * m / (m + 1) ** 2, rel=0.01)
    assert found.psi.value == pytest.approx(m, rel=0.01)
    assert found.disagreement == pytest.approx(m, rel=0.01)
    assert found.dimension == 1
    # γ*: all mass on the private rows in the limit, m² normals of variance m² over m + 1
    expected = np.random.default_rng(0).normal(size=(20_000, m * m)).max(axis=1).mean()
    assert found.gamma.value == pytest.approx((m * expected / (m + 1)) ** 2, rel=0.03)
    assert 0.8 * found.gamma.value < found.gamma.lower < (m * expected / (m + 1)) ** 2


def test_gamma_of_spread_grows_like_log_n():
    sizes = np.array([4, 8, 16, 24])
    values = [gamma(spread(m), rounds=25, final_pairs=4096).value for m in sizes.tolist()]
    # (m/(m+1))² aside, the expected maximum of m² normals: 2 log n in the limit, from below
    per_log = np.array(values) * ((sizes + 1) / sizes) ** 2 / np.log(sizes + sizes**2)
    assert per_log.max() / per_log.min() < 1.6
    assert per_log.max() < 2
    theta_over_rho = np.array([m / rho(spread(m)).value for m in sizes.tolist()])
    assert np.polyfit(np.log(sizes), np.log(theta_over_rho), 1)[0] == pytest.approx(1, abs=0.25)


@pytest.mark.parametrize(("n", "cut", "noise"), [(16, 8, 0.0), (40, 7, 0.2), (64, 64, 0.1)])
def test_thresholds_have_their_closed_form(n, cut, noise):
    found = rho(thresholds(n, noise, cut))
    assert found.value == pytest.approx(threshold_rho(n, cut, 1 - 2 * noise), rel=1e-6)


def test_gamma_of_thresholds_stays_under_the_appendix_bound():
    for n in (16, 64, 256):
        found = gamma(thresholds(n, 0.1), rounds=20, final_pairs=4096)
        assert found.value + 5 * found.stderr < threshold_gamma_bound(n, 0.8)
        assert found.gap < 0.07


def by_definition(problem, xi):
    """θ(ξ), all radii tried, all pairs of a ball compared."""
    n, best = problem.n, 0.0
    radii = sorted({*(problem.distances / n).tolist(), xi})
    for r in radii:
        if r >= xi and r > 0:
            ball = problem.sets[problem.distances <= r * n + 1e-9]
            rows = {
                i
                for h, g in combinations(range(len(ball)), 2)
                for i in np.flatnonzero(ball[h] != ball[g]).tolist()
            }
            best = max(best, len(rows) / (n * r))
    return best


@pytest.mark.parametrize("xi", [0.0, 0.15, 0.4, 0.9])
def test_disagreement_coefficient_is_its_definition(xi):
    for problem in (random(9, 14), thresholds(10, 0.1), spread(3)):
        assert disagreement_coefficient(problem, xi) == pytest.approx(by_definition(problem, xi))
    assert not disagreement_region(spread(3), 0.1).any()
    assert disagreement_region(spread(3), 1.0).all()


def test_psi_is_its_definition():
    problem = random(10, 20, noise=0.2)
    found = psi(problem, 0.5)
    apart = problem.apart / np.maximum(problem.gaps, 0.5)[:, None]
    with np.errstate(divide="ignore", invalid="ignore"):
        reached = np.where(problem.apart, apart / found.lam, 0).max()
    assert reached == pytest.approx(found.value)
    for lam in np.random.default_rng(0).dirichlet(np.ones(10), 30):
        assert (apart / lam).max() >= found.value - 1e-9


def test_tsybakov_pairs_hold_and_are_tight():
    for problem in (random(12, 30), thresholds(20, 0.3), rectangles(8)):
        for alpha in (0.2, 0.7, 1.0):
            a = tsybakov_constant(problem, alpha)
            slack = a * (problem.gaps / problem.n) ** alpha - problem.distances / problem.n
            assert slack.min() > -1e-9
            assert a == 1 or np.delete(slack, problem.best).min() < 1e-9
    assert tsybakov_constant(Bandit(np.eye(2), np.zeros(2)), 0.5) == np.inf
    assert tsybakov(Bandit(np.eye(2), np.zeros(2)), 0.1) is None


def shattered(sets):
    best = 0
    for size in range(1, 5):
        for rows in combinations(range(sets.shape[1]), size):
            if len(np.unique(sets[:, rows], axis=0)) == 2**size:
                best = size
                break
    return best


def test_vc_dimension_is_its_definition():
    for problem in (random(8, 12), random(9, 40, seed=1), thresholds(7), rectangles(8), spread(3)):
        assert vc_dimension(problem.sets) == (shattered(problem.sets), True)
    assert vc_dimension(np.zeros((1, 4), bool)) == (0, True)
    assert vc_dimension(thresholds(800).sets) == (1, True)


def instances(count):
    """Random classes and rectangles, thresholds and linear separators, with and without noise."""
    rng = np.random.default_rng(0)
    rows, labels = blobs(60, 3)
    for seed in range(count):
        kind = seed % 4
        if kind == 0:
            yield random(int(rng.integers(5, 25)), int(rng.integers(4, 30)), 0.2 * rng.random(), seed)
        elif kind == 1:
            yield rectangles(int(rng.integers(4, 9)), 0.4 * rng.random(), seed)
        elif kind == 2:
            yield thresholds(int(rng.integers(4, 50)), 0.45 * rng.random())
        else:
            yield separators(rows, labels, 25, noise=0.3 * rng.random(), seed=seed)


def test_disagreement_bounds_are_never_violated():
    checked = 0
    for number, noisy in enumerate(instances(48)):
        problem = noisy if number // 4 % 2 else noisy.realise(np.random.default_rng(number))
        if problem.delta_min == 0:
            continue
        for epsilon in (problem.delta_min / problem.n, 0.1, 0.3):
            if epsilon < problem.delta_min / problem.n:
                continue
            value = rho(problem, epsilon * problem.n).value
            if problem.noiseless:
                assert value <= rho_bound_noiseless(problem, epsilon)
            for alpha in (0.3, 0.6, 1.0):
                pair = Tsybakov(tsybakov_constant(problem, alpha), alpha)
                assert value <= rho_bound_tsybakov(problem, pair, epsilon)
            width = gamma(problem, epsilon * problem.n, pairs=256, rounds=12, final_pairs=2048)
            assert width.value - 5 * width.stderr <= gamma_bound(problem, value)
            checked += 1
    assert checked > 60


def test_edges():
    alone = measure(Bandit(np.ones((1, 3)), np.zeros(3)))
    assert alone.rho.value == alone.gamma.value == alone.psi.value == 0
    assert alone.bounds is None
    tie = measure(Bandit(np.eye(2), np.zeros(2)))
    assert tie.rho.value == np.inf
    assert measure(Bandit(np.eye(2), np.zeros(2)), 0.2).rho.value < np.inf
    with pytest.raises(InvalidInput, match="epsilon"):
        measure(spread(3), -0.1)
    with pytest.raises(InvalidInput, match="epsilon"):
        rho(spread(3), -1)
    with pytest.raises(InvalidInput, match="delta"):
        measure(spread(3), delta=0)


def test_the_same_seed_gives_the_same_measures():
    one, two = measure(random(), seed=3), measure(random(), seed=3)
    assert one.gamma.value == two.gamma.value
    np.testing.assert_array_equal(one.rho.lam, two.rho.lam)
