import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from sklearn.linear_model import LogisticRegression

from aced._workers import Workers
from aced.oracles import GaussianNoise, LinearOracle, Weights, argmax, best_per_draw, value
from aced.oracles._kernels import residual, shifted_tally
from aced.oracles._lapack import solve_rows
from aced.pool import Pool
from tests.helpers import blobs


def _arrays(seed=0, draws=5, rows=37):
    rng = np.random.default_rng(seed)
    f = np.float32
    return {
        "margins": (6 * rng.standard_normal((rows, draws))).astype(f),
        "bias": rng.standard_normal(draws).astype(f),
        "zeta": rng.standard_normal((rows, draws)).astype(f),
        "scale": (0.1 + rng.random(rows)).astype(f),
        "mu": rng.choice([-1, 0, 1], rows).astype(f),
        "r": (10 * rng.random(draws)).astype(f),
    }


def test_residual_kernel_against_numpy():
    a = _arrays()
    margins, tally = a["margins"].copy(), np.zeros((2, 5), np.float32)
    residual(margins, a["bias"], a["zeta"], a["scale"], a["mu"], a["r"], tally)
    m = (a["margins"] + a["bias"]).astype(float)
    noise = (a["zeta"] * a["scale"][:, None]).astype(float)
    v = a["r"] * a["mu"][:, None] - noise
    expected = v / (1 + np.exp(np.sign(v) * m))
    assert np.abs(margins - expected).max() < 2e-6 * np.abs(v).max()
    chosen = m > 0
    np.testing.assert_allclose(tally[0], a["mu"] @ chosen, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(tally[1], (chosen * noise).sum(axis=0), rtol=1e-4, atol=1e-5)


@given(st.floats(-1e6, 1e6, width=32))
@settings(max_examples=200, deadline=None)
def test_the_fraction_for_sigma_is_right_everywhere(margin):
    margins = np.full((1, 1), margin, np.float32)
    one = np.ones(1, np.float32)
    residual(
        margins, 0 * one, -np.ones((1, 1), np.float32), one, 0 * one, one, np.zeros((2, 1), np.float32)
    )
    with np.errstate(over="ignore"):
        assert margins[0, 0] == pytest.approx(1 / (1 + np.exp(float(margin))), abs=1e-6)


def test_shifted_tally_against_numpy():
    a = _arrays(1)
    anchor = np.random.default_rng(2).standard_normal(37).astype(np.float32)
    steps = np.random.default_rng(3).random((3, 5)).astype(np.float32)
    tally = np.zeros((3, 2, 5), np.float32)
    shifted_tally(a["margins"], a["bias"], anchor, steps, a["zeta"], a["scale"], a["mu"], tally)
    moved = anchor[:, None] + steps[:, None, :] * (a["margins"] + a["bias"])
    np.testing.assert_allclose(tally[:, 0], a["mu"] @ (moved > 0), rtol=1e-5, atol=1e-5)
    spread = ((moved > 0) * (a["zeta"] * a["scale"][:, None])).sum(axis=1)
    np.testing.assert_allclose(tally[:, 1], spread, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("steps", [1, 3])
@pytest.mark.parametrize("r", [0.0, 3.0, 300.0])
def test_values_match_the_converged_logistic_fit(steps, r):
    """Mean of Σ v h over 24 draws: at most 1 % below scikit-learn's converged fit."""
    rows, labels = blobs(n=3000, p=20, flip=0.2)
    pool = Pool(rows)
    mu = np.zeros(3000, np.float32)
    mu[:800] = 2 * labels[:800] - 1
    weights = Weights(pool, mu, np.full(3000, 50, np.float32), GaussianNoise(pool, 24, seed=1))
    levels = np.full(24, r, np.float32)
    oracle = LinearOracle(pool, steps=steps)
    ours = value(levels, best_per_draw(levels, oracle.prepare(weights).maximise(levels), oracle).tally)
    theirs = []
    vectors = np.concatenate([weights.block(j, levels) for j in range(pool.blocks)]).T
    for v in vectors.astype(float):
        fit = LogisticRegression(C=np.inf, tol=1e-7, max_iter=500)
        theirs.append(v @ fit.fit(rows, v > 0, sample_weight=np.abs(v)).predict(rows))
    assert ours.mean() > 0.99 * np.mean(theirs)


def test_many_steps_converge_to_the_logistic_optimum():
    rows, _ = blobs(n=500, p=4)
    rng = np.random.default_rng(0)
    v = rng.standard_normal(500) + rows[:, 0]
    oracle = LinearOracle(Pool(rows), steps=200, ridge=1e-9)
    weights = Weights.given(oracle.pool, v)
    last = oracle.prepare(weights).maximise(np.zeros(1, np.float32))[-1].hypotheses.to_array()[0]
    fit = LogisticRegression(C=np.inf, tol=1e-10, max_iter=2000)
    fit.fit(rows, v > 0, sample_weight=np.abs(v))
    np.testing.assert_allclose(last[:-1], fit.coef_[0], rtol=2e-3, atol=2e-3)
    assert last[-1] == pytest.approx(fit.intercept_[0], abs=2e-3)


def test_the_safeguard_holds_where_the_shared_preconditioner_misleads():
    """One draw has all its weight on ten rows that the mean over draws hardly sees."""
    rows, _ = blobs(n=400, p=5, seed=3)
    rows[:10] *= 30
    vectors = np.random.default_rng(1).standard_normal((20, 400))
    vectors[0] = 1e-3 * vectors[0]
    vectors[0, :10] = 500 * np.sign(rows[:10, 0])
    oracle = LinearOracle(Pool(rows), steps=60)
    weights = Weights.given(oracle.pool, vectors)
    zero = np.zeros(20, np.float32)
    found = oracle.prepare(weights).maximise(zero)
    for candidate in found:
        assert np.isfinite(candidate.hypotheses.to_array()).all()
    first, last = value(zero, found[0].tally), value(zero, best_per_draw(zero, found, oracle).tally)
    assert (last >= first - 1e-4 * np.abs(first)).all()
    assert last[0] > 0.98 * vectors[0][vectors[0] > 0].sum()  # separable, so nearly all of it


@pytest.mark.parametrize("n", [1, 2, 1024, 1025, 2049])
def test_any_number_of_rows(n):
    rows, _ = blobs(n=n, p=3)
    labels, values = argmax(LinearOracle(Pool(rows)), np.ones((2, n)))
    assert labels.all()
    np.testing.assert_allclose(values, n)


def test_fewer_rows_than_features_interpolates():
    rows, _ = blobs(n=30, p=100)
    v = np.random.default_rng(0).standard_normal((3, 30))
    _, values = argmax(LinearOracle(Pool(rows)), v)
    np.testing.assert_allclose(values, np.maximum(v, 0).sum(axis=1), rtol=1e-4)


def test_constant_and_repeated_columns_change_nothing_much():
    rows, _ = blobs(n=800, p=4)
    v = np.random.default_rng(0).standard_normal((6, 800))
    _, plain = argmax(LinearOracle(Pool(rows)), v)
    padded = np.column_stack([rows, np.full(800, 7.0), np.zeros(800), rows[:, 0]])
    _, more = argmax(LinearOracle(Pool(padded)), v)
    np.testing.assert_allclose(more, plain, rtol=0.03, atol=2)


def test_all_columns_constant_leaves_the_two_constant_labelings():
    oracle = LinearOracle(Pool(np.ones((20, 3))))
    labels, _ = argmax(oracle, np.stack([np.ones(20), -np.ones(20)]))
    assert labels[0].all()
    assert not labels[1].any()


def test_units_and_offsets_of_the_features_do_not_matter():
    rows, _ = blobs(n=800, p=4)
    v = np.random.default_rng(0).standard_normal((6, 800)) + rows[:, 0] - rows[:, 2]
    _, plain = argmax(LinearOracle(Pool(rows)), v)
    _, moved = argmax(LinearOracle(Pool(rows * [1e-3, 1, 1e3, 1e5] + [5, -50, 0, 1e5])), v)
    np.testing.assert_allclose(moved, plain, rtol=0.005)


def test_leverages_match_the_hat_matrix_and_their_sketch(monkeypatch):
    rows, _ = blobs(n=700, p=8)
    oracle = LinearOracle(Pool(rows), ridge=1e-12, workers=Workers(2))
    weights = Weights.given(oracle.pool, np.random.default_rng(0).standard_normal((40, 700)))
    exact = oracle.prepare(weights).leverage(0.0)
    x = np.column_stack([(rows - rows.mean(axis=0)) / rows.std(axis=0), np.ones(700)])
    h = x.T @ (weights.base[:, None] * x) / 4
    np.testing.assert_allclose(exact, np.einsum("ij,ij->i", x @ np.linalg.inv(h), x), rtol=1e-3)
    wide, _ = blobs(n=400, p=200)
    oracle = LinearOracle(Pool(wide))
    prepared = oracle.prepare(
        Weights.given(oracle.pool, np.random.default_rng(0).standard_normal((9, 400)))
    )
    sketched = prepared.leverage(0.0)
    monkeypatch.setattr("aced.oracles._cholesky.SKETCH", 10_000)
    assert np.median(np.abs(sketched / prepared.leverage(0.0) - 1)) < 0.15


def test_solve_rows_against_numpy():
    rng = np.random.default_rng(0)
    a = rng.normal(size=(50, 20))
    h = a.T @ a
    rows = rng.normal(size=(7, 20))
    factor = np.asfortranarray(np.linalg.cholesky(h))
    np.testing.assert_allclose(solve_rows(factor, rows), np.linalg.solve(h, rows.T).T, rtol=1e-9)
