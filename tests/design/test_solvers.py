"""The minimisation over λ: gradients, certificates and solvers on a sampled objective.

With a fixed set of draws F is a deterministic convex function of λ, which a general
solver can minimise. That gives exact answers to compare with.
"""

import numpy as np
import pytest
import scipy.optimize

from aced import InvalidInput
from aced.design import Dinkelbach, FixedPoint, Grid, Mirror, Problem, certify, evaluate
from aced.design._gradient import grouped, raw
from aced.oracles import GaussianNoise, GivenNoise
from tests.helpers import finite_problem, linear_problem, ratio_by_definition

N, DRAWS = 8, 4000


def _sampled(seed=0, shift=2.0, classes=2):
    problem, table = finite_problem(n=N, labelled=4, shift=shift, seed=seed, classes=classes)
    zeta = np.random.default_rng(seed + 10).standard_normal((DRAWS, N)).astype(np.float32)
    if classes > 2:  # noise of variance ½ for every class, relative to that of class 0
        each = np.random.default_rng(seed + 10).standard_normal((DRAWS, N, classes)) / np.sqrt(2)
        zeta = (each[..., 1:] - each[..., :1]).astype(np.float32)

    def value(lam):
        return float(np.maximum(ratio_by_definition(problem, lam, zeta, table), 0).mean())

    return problem, table, zeta, value


def _optimum(value):
    """min over the simplex by a general solver, in softmax coordinates."""
    best = min(
        (
            scipy.optimize.minimize(
                lambda x: value(np.exp(x - x.max()) / np.exp(x - x.max()).sum()),
                start,
                method="Powell",
                options={"maxiter": 4000, "xtol": 1e-5, "ftol": 1e-9},
            )
            for start in (np.zeros(N), np.random.default_rng(0).normal(size=N))
        ),
        key=lambda result: result.fun,
    )
    return float(best.fun)


@pytest.mark.parametrize("classes", [2, 3, 4])
def test_raw_gradient_is_the_derivative_of_the_value(classes):
    problem, _, zeta, value = _sampled(classes=classes)
    lam = np.random.default_rng(3).dirichlet(5 * np.ones(N))
    found = Dinkelbach()(problem, lam, GivenNoise(problem.oracle.pool, zeta))
    gradient = -0.5 * lam**-1.5 * raw(problem, found).mean
    for i in range(N):
        step = 1e-5 * np.eye(N)[i]
        slope = (value(lam + step) - value(lam - step)) / 2e-5
        assert gradient[i] == pytest.approx(slope, rel=0.02, abs=0.02 * abs(gradient).max())
    # the identity Σ s_i G_i = F, and homogeneity F(cλ) = c^(-1/2) F(λ)
    assert (raw(problem, found).mean / np.sqrt(lam)).sum() == pytest.approx(found.value, rel=1e-4)
    assert value(4 * lam) == pytest.approx(value(lam) / 2, rel=1e-9)


