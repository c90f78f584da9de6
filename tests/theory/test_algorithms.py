"""The algorithms: what they return, what they promise, what they refuse."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom

from aced import InvalidInput
from aced._workers import Workers
from aced.estimators import Sample
from aced.oracles import LinearOracle
from aced.pool import Pool
from aced.theory import Bandit, random, rectangles, spread, thresholds
from aced.theory._race import ALGORITHMS, heat
from aced.theory.algorithms import (
    a2,
    a2_planner,
    cal,
    chaining_planner,
    designed,
    efficient,
    efficient_fixed_budget,
    fixed_budget,
    fixed_confidence,
    rage,
    rage_planner,
    uniform_design,
    waterfilling,
)
from tests.helpers import blobs

DELTA = 0.2
NOISY = [random(10, 16, 0.15, seed=5), thresholds(12, 0.15), spread(3, 0.2)]


@pytest.mark.parametrize("problem", NOISY)
def test_fixed_confidence_fails_at_most_as_often_as_it_may(problem):
    """40 runs, δ = 0.2: more than 18 failures would have probability 1e-4 if δ were reached."""
    rng, planner = np.random.default_rng(0), chaining_planner()
    found = [fixed_confidence(problem, DELTA, rng, planner=planner) for _ in range(40)]
    failures = sum(problem.gaps[result.chosen] > 0 for result in found)
    assert failures <= binom.ppf(1 - 1e-4, 40, DELTA)
    assert all(result.finished for result in found)
    assert all(result.distinct <= min(result.labels, problem.n) for result in found)


@pytest.mark.parametrize(("method", "planner"), [(rage, rage_planner), (a2, a2_planner)])
def test_union_bound_methods_fail_at_most_as_often_as_they_may(method, planner):
    rng = np.random.default_rng(0)
    for problem in NOISY:
        plan = planner()
        found = [method(problem, DELTA, rng, planner=plan) for _ in range(80)]
        failures = sum(problem.gaps[result.chosen] > 0 for result in found)
        assert failures <= binom.ppf(1 - 1e-4, 80, DELTA)


def test_the_certified_constant_asks_for_more():
    problem, rng = NOISY[0], np.random.default_rng(0)
    usual = fixed_confidence(problem, DELTA, rng)
    certified = fixed_confidence(problem, DELTA, rng, constant=None)
    assert certified.labels > usual.labels
    assert problem.gaps[certified.chosen] == 0


def test_epsilon_and_cap_end_a_run_early():
    problem, rng = thresholds(32, 0.2), np.random.default_rng(0)
    planner = chaining_planner()
    full = fixed_confidence(problem, 0.1, rng, planner=planner)
    loose = fixed_confidence(problem, 0.1, rng, planner=planner, epsilon=8.0)
    assert loose.labels < full.labels / 3
    assert loose.finished
    assert problem.gaps[loose.chosen] <= 8
    capped = fixed_confidence(problem, 0.1, rng, planner=planner, cap=50)
    assert capped.labels == 50
    assert not capped.finished


def test_labels_grow_as_delta_falls():
    problem = NOISY[0]
    labels = [fixed_confidence(problem, d, np.random.default_rng(1)).labels for d in (0.3, 0.01, 1e-5)]
    assert labels[0] < labels[1] < labels[2]


def test_uniform_sampling_pays_for_the_disagreement_region():
    """A² against ACED on spread: the ratio of labels grows with m."""
    ratios = []
    for m in (4, 8, 16):
        problem, rng = spread(m), np.random.default_rng(0)
        aced = fixed_confidence(problem, 0.1, rng).labels
        uniform = a2(problem, 0.1, rng).labels
        ratios.append(uniform / aced)
    assert ratios[0] < ratios[1] < ratios[2]
    assert ratios[2] > 1.7 * ratios[0]


def test_cal_finds_the_best_when_labels_are_certain():
    rng = np.random.default_rng(0)
    for problem in (spread(4), thresholds(20), rectangles(7, 0.0)):
        result = cal(problem, rng)
        assert result.chosen == problem.best
        assert result.labels == result.distinct  # every label is new: its row left the region
    wide = spread(10)
    plain = np.mean([cal(wide, rng).labels for _ in range(40)])
    where = np.mean([cal(wide, rng, design=designed).labels for _ in range(40)])
    assert plain > 2 * where  # 11 and 2 expected; alarm rate below 1e-6
    assert cal(thresholds(64), rng, epsilon=20).labels <= cal(thresholds(64), rng).labels
    assert not cal(thresholds(64), rng, cap=1).finished


def mean_failures(run, problem, trials=60):
    rng = np.random.default_rng(0)
    return np.mean([problem.gaps[run(rng).chosen] > 0 for _ in range(trials)])


@pytest.mark.parametrize("estimator", ["chaining", "ridge", "ips", "naive"])
def test_fixed_budget_fails_less_with_more_labels(estimator):
    problem = NOISY[0]
    few, many = (
        mean_failures(
            lambda rng, t=t: fixed_budget(problem, t, problem.delta_min, rng, estimator=estimator),
            problem,
        )
        for t in (10, 160)
    )
    assert many < 0.12
    assert many < few


def test_the_efficient_variant_pays_for_the_rarest_draw():
    """spread with noise: importance weighting fails where the chaining estimator does not."""
    problem = spread(8, 0.1)
    budget = 48

    def weighted(rng):
        return efficient(problem, budget, problem.delta_min, rng)

    def chained(rng):
        return fixed_budget(problem, budget, problem.delta_min, rng)

    assert mean_failures(weighted, problem, 40) > mean_failures(chained, problem, 40) + 0.1


def test_the_efficient_variant_on_linear_separators():
    """Through the oracle alone: better than chance on a pool it sees 300 labels of."""
    rows, labels = blobs(300, 4, flip=0.05)
    signed = 2.0 * labels - 1
    oracle = LinearOracle(Pool(rows), workers=Workers(1))

    def source(lam, t, rng):
        positions = rng.choice(len(lam), t, p=lam / lam.sum())
        return Sample.of(lam, positions, signed[positions])

    found = efficient_fixed_budget(oracle, source, 600, 40.0, np.random.default_rng(0))
    assert (found.labels == labels).mean() > 0.8
    assert found.drawn.sum() == 600


def test_waterfilling_on_a_finite_class():
    problem, rng = thresholds(40), np.random.default_rng(0)
    found = [waterfilling(problem, 16, rng) for _ in range(5)]
    assert np.mean([problem.gaps[result.chosen] for result in found]) < 3
    assert all(result.distinct == 16 for result in found)


def test_uniform_design_is_uniform_on_the_region():
    problem = spread(3)
    found = uniform_design(problem.sets, np.zeros(12), 0, 12.0, np.random.default_rng(0))
    np.testing.assert_allclose(found.lam, 1 / 12)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda p, r: fixed_confidence(p, 0.0, r), "delta"),
        (lambda p, r: fixed_confidence(p, 0.1, r, epsilon=-1), "epsilon"),
        (lambda p, r: fixed_confidence(p, 0.1, r, cap=0), "cap"),
        (lambda p, r: fixed_budget(p, 1, 0.5, r), "budget is 1"),
        (lambda p, r: fixed_budget(p, 100, 0.0, r), "epsilon"),
        (lambda p, r: fixed_budget(p, 100, 1.0, r, estimator="oracle"), "estimator"),
        (lambda p, r: efficient(p, 1, 0.5, r), "budget is 1"),
        (lambda p, r: waterfilling(p, 99, r), "budget must lie"),
        (lambda p, r: waterfilling(p, 9, r, batch=-1), "batch must be"),
        (lambda p, r: fixed_confidence(p, 0.1, r, constant=0.0), "constant must be"),
        (lambda p, r: rage(p, 0.1, r, constant=-1.0), "constant must be"),
        (lambda p, r: heat(p, 1, delta=0.1, trials=1, seed=-1), "seed"),
        (lambda p, r: heat(p, 1, delta=0.1, trials=0), "trials"),
        (lambda p, r: heat(p, 1, delta=0.1, trials=1, algorithms=("best",)), "algorithm must be"),
    ],
)
def test_bad_input_is_named(call, words):
    with pytest.raises(InvalidInput, match=words):
        call(thresholds(16), np.random.default_rng(0))


def test_a_single_hypothesis_needs_no_label():
    alone, rng = Bandit(np.ones((1, 4)), np.zeros(4)), np.random.default_rng(0)
    for result in (
        fixed_confidence(alone, 0.1, rng),
        cal(alone, rng),
        fixed_budget(alone, 10, 1.0, rng),
        efficient(alone, 10, 1.0, rng),
        waterfilling(alone, 2, rng),
    ):
        assert (result.chosen, result.labels) == (0, 0)
    assert all(entry.labels == 0 for entry in heat(alone, 1, delta=0.1, trials=1, epsilon=0.1).entries)


def test_a_tie_ends_without_a_guarantee():
    tie, rng = Bandit(np.eye(2), np.zeros(2)), np.random.default_rng(0)
    assert not fixed_confidence(tie, 0.1, rng).finished
    assert not a2(tie, 0.1, rng).finished


def test_a_race_is_reproducible_and_complete():
    def run():
        return heat(spread(3, 0.05), 3, delta=0.2, trials=2, seed=1)

    one, two = run(), run()
    assert [entry.algorithm for entry in one.entries] == list(ALGORITHMS)
    for a, b in zip(one.entries, two.entries, strict=True):
        assert (a.labels, a.failures, a.predicted) == (b.labels, b.failures, b.predicted)
    budgeted = [entry for entry in one.entries if entry.algorithm == "fixed-budget"]
    assert budgeted[0].failures <= 0.2 * 2
