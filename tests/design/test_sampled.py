"""Designs found on a sample, against the design of the whole pool."""

from dataclasses import replace

import numpy as np
import pytest

from aced import InvalidInput, Learner
from aced.design import (
    Dinkelbach,
    FixedPoint,
    Problem,
    Sampled,
    _sampled as sampled,
    automatic_rows,
    evaluate,
    initial_incumbent,
)
from aced.estimators import naive
from aced.oracles import FiniteOracle, LinearOracle
from aced.pool import Pool
from aced.strategies import Aced


def _problem(n=30000, p=10, labelled=2000, k=12):
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((n, p)).astype(np.float32)
    noisy = rows @ rng.standard_normal(p) + 2 * rng.standard_normal(n)
    known = rng.choice(n, labelled, replace=False)
    mu = naive(n, known, (noisy[known] > 0).astype(np.int64))
    oracle = LinearOracle(Pool(rows))
    return Problem(oracle, mu, n * 2.0 ** (1 - k), initial_incumbent(oracle, mu))


def test_systematic_draws_have_their_inclusion_probabilities():
    """500 draws: each of 60 frequencies within 4.5 deviations, false alarms below 1 in 2000."""
    wanted = np.random.default_rng(1).random(60)
    wanted[:3] = 1.0
    counts = np.zeros(60)
    for seed in range(500):
        positions = sampled.systematic(wanted, np.random.default_rng(seed))
        assert len(np.unique(positions)) == len(positions)
        assert abs(len(positions) - wanted.sum()) <= 1
        counts[positions] += 1
    assert (counts[:3] == 500).all()
    deviation = np.sqrt(np.maximum(500 * wanted * (1 - wanted), 1e-9))
    assert (np.abs(counts - 500 * wanted) <= 4.5 * deviation + 1e-9).all()


def test_the_denominator_of_a_sample_is_that_of_the_pool_on_average():
    """μ̂ on all rows: Σ μ̂ over a half-space, the mean over 100 samples, within 4.5 deviations."""
    problem = _problem(n=4000, labelled=100)
    rng = np.random.default_rng(3)
    mu = np.where(problem.known, problem.mu, rng.uniform(-1, 1, 4000)).astype(np.float32)
    dense = replace(problem, mu=mu, labelled=problem.known)
    side = problem.oracle.pool.rows()[:, 0] > 0.3
    lam = rng.dirichlet(np.full(4000, 3.0))
    found = []
    for seed in range(100):
        sub = sampled.sample(dense, 800, np.random.default_rng(seed), lam)
        found.append(sub.problem.mu[side[sub.positions]].sum(dtype=float))
        assert sub.problem.known.sum() == 100
        assert (sub.copies[sub.problem.known] == 1).all()
    error = np.mean(found) - mu[side].sum(dtype=float)
    assert abs(error) < 4.5 * np.std(found, ddof=1) / 10


def test_the_noise_of_a_sample_has_the_variance_of_the_pools():
    """Σ s² over the rows where two hypotheses differ: the mean over 60 samples, within 5 deviations."""
    problem = _problem(n=4000, labelled=100)
    lam = np.random.default_rng(2).dirichlet(np.full(4000, 3.0))
    differ = problem.oracle.pool.rows()[:, 0] > 0.3
    truth = (1 / lam[differ]).sum()
    found = []
    for seed in range(60):
        sub = sampled.sample(problem, 800, np.random.default_rng(seed), lam)
        cut = sub.cut(lam)
        total = (sub.copies * lam[sub.positions]).sum()  # about 1
        scale = sub.problem.scale(cut * total).astype(float)
        np.testing.assert_allclose(sub.problem.mu[sub.problem.mu != 0], problem.mu[problem.mu != 0])
        found.append(np.square(scale)[differ[sub.positions]].sum())
    assert abs(np.mean(found) - truth) < 5 * np.std(found) / np.sqrt(60)