def test_standard_errors_of_the_raw_gradient_are_those_of_a_mean():
    problem, _, zeta, _ = _sampled()
    lam = problem.uniform()
    found = Dinkelbach()(problem, lam, GivenNoise(problem.oracle.pool, zeta))
    h = found.hypotheses.labels(0).T
    terms = (problem.incumbent.labels - h.astype(float)) * zeta / found.denominator[:, None]
    estimate = raw(problem, found)
    np.testing.assert_allclose(estimate.mean, terms.mean(axis=0), rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(estimate.stderr, terms.std(axis=0, ddof=1) / np.sqrt(DRAWS), rtol=1e-3)


@pytest.mark.parametrize(("seed", "classes"), [(0, 2), (1, 2), (2, 2), (3, 3)])
@pytest.mark.parametrize("shift", [0.5, 4.0])
def test_certificates_bound_the_true_optimum(seed, classes, shift):
    """F - F* ≤ gap and F* ≥ lower, exactly, for the sampled objective at any λ."""
    problem, _, zeta, value = _sampled(seed, shift, classes)
    optimum = _optimum(value)
    rng = np.random.default_rng(seed)
    for lam in (problem.uniform(), rng.dirichlet(np.ones(N)), rng.dirichlet(10 * np.ones(N))):
        found = Dinkelbach()(problem, lam, GivenNoise(problem.oracle.pool, zeta))
        certificate = certify(lam, found.value, found.stderr, raw(problem, found))
        assert certificate.value == pytest.approx(value(lam), rel=1e-4)
        assert certificate.value - optimum <= certificate.gap * (1 + 1e-3) + 1e-6
        assert certificate.lower <= optimum * (1 + 1e-3)
        assert certificate.lower >= certificate.value - certificate.gap - 1e-9  # never the weaker one
        assert 0 <= certificate.shortfall < 1


@pytest.mark.parametrize(("seed", "classes"), [(0, 2), (1, 2), (2, 2), (3, 3), (4, 4)])
def test_both_solvers_reach_the_optimum_of_a_finite_class(seed, classes):
    """Within 3 % of the optimum on one large sample of draws (its own noise is 1 %)."""
    problem, _, _, value = _sampled(seed, classes=classes)
    optimum = _optimum(value)
    fixed = FixedPoint(draws=3000, rounds=25, tolerance=0.01)
    mirror = Mirror(draws=500, max_steps=40, tolerance=0.02, search=Dinkelbach())
    for solver in (fixed, mirror):
        design = solver.solve(problem, np.random.default_rng(seed))
        assert design.lam.sum() == pytest.approx(1)
        assert (design.lam >= 0).all()
        assert value(np.maximum(design.lam, 1e-12)) < 1.03 * optimum


def test_mirror_doubles_its_draws_and_says_why_it_stopped():
    problem, _, _, _ = _sampled()
    lines = []
    design = Mirror(draws=8, max_draws=64, max_steps=6, tolerance=0.0).solve(
        problem, np.random.default_rng(0), report=lines.append
    )
    assert design.stopped == "max_steps"
    assert len(design.trace) == 7
    assert "8 draws" in lines[0]
    assert "64 draws" in lines[-1]
    loose = Mirror(draws=2000, tolerance=100.0).solve(problem, np.random.default_rng(0))
    assert loose.stopped == "tolerance"
    assert len(loose.trace) == 1


def test_the_paper_and_the_fast_procedure_agree_on_a_linear_class():
    """Same state, same fresh draws: the fast design's value is at most 2 % above."""
    problem, _ = linear_problem(n=700, p=8, k=6, seed=1)
    slow = Mirror(draws=64, max_steps=12, tolerance=0.0).solve(problem, np.random.default_rng(0))
    fast = FixedPoint().solve(problem, np.random.default_rng(0))
    best = max(slow.incumbent, fast.incumbent, key=lambda incumbent: incumbent.agreement)
    problem = Problem(problem.oracle, problem.mu, problem.shift, best)
    noise = GaussianNoise(problem.oracle.pool, 256, seed=99)
    values = [Dinkelbach(steps=4)(problem, design.lam, noise).value for design in (slow, fast)]
    assert values[1] < 1.02 * values[0]
    assert values[1] < 0.98 * Dinkelbach(steps=4)(problem, problem.uniform(), noise).value


@pytest.mark.parametrize("classes", [2, 3, 5])
def test_grouped_gradient_matches_the_raw_one_summed_over_rows(classes):
    """In 8 groups of rows ordered by the estimate, against 4096 raw draws.

    Each group of the raw estimate has a relative standard error of about 3 %; the
    tolerance of 25 % (plus 2 % of the total) is for the normal approximation.
    """
    problem, _ = linear_problem(n=800, p=8, k=4, classes=classes)
    lam, pool = problem.uniform(), problem.oracle.pool
    found = Dinkelbach()(problem, lam, GaussianNoise(pool, 64, 1, classes))
    problem = Problem(problem.oracle, problem.mu, problem.shift, found.incumbent)
    found = Dinkelbach()(problem, lam, GaussianNoise(pool, 64, 1, classes))
    estimate = grouped(problem, found, found.maximiser.leverage(float(np.median(found.level))))
    reference = Dinkelbach()(problem, lam, GaussianNoise(pool, 4096, 2, classes))
    exact = raw(problem, reference).mean
    assert (estimate.mean / np.sqrt(lam)).sum() == pytest.approx(found.value, rel=1e-6)
    assert (estimate.mean >= 0).all()
    assert (estimate.stderr >= 0).all()
    groups = np.array_split(np.argsort(estimate.mean), 8)
    ours = np.array([estimate.mean[g].sum() for g in groups])
    theirs = np.array([exact[g].sum() for g in groups])
    np.testing.assert_allclose(ours, theirs, rtol=0.25, atol=0.02 * theirs.sum())


def test_evaluate_gives_the_mean_over_fresh_draws():
    problem, _, _, value = _sampled()
    mean, stderr = evaluate(problem, problem.uniform(), 4000, np.random.default_rng(0), Dinkelbach())
    assert abs(mean - value(problem.uniform())) < 5 * np.sqrt(2) * stderr  # false alarm 1e-6


def test_grid_is_the_search_of_the_papers_solver():
    assert isinstance(Mirror().search, Grid)
    assert isinstance(FixedPoint().search, Dinkelbach)


@pytest.mark.parametrize(
    "arguments", [(FixedPoint, {"rounds": 0}), (FixedPoint, {"draws": 1}), (Mirror, {"max_steps": 0})]
)
def test_solvers_refuse_settings_that_cannot_work(arguments):
    with pytest.raises(InvalidInput, match="at least"):
        arguments[0](**arguments[1])
