"""The chaining estimator: each step of its construction, and what it promises."""

from __future__ import annotations

import numpy as np
import pytest

from aced import InvalidInput
from aced.estimators import Chaining, Sample, combine, ips, ridge, scales
from aced.estimators._chaining import WIDTH, admissible_sizes
from aced.estimators._combination import SHARE
from aced.theory import random, spread


def test_the_sequence_is_admissible():
    for count in (2, 4, 5, 16, 17, 300):
        sizes = admissible_sizes(count)
        assert sizes[-1] == count
        assert all(size <= 2 ** (2**k) for k, size in enumerate(sizes, start=1))
    problem = random(10, 30)
    built = Chaining(problem.sets, np.full(10, 0.1), 0.1)
    # farthest-point order: each set is at least as far from those before it as any later one
    order, d = built.order, built.distances
    for place in range(1, len(order)):
        nearest = d[np.ix_(order[place:], order[:place])].min(axis=1)
        assert nearest[0] == pytest.approx(nearest.max())


def test_distances_and_failure_probabilities_add_up():
    problem = random(12, 40)
    lam = np.random.default_rng(0).dirichlet(np.ones(12))
    built = Chaining(problem.sets, lam, 0.05)
    for h, g in ((0, 1), (5, 30)):
        apart = problem.sets[h] != problem.sets[g]
        assert built.distances[h, g] == pytest.approx(np.sqrt((1 / lam[apart]).sum()))
    spent = (2 * np.exp(-2 * np.square(built.reach))).sum()
    assert spent == pytest.approx(0.05) if built.u > 0 else spent <= 0.05


def constraints(built, sample):
    """|(h - h')·z - estimate| ≤ width, written out pair by pair."""
    rows, targets, widths = [], [], []
    for h, g, k in zip(built.first, built.second, built.level, strict=True):
        v = built.sets[h].astype(float) - built.sets[g]
        distance = np.sqrt((np.square(v) / (sample.t * sample.lam)).sum())
        reach = built.u + 2.0 ** (k / 2)
        rows.append(v)
        targets.append(v @ ridge(sample, np.sqrt(2 / 3) * reach / distance))
        widths.append(WIDTH * reach * distance)
    return np.array(rows), np.array(targets), np.array(widths)


def test_the_estimate_lies_in_the_polyhedron():
    problem = random(10, 24, seed=3)
    rng = np.random.default_rng(0)
    lam = rng.dirichlet(np.full(10, 3.0))
    built = Chaining(problem.sets, lam, 0.1)
    for _ in range(5):
        sample = problem.draw(lam, 50, rng)
        found = built.fit(sample)
        rows, targets, widths = constraints(built, sample)
        excess = (np.abs(rows @ found.mu - targets) / widths).max()
        assert found.consistent
        assert excess == pytest.approx(found.excess, abs=1e-3)
        assert np.abs(found.mu).max() <= 1 + 1e-9
        # no point does better: random feasible points exceed by at least as much
        others = rng.uniform(-1, 1, (200, 10))
        least = (np.abs(others @ rows.T - targets) / widths).max(axis=1).min()
        assert found.excess <= least + 1e-3


def test_an_empty_polyhedron_is_reported():
    problem = random(8, 12)
    lam = np.full(8, 1 / 8)
    counts = np.full(8, 50)
    impossible = Sample(lam, counts, np.where(np.arange(8) % 2, 40.0, -40.0) * counts)
    found = Chaining(problem.sets, lam, 0.1).fit(impossible)
    assert not found.consistent
    assert np.abs(found.mu).max() <= 1 + 1e-9


@pytest.mark.parametrize("problem", [random(12, 30, seed=1), spread(4, 0.1)])
def test_deviations_stay_within_the_width(problem):
    """The bound promises 90 of 100 runs; all 100 keep it here, as its constants are generous.

    With so many labels it is a fraction of what any two points of the cube may differ by.
    """
    rng = np.random.default_rng(0)
    lam = np.full(problem.n, 1 / problem.n)
    built = Chaining(problem.sets, lam, 0.1)
    t = 20_000
    first, second = np.triu_indices(len(problem), 1)
    farthest = (problem.sets[first] != problem.sets[second]).sum(axis=1).max()
    assert built.width(t) < 0.4 * farthest
    for _ in range(100):
        off = built.fit(problem.draw(lam, t, rng)).mu - problem.mu
        assert np.ptp(problem.sets @ off) <= built.width(t)
    assert built.draws_for(built.width(t)) in (t, t + 1)


def test_chaining_deviates_less_than_importance_weighting_on_spread():
    """m = 10, 20 labels: one hit on a private row moves its weight by 10, its neighbours' by 0.

    The theorem's bound with constant 1 is sqrt(log(2/δ)) diameter + width.
    """
    problem = spread(10, 0.05)
    m, t, delta = 10, 20, 0.1
    lam = np.append(np.full(m, 1 / (2 * m)), np.full(m * m, 1 / (2 * m * m)))
    built = Chaining(problem.sets, lam, delta)
    rng = np.random.default_rng(0)
    zeta = rng.normal(size=(4000, problem.n))
    breadth = ((zeta / np.sqrt(t * lam)) @ problem.sets.T).max(axis=1).mean()
    bound = np.sqrt(np.log(2 / delta)) * built.distances.max() / np.sqrt(t) + breadth
    chained, weighted = [], []
    for _ in range(60):
        sample = problem.draw(lam, t, rng)
        chained.append(np.ptp(problem.sets @ (built.fit(sample).mu - problem.mu)))
        weighted.append(np.ptp(problem.sets @ (ips(sample) - problem.mu)))
    assert np.quantile(chained, 1 - delta) < bound < np.quantile(weighted, 1 - delta)


def test_the_combination_keeps_every_scale():
    problem = random(14, 40, seed=2)
    rng = np.random.default_rng(0)
    lam = np.full(14, 1 / 14)
    first = problem.draw(lam, 200, rng)
    mu = ips(first)
    best = int((problem.sets @ mu).argmax())
    members = scales(problem.sets, mu, best, 4)
    gaps = (problem.sets[best].astype(float) - problem.sets) @ mu
    for level, inside in enumerate(members):
        np.testing.assert_array_equal(inside, np.flatnonzero(gaps <= 2.0 ** (1 - level) * 14))
    sample = problem.draw(lam, 400, rng)
    found = combine(problem.sets, members, sample, 0.1)
    for level, inside in enumerate(members):
        if len(inside) > 1:
            part = Chaining(problem.sets[inside], sample.lam, 0.1).fit(sample).mu
            span = np.ptp(problem.sets[inside] @ (part - found.mu))
            assert span <= 2.0**-level * 14 * SHARE * max(found.excess, 1e-9) + 1e-3
    assert np.abs(found.mu).max() <= 1 + 1e-9


@pytest.mark.parametrize(
    ("sets", "lam", "delta", "words"),
    [
        ([[0, 1]], [0.5, 0.5], 0.1, "at least two"),
        ([[0, 1], [0, 1]], [0.5, 0.5], 0.1, "differ"),
        ([[0, 1], [1, 1]], [0.0, 1.0], 0.1, "lam must be positive"),
        ([[0, 1], [1, 1]], [0.5, 0.5], 1.5, "delta"),
    ],
)
def test_bad_input_is_named(sets, lam, delta, words):
    with pytest.raises(InvalidInput, match=words):
        Chaining(np.array(sets, bool), np.array(lam), delta)
