"""The algorithms with K classes of labels: what they return, and what refuses a third class."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom

from aced import InvalidInput
from aced.design import FixedPoint, Problem, initial_incumbent
from aced.theory import ALGORITHMS, Bandit, check_algorithms, heat, random, thresholds
from aced.theory.algorithms import (
    a2,
    a2_planner,
    cal,
    designed,
    efficient,
    explicit_design,
    fixed_budget,
    fixed_confidence,
    rage,
    rage_planner,
    uniform_design,
    waterfilling,
)
from aced.theory.algorithms._efficient import finite_oracle

DELTA = 0.2
NOISY = [
    random(10, 16, 0.15, seed=5, classes=3),
    thresholds(8, 0.15, classes=3),
    random(9, 30, classes=5),
]


def close(classes=3, n=12, hypotheses=40, seed=0):
    """Labelings that differ from the best in a few rows only, so that it takes labels to tell them."""
    rng = np.random.default_rng(seed)
    best = rng.integers(0, classes, n)
    table = np.tile(best, (hypotheses, 1))
    for row in table[1:]:
        where = rng.choice(n, int(rng.integers(1, 5)), replace=False)
        row[where] = (row[where] + rng.integers(1, classes, len(where))) % classes
    table = np.unique(table, axis=0)
    eta = np.full((n, classes), 0.25 / (classes - 1))
    eta[np.arange(n), best] = 0.75
    return Bandit.from_classification(table, eta)


@pytest.mark.parametrize(("method", "planner"), [(rage, rage_planner), (a2, a2_planner)])
def test_union_bound_methods_fail_at_most_as_often_as_they_may(method, planner):
    """60 runs each, δ = 0.2: false-alarm rate 1e-4 if δ were reached."""
    rng = np.random.default_rng(0)
    for problem in NOISY:
        plan = planner()
        found = [method(problem, DELTA, rng, planner=plan) for _ in range(60)]
        failures = sum(problem.gaps[result.chosen] > 0 for result in found)
        assert failures <= binom.ppf(1 - 1e-4, 60, DELTA)
        assert all(result.finished for result in found)


@pytest.mark.parametrize("design", [None, designed])
def test_cal_finds_the_best_when_labels_are_certain(design):
    rng = np.random.default_rng(0)
    options = {} if design is None else {"design": design}
    for problem in (thresholds(9, classes=3), thresholds(5, classes=5), random(12, 60, 0.0, classes=30)):
        result = cal(problem, rng, **options)
        assert result.chosen == problem.best
        assert result.labels == result.distinct
        assert result.finished


def test_cal_ends_when_a_label_contradicts_all_that_are_left():
    """Labelings 0 and 1 of a row whose label is 2."""
    problem = Bandit.from_classification([[0], [1]], [[0.0, 0.0, 1.0]])
    result = cal(problem, np.random.default_rng(0))
    assert (result.labels, result.finished) == (1, False)


def mean_failures(problem, budget, estimator, trials=40):
    found = [
        fixed_budget(problem, budget, 0.5, np.random.default_rng(trial), estimator=estimator)
        for trial in range(trials)
    ]
    assert all(result.labels <= budget for result in found)
    return np.mean([problem.gaps[result.chosen] > 0 for result in found])


@pytest.mark.parametrize("classes", [3, 4])
@pytest.mark.parametrize("estimator", ["ridge", "ips", "naive"])
def test_fixed_budget_fails_less_with_more_labels(classes, estimator):
    """With 800 labels 0 to 1.5 % of 200 other runs failed: an alarm would have probability 4e-4."""
    problem = close(classes)
    few, many = (mean_failures(problem, budget, estimator) for budget in (20, 800))
    assert many < 0.12
    assert few > many + 0.2


def test_fixed_budget_uses_ridge_for_more_than_two_classes():
    problem = close(3)
    plain, ridge = (
        [
            fixed_budget(problem, 60, 0.5, np.random.default_rng(seed), estimator=name).chosen
            for seed in range(5)
        ]
        for name in (None, "ridge")
    )
    assert plain == ridge


def objective(problem, mu, best, shift, lam, zeta):
    """E max(0, max_h N(h) / D(h)), from noise of every row and class, hypothesis by hypothesis."""
    rows = np.arange(problem.n)
    full = np.hstack([np.zeros((problem.n, 1)), mu])
    value = np.array([full[rows, h].sum() for h in problem.sets])
    kept = zeta[:, rows, problem.sets[best]]
    largest = np.zeros(len(zeta))
    for number, h in enumerate(problem.sets):
        numerator = (kept - zeta[:, rows, h]) @ (1 / np.sqrt(np.maximum(lam, 1e-12)))
        largest = np.maximum(largest, numerator / (shift + value[best] - value[number]))
    return largest


@pytest.mark.parametrize(("classes", "hypotheses"), [(3, 40), (3, 2000), (4, 2000)])
@pytest.mark.parametrize("designer", [explicit_design, uniform_design])
def test_the_value_of_a_design_is_its_definition(classes, hypotheses, designer):
    """256 pairs of draws against 6000: within 4.5 standard errors, alarm rate 1e-5."""
    problem = close(classes, hypotheses=hypotheses)
    rng = np.random.default_rng(1)
    mu = 0.5 * problem.mu
    found = designer(problem.sets, mu, problem.best, 3.0, rng)
    zeta = rng.normal(size=(6000, problem.n, classes)) * np.sqrt(0.5)
    direct = objective(problem, mu, problem.best, 3.0, found.lam, zeta)
    error = np.hypot(found.stderr, direct.std() / np.sqrt(len(direct)))
    assert abs(found.value - direct.mean()) < 4.5 * error
    assert found.lam.sum() == pytest.approx(1)


@pytest.mark.parametrize("classes", [3, 4])
def test_the_design_beats_uniform_draws_and_random_designs(classes):
    problem = close(classes)
    rng = np.random.default_rng(2)
    mu = problem.mu
    found = explicit_design(problem.sets, mu, problem.best, 1.0, rng)
    zeta = rng.normal(size=(8000, problem.n, classes)) * np.sqrt(0.5)

    def value(lam):
        return objective(problem, mu, problem.best, 1.0, lam, zeta).mean()

    here = value(found.lam)
    assert here < value(np.full(problem.n, 1 / problem.n)) * 1.01
    assert all(here < value(lam) for lam in rng.dirichlet(np.full(problem.n, 3.0), 10))
    # moves of a tenth of a row's mass do not help, up to the noise of 256 pairs
    for i in range(problem.n):
        moved = found.lam.copy()
        moved[i] *= 1.1
        assert value(moved / moved.sum()) > here * 0.995


@pytest.mark.parametrize(("classes", "hypotheses"), [(2, 40), (3, 40), (4, 2000)])
def test_the_engine_finds_the_design_of_the_explicit_solver(classes, hypotheses):
    """Through the oracle and its line search the design is as good, within 2 % on 4000 draws."""
    problem, rng = close(classes, hypotheses=hypotheses), np.random.default_rng(3)
    mu, shift, oracle = 0.5 * problem.mu, 3.0, finite_oracle(problem)
    incumbent = initial_incumbent(oracle, mu.astype(np.float32))
    np.testing.assert_array_equal(incumbent.labels, problem.sets[problem.best])
    state = Problem(oracle, mu.astype(np.float32), shift, incumbent)
    found = FixedPoint(draws=512, rounds=30, tolerance=0.001).solve(state, rng).lam
    explicit = explicit_design(problem.sets, mu, problem.best, shift, rng).lam
    zeta = rng.normal(size=(4000, problem.n, classes)) * np.sqrt(0.5)
    columns = mu.reshape(problem.n, -1)
    values = [
        objective(problem, columns, problem.best, shift, lam, zeta).mean() for lam in (found, explicit)
    ]
    assert values[0] == pytest.approx(values[1], rel=0.02)


@pytest.mark.parametrize("classes", [3, 4])
def test_the_efficient_variant_fails_less_with_more_labels(classes):
    problem = close(classes)
    few, many = (
        np.mean(
            [
                problem.gaps[efficient(problem, budget, 0.5, np.random.default_rng(seed)).chosen] > 0
                for seed in range(30)
            ]
        )
        for budget in (20, 600)
    )
    assert many < 0.25
    assert few > many + 0.3


@pytest.mark.parametrize("classes", [3, 4])
def test_waterfilling_finds_the_intervals(classes):
    """Where labels are certain: 12 labels of 14 rows suffice, 2 do not."""
    problem = thresholds(14, classes=classes)
    few, many = (
        [waterfilling(problem, budget, np.random.default_rng(seed)) for seed in range(4)]
        for budget in (2, 12)
    )
    assert np.mean([problem.gaps[result.chosen] for result in many]) < 1
    assert np.mean([problem.gaps[result.chosen] for result in few]) > 2
    assert all(result.distinct == 12 for result in many)


def test_a_race_of_k_classes_leaves_out_what_is_proved_for_two():
    found = heat(thresholds(5, 0.1, classes=3), 5, delta=0.2, trials=2)
    names = [entry.algorithm for entry in found.entries]
    assert names == [name for name in ALGORITHMS if name != "aced"]
    predicted = dict(zip(names, (entry.predicted for entry in found.entries), strict=True))
    assert predicted["rage"] == pytest.approx(found.measures.bounds.union)
    assert predicted["efficient"] == pytest.approx(found.measures.bounds.efficient)
    assert predicted["cal"] is predicted["fixed-budget"] is None
    with pytest.raises(InvalidInput, match="aced, which is proved for two classes, not 3"):
        check_algorithms(("rage", "aced"), 3)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (
            lambda p, r: fixed_confidence(p, 0.1, r),
            "3 classes, but fixed-confidence ACED is proved for two",
        ),
        (lambda p, r: fixed_budget(p, 99, 1.0, r, estimator="chaining"), "chaining is proved for two"),
        (lambda p, r: heat(p, 1, delta=0.1, trials=1, algorithms=("aced",)), "proved for two classes"),
    ],
)
def test_what_is_proved_for_two_classes_refuses_more(call, words):
    with pytest.raises(InvalidInput, match=words):
        call(NOISY[0], np.random.default_rng(0))


def test_a_single_labelling_needs_no_label():
    alone, rng = Bandit([[0, 2, 1]], np.zeros((3, 2))), np.random.default_rng(0)
    for result in (
        cal(alone, rng),
        fixed_budget(alone, 10, 1.0, rng),
        rage(alone, 0.1, rng),
        efficient(alone, 10, 1.0, rng),
        waterfilling(alone, 2, rng),
    ):
        assert (result.chosen, result.labels) == (0, 0)