def test_a_sampled_design_is_nearly_as_good_and_says_what_it_lost():
    problem = _problem()
    whole = FixedPoint().solve(problem, np.random.default_rng(1))
    part = Sampled(rows=6000).solve(problem, np.random.default_rng(2))
    assert part.rows == pytest.approx(8000, abs=200)  # with those labelled
    np.testing.assert_allclose(part.lam.sum(), 1)
    best = max(problem.incumbent, whole.incumbent, part.incumbent, key=lambda i: i.agreement)
    shared = replace(problem, incumbent=best)

    def value(lam):
        return evaluate(shared, lam, 128, np.random.default_rng(3), Dinkelbach())[0]

    uniform, exact, found = (value(lam) for lam in (problem.uniform(), whole.lam, part.lam))
    assert exact < 0.85 * uniform
    assert found < 1.12 * exact
    assert 0 <= part.loss < 0.2


def test_a_sample_of_everything_is_the_whole_pool():
    problem = _problem(n=3000, labelled=200)
    whole = FixedPoint().solve(problem, np.random.default_rng(1))
    part = Sampled(rows=2900).solve(problem, np.random.default_rng(1))
    np.testing.assert_array_equal(part.lam, whole.lam)
    assert part.rows is None


def test_time_decides_how_many_rows():
    problem = _problem(n=30000, labelled=200)
    hasty = Sampled(seconds=1e-3).solve(problem, np.random.default_rng(1))
    assert hasty.rows is not None
    assert hasty.rows < 5000
    assert Sampled(seconds=1e6).solve(problem, np.random.default_rng(1)).rows is None


def test_very_large_pools_use_a_sample_and_say_so(monkeypatch):
    assert automatic_rows(2**22, 100) is None
    assert automatic_rows(2**22 + 1, 100) == 2**20
    assert automatic_rows(2**24, 4096) == 2**15
    monkeypatch.setattr(sampled, "AUTOMATIC_ABOVE", 20000)
    monkeypatch.setattr(sampled, "AUTOMATIC_BYTES", 4 * 6 * 5000)
    rows = np.random.default_rng(0).standard_normal((30000, 6))
    said = []
    how = {"strategy": "aced", "representation": "linear"}
    learner = Learner(Pool(rows), batch_size=50, report=said.append, **how)
    for _ in range(2):
        queries = learner.ask()
        learner.tell(queries.ids, rows[queries.ids, 0] > 0)
    assert learner.history[1]["design_rows"] == pytest.approx(5050, abs=100)
    assert 0 <= learner.history[1]["design_loss"] < 1
    assert "designing on a sample of 5000 of 30000 rows" in said


def test_saved_and_loaded_a_sampled_learner_goes_on(tmp_path):
    rows = np.random.default_rng(0).standard_normal((12000, 5))
    pool = Pool(rows)
    one = Learner(pool, strategy=Aced(design_rows=3000), batch_size=50, seed=4)
    queries = one.ask()
    one.tell(queries.ids, rows[queries.ids, 0] > 0)
    one.save(tmp_path / "half.npz")
    two = Learner.load(tmp_path / "half.npz", pool)
    np.testing.assert_array_equal(one.ask().ids, two.ask().ids)
    assert two.history[-1]["design_rows"] < 4000


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"design_rows": 0}, "design_rows must be at least 1"),
        ({"round_seconds": 0.0}, "round_seconds must be positive"),
        ({"design_rows": 10, "round_seconds": 1.0}, "pass one of them"),
        ({"design_rows": 10, "solver": "mirror"}, "fixed-point"),
        ({"round_seconds": 1.0, "oracle": "sklearn"}, "linear"),
    ],
)
def test_what_makes_no_sense_is_refused(options, said):
    with pytest.raises(InvalidInput, match=said):
        Aced(**options)


def test_other_classes_are_refused():
    pool = Pool(np.eye(4))
    oracle = FiniteOracle(pool, np.eye(4))
    mu = np.zeros(4, np.float32)
    problem = Problem(oracle, mu, 4.0, initial_incumbent(oracle, mu))
    with pytest.raises(InvalidInput, match="linear"):
        Sampled(rows=1).solve(problem, np.random.default_rng(0))
