"""Finite classes with K classes of labels: measures against brute force, and two classes as before."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from scipy.optimize import minimize

from aced import InvalidInput
from aced.theory import Bandit, measure, random, separators, thresholds
from aced.theory.complexity import (
    Tsybakov,
    disagreement_coefficient,
    gamma,
    gamma_bound,
    psi,
    rho,
    rho_bound_noiseless,
    rho_bound_tsybakov,
    tsybakov_constant,
    vc_dimension,
)
from tests.design.test_explicit import epigraph_solver


def problem_of(classes, n, hypotheses, seed=0, concentration=0.5):
    """Random labelings, and random probabilities of the classes of each row."""
    rng = np.random.default_rng([classes, seed])
    table = np.unique(rng.integers(0, classes, (2 * hypotheses, n)), axis=0)
    table = table[rng.permutation(len(table))[:hypotheses]]
    return Bandit.from_classification(table, rng.dirichlet(np.full(classes, concentration), n))


@pytest.mark.parametrize("classes", [2, 3, 4, 5, 30])
def test_the_reduction_keeps_errors(classes):
    rng = np.random.default_rng(classes)
    table = np.unique(rng.integers(0, classes, (20, 9)), axis=0)
    eta = rng.dirichlet(np.ones(classes), 9)
    problem = Bandit.from_classification(table, eta)
    errors = (1 - eta[np.arange(9), table]).mean(axis=1)
    np.testing.assert_allclose(problem.errors, errors)
    np.testing.assert_allclose(problem.gaps / 9, errors - errors.min(), atol=1e-9)
    np.testing.assert_allclose(problem.probabilities, eta, atol=1e-12)
    assert problem.best == errors.argmin()
    assert problem.classes == classes
    assert problem.distances[0] == (table[0] != table[problem.best]).sum()


@pytest.mark.parametrize("classes", [3, 30])
def test_draws_have_the_probabilities(classes):
    """Each row and class within 5.5 standard errors; 6 x 29 of them: alarm rate 1e-5."""
    rng = np.random.default_rng(0)
    eta = rng.dirichlet(np.full(classes, 0.5), 6)
    problem = Bandit.from_classification(rng.integers(0, classes, (3, 6)), eta)
    sample = problem.draw(np.full(6, 1 / 6), 60_000, rng)
    mean = eta[:, 1:] - eta[:, :1]
    error = np.sqrt((eta[:, 1:] + eta[:, :1] - mean**2) / sample.counts[:, None])
    assert (np.abs(sample.sums / sample.counts[:, None] - mean) < 5.5 * error + 1e-12).all()
    world = problem.realise(rng)
    assert world.noiseless
    assert set(np.unique(world.probabilities)) == {0.0, 1.0}
    again = world.draw(np.full(6, 1 / 6), 500, rng)
    np.testing.assert_allclose(again.sums, again.counts[:, None] * world.mu)


def test_two_classes_written_either_way_are_one_problem():
    rng = np.random.default_rng(0)
    table, eta = np.unique(rng.random((12, 8)) < 0.5, axis=0), rng.random(8)
    one = Bandit.from_classification(table, eta)
    two = Bandit.from_classification(table.astype(int), np.stack([1 - eta, eta], axis=1))
    np.testing.assert_allclose(one.mu, two.mu)
    assert one.mu.shape == two.mu.shape == (8,)
    assert Bandit(table, one.mu[:, None]).mu.shape == (8,)


@pytest.mark.parametrize("classes", [3, 4])
@pytest.mark.parametrize("epsilon", [0.0, 0.8])
def test_rho_agrees_with_a_general_solver(classes, epsilon):
    problem = problem_of(classes, 6, 25)
    costs = []
    for h in range(len(problem)):
        if h != problem.best:
            apart = problem.sets[h] != problem.sets[problem.best]
            costs.append(apart / max(problem.gaps[h], epsilon) ** 2)
    found = rho(problem, epsilon)
    costs = np.array(costs)
    starts = [np.random.default_rng(k).dirichlet(np.full(costs.shape[1], 5.0)) for k in range(3)]
    expected = min(epigraph_solver(costs, start) for start in starts)
    assert found.value == pytest.approx(expected, rel=1e-4)
    assert found.gap < 1e-6


@pytest.mark.parametrize("classes", [3, 4])
def test_rho_of_2000_labelings_lies_between_its_definition_and_its_dual(classes):
    """From above, the costliest rival at the design; from below, (Σ sqrt(q·costs))² for weights q that
    multiplicative steps find, without the solver."""
    problem = problem_of(classes, 20, 2000)
    apart = np.array([h != problem.sets[problem.best] for h in np.delete(problem.sets, problem.best, 0)])
    costs = apart / np.square(np.delete(problem.gaps, problem.best))[:, None]
    found = rho(problem)
    assert (costs @ (1 / found.lam)).max() == pytest.approx(found.value, rel=1e-6)
    q = np.full(len(costs), 1 / len(costs))
    lower = 0.0
    for _ in range(3000):
        root = np.sqrt(q @ costs)
        lower = max(lower, root.sum() ** 2)
        q *= np.sqrt(costs @ (1 / root) * root.sum() / root.sum() ** 2)
        q /= q.sum()
    assert 0.99 * found.value <= lower <= found.value * (1 + 1e-6)


@pytest.mark.parametrize("classes", [3, 4, 30])
def test_psi_is_its_definition(classes):
    problem = problem_of(classes, 10, 200)
    found = psi(problem, 0.5)
    cost = np.zeros(10)
    for h in range(len(problem)):
        for i in np.flatnonzero(problem.sets[h] != problem.sets[problem.best]):
            cost[i] = max(cost[i], 1 / max(problem.gaps[h], 0.5))
    assert found.value == pytest.approx(cost.sum())
    for lam in np.random.default_rng(0).dirichlet(np.ones(10), 30):
        assert (cost / lam).max() >= found.value - 1e-9


@pytest.mark.parametrize("classes", [3, 4, 30])
@pytest.mark.parametrize("xi", [0.0, 0.4, 0.9])
def test_the_disagreement_coefficient_is_its_definition(classes, xi):
    problem = problem_of(classes, 8, 20)
    best = 0.0
    for r in {*(problem.distances / 8).tolist(), xi}:
        if r >= xi and r > 0:
            ball = problem.sets[problem.distances <= 8 * r + 1e-9]
            rows = {i for h, g in combinations(ball, 2) for i in np.flatnonzero(h != g).tolist()}
            best = max(best, len(rows) / (8 * r))
    assert disagreement_coefficient(problem, xi) == pytest.approx(best)


def ratios(problem, zeta, lam, epsilon=0.0):
    """max over the rivals of Σ_i (ζ_{i,h*(i)} - ζ_{i,h(i)}) / sqrt(λ_i) / max(Δ_h, ε), of every draw."""
    rows, weight = np.arange(problem.n), 1 / np.sqrt(np.maximum(lam, 1e-12))
    kept = zeta[:, rows, problem.sets[problem.best]]
    largest = np.full(len(zeta), -np.inf)
    for number, h in enumerate(problem.sets):
        if number != problem.best:
            ratio = (kept - zeta[:, rows, h]) @ weight / max(problem.gaps[number], epsilon)
            largest = np.maximum(largest, ratio)
    return largest


@pytest.mark.parametrize(("classes", "hypotheses"), [(2, 500), (3, 2000), (4, 2000)])
def test_gamma_is_that_of_one_hot_noise(classes, hypotheses):
    """At the design found, plain draws of ζ_ic ~ N(0, ½) give the value: 4.5 standard errors, alarm rate
    1e-5."""
    problem = problem_of(classes, 15, hypotheses)
    found = gamma(problem, 0.5)
    zeta = np.random.default_rng(1).normal(size=(6000, 15, classes)) * np.sqrt(0.5)
    direct = ratios(problem, zeta, found.lam, 0.5)
    error = 2 * direct.mean() * direct.std() / np.sqrt(len(direct))
    assert abs(found.value - direct.mean() ** 2) < 4.5 * np.hypot(found.stderr, error)
    assert found.gap < 0.05


@pytest.mark.parametrize("classes", [3, 4])
def test_no_design_has_a_smaller_gamma(classes):
    """A general solver on 3000 draws of its own does not beat the design on those draws by 1 %."""
    problem = problem_of(classes, 5, 12)
    half = np.random.default_rng(2).normal(size=(1500, 5, classes)) * np.sqrt(0.5)
    zeta = np.concatenate([half, -half])

    def value(lam):
        return ratios(problem, zeta, lam).mean()

    best = np.inf
    for seed in range(2):
        start = np.random.default_rng(seed).dirichlet(np.full(5, 5.0))
        found = minimize(
            value,
            start,
            method="SLSQP",
            bounds=[(1e-6, 1)] * 5,
            constraints={"type": "eq", "fun": lambda lam: lam.sum() - 1},
            options={"maxiter": 100, "ftol": 1e-12},
        )
        best = min(best, value(found.x / found.x.sum()))
    assert value(gamma(problem).lam) <= 1.01 * best


@pytest.mark.parametrize("classes", [3, 4])
def test_measures_do_not_depend_on_the_numbers_of_the_classes(classes):
    """γ* has other draws then: within 4.5 standard errors."""
    problem = problem_of(classes, 12, 100)
    order = np.random.default_rng(3).permutation(classes)
    other = Bandit.from_classification(np.argsort(order)[problem.sets], problem.probabilities[:, order])
    np.testing.assert_allclose(other.errors, problem.errors)
    one, two = measure(problem, 0.05), measure(other, 0.05)
    assert one.rho.value == pytest.approx(two.rho.value)
    assert one.psi.value == pytest.approx(two.psi.value)
    assert one.disagreement == two.disagreement
    assert one.tsybakov.a == pytest.approx(two.tsybakov.a)
    both = np.hypot(one.gamma.stderr, two.gamma.stderr)
    assert abs(one.gamma.value - two.gamma.value) < 4.5 * both + 0.01 * one.gamma.value


def test_a_class_that_nobody_uses_changes_nothing():
    two = random(12, 60, 0.15, seed=1)
    eta = np.stack([1 - two.eta, two.eta, np.zeros(12)], axis=1)
    three = Bandit.from_classification(two.sets, eta)
    assert three.classes == 3
    np.testing.assert_allclose(three.errors, two.errors)
    for cost in (rho, psi):
        assert cost(three).value == pytest.approx(cost(two).value)
    wide, narrow = gamma(three), gamma(two)
    assert abs(wide.value - narrow.value) < 4.5 * np.hypot(wide.stderr, narrow.stderr)


def test_the_inequalities_hold_for_k_classes():
    checked = 0
    for seed in range(18):
        classes = (3, 4, 30)[seed % 3]
        noisy = random(int(8 + seed), 30, 0.02 * (seed % 8), seed, classes=classes)
        problem = noisy.realise(np.random.default_rng(seed)) if seed % 2 else noisy
        for epsilon in (problem.delta_min / problem.n, 0.3):
            if not 0 < problem.delta_min / problem.n <= epsilon:
                continue
            value = rho(problem, epsilon * problem.n).value
            if problem.noiseless:
                assert value <= rho_bound_noiseless(problem, epsilon)
            for alpha in (0.3, 1.0):
                pair = Tsybakov(tsybakov_constant(problem, alpha), alpha)
                assert value <= rho_bound_tsybakov(problem, pair, epsilon)
            wide = gamma(problem, epsilon * problem.n, pairs=256, rounds=12, final_pairs=2048)
            assert wide.value - 5 * wide.stderr <= gamma_bound(problem, value)
            checked += 1
    assert checked > 15


def test_measures_of_k_classes_leave_out_what_is_proved_for_two():
    found = measure(random(10, 20, classes=3))
    assert found.classes == 3
    assert found.dimension is None
    assert found.bounds.aced is found.bounds.fixed_budget is None
    assert found.bounds.disagreement is found.bounds.tsybakov is None
    log, level = np.log(10), max(np.log(1 / found.delta_min), 1)
    assert found.bounds.union == pytest.approx(level * found.rho.value * (np.log(20) + log))


def test_thresholds_cut_into_k_intervals():
    problem = thresholds(9, 0.1, classes=3)
    assert len(problem) == 45  # cuts 1 ≤ k ≤ l ≤ 9
    assert all((np.diff(row.astype(int)) <= 0).all() for row in problem.sets)
    np.testing.assert_array_equal(problem.sets[problem.best], [2, 2, 2, 1, 1, 1, 0, 0, 0])
    assert problem.nu == pytest.approx(0.1)
    np.testing.assert_allclose(problem.gaps, (1 - 1.5 * 0.1) * problem.distances, atol=1e-9)
    assert len(thresholds(3, classes=30)) == 465  # 29 cuts at three places
    assert thresholds(6, cut=2, classes=2).best == 1


def test_random_labelings_of_k_classes():
    problem = random(9, 50, 0.1, seed=3, classes=5)
    assert problem.sets.shape == (50, 9)
    assert set(np.unique(problem.sets).tolist()) == set(range(5))
    np.testing.assert_array_equal(problem.probabilities.argmax(axis=1), problem.sets[0])
    assert random(3, 27, classes=3).classes == 3


def test_separators_of_three_classes():
    rng = np.random.default_rng(0)
    centres = np.array([[3.0, 0.0], [-3.0, 0.0], [0.0, 4.0]])
    codes = rng.integers(0, 3, 90)
    problem = separators(centres[codes] + rng.normal(size=(90, 2)), np.array(["a", "b", "c"])[codes], 30)
    assert problem.classes == 3
    assert problem.errors.min() < 0.2 < problem.errors.max()


@pytest.mark.parametrize(
    ("problem", "costs", "sums"),
    [
        (
            random(12, 30, 0.15, seed=5),
            (9.441780947601035, 13.486866730118276, 5.811752407860922),
            [-5, -3, -2, -1, 8, -2, 3, -4, 3, 7, 2, -1],
        ),
        (
            thresholds(12, 0.15),
            (7.480637403007111, 11.774372538628157, 6.7619047619047645),
            [5, 1, 2, 1, 8, 4, -3, -6, -5, -7, -2, -3],
        ),
    ],
    ids=["random", "thresholds"],
)
def test_two_classes_give_the_numbers_they_gave_before_there_were_more(problem, costs, sums):
    """Stored from the version that knew two classes only; sums of labels to the bit."""
    found = measure(problem, seed=3)
    assert (found.rho.value, found.gamma.value, found.psi.value) == pytest.approx(costs, rel=1e-5)
    sample = problem.draw(np.full(12, 1 / 12), 57, np.random.default_rng(0))
    np.testing.assert_array_equal(sample.sums, sums)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: Bandit([[0, 3]], np.zeros((2, 2))), "only the classes 0 to 2, got 3"),
        (lambda: Bandit([[0, 1]], np.zeros((3, 2))), "one mean a row"),
        (lambda: Bandit([[0, 1]], np.zeros((2, 100))), "classes are 101; use at most 100"),
        (lambda: Bandit([[0, 1]], np.array([[1.0, 1.0], [0, 0]])), "differences of probabilities"),
        (lambda: Bandit([[0, 1]], np.zeros((2, 2)), "uniform"), "noise must be sign or none for 3"),
        (lambda: Bandit.from_classification([[0, 1]], [[0.5, 0.4, 0.2], [1, 0, 0]]), "add up to 1"),
        (lambda: Bandit.from_classification([[0, 1]], [[1.0], [1.0]]), "classes must be at least 2"),
        (lambda: random(classes=1), "classes must be at least 2"),
        (lambda: random(classes=1000), "use at most 100"),
        (lambda: random(2, 10, classes=3), "only 9 labelings"),
        (lambda: thresholds(9, cut=3, classes=3), "cut applies to two classes"),
        (lambda: thresholds(64, classes=4), "at most 20000"),
        (lambda: thresholds(640, classes=50), "more than a billion"),
        (lambda: vc_dimension(np.array([[0, 2], [1, 1]])), "3 classes, but the VC dimension"),
    ],
)
def test_bad_input_is_named(call, words):
    with pytest.raises(InvalidInput, match=words):
        call()
