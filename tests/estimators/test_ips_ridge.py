"""Bias and tails of the one-direction estimators over many draws."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom

from aced import InvalidInput
from aced.estimators import (
    Sample,
    averages,
    ips,
    ips_width,
    naive_width,
    pair_estimates,
    ridge,
    ridge_bias,
    ridge_for,
    ridge_width,
)

DRAWS, T, N = 2000, 60, 12
DELTA = 0.1


@pytest.fixture(scope="module")
def world():
    rng = np.random.default_rng(0)
    mu, lam = rng.uniform(-1, 1, N), rng.dirichlet(np.full(N, 2.0))
    v = rng.choice([-1.0, 0.0, 1.0], N)
    samples = []
    for _ in range(DRAWS):
        positions = rng.choice(N, T, p=lam)
        y = np.where(rng.random(T) < (1 + mu[positions]) / 2, 1.0, -1.0)
        samples.append(Sample.of(lam, positions, y))
    return mu, lam, v, samples


def exceeds_rarely(misses: int) -> bool:
    """Not more often than δ; false-alarm rate 1e-4 if the bound were tight."""
    return misses <= binom.ppf(1 - 1e-4, DRAWS, DELTA)


def test_ips_is_unbiased(world):
    """Every row's mean within 5 standard errors: alarm rate 12 x 6e-7."""
    mu, _, _, samples = world
    found = np.array([ips(sample) for sample in samples])
    error = found.std(axis=0) / np.sqrt(DRAWS)
    assert (np.abs(found.mean(axis=0) - mu) < 5 * error).all()


def test_ips_tail_is_within_bernstein(world):
    mu, lam, v, samples = world
    bound = ips_width(v, lam, T, DELTA)
    assert exceeds_rarely(sum(abs(v @ (ips(sample) - mu)) > bound for sample in samples))


def test_ridge_bias_and_tail_are_within_the_proposition(world):
    mu, lam, v, samples = world
    s = ridge_for(v, lam, T, DELTA)
    off = np.array([v @ (ridge(sample, s) - mu) for sample in samples])
    assert abs(off.mean()) <= ridge_bias(v, lam, T, s) + 5 * off.std() / np.sqrt(DRAWS)
    assert exceeds_rarely(int((np.abs(off) > ridge_width(v, lam, T, DELTA)).sum()))
    # the bias is there: the expectation has a closed form
    expected = -(v * mu * s / (T * lam + s)).sum()
    assert abs(off.mean() - expected) < 5 * off.std() / np.sqrt(DRAWS)


def test_ridge_has_the_lighter_tail_when_a_row_is_rare():
    """One row has λ = 0.002: importance weighting misses by its full weight when it is hit."""
    rng = np.random.default_rng(1)
    lam = np.append(np.full(9, 0.998 / 9), 0.002)
    mu, v, t, delta = np.full(10, -0.5), np.ones(10), 40, 0.02
    s, worst = ridge_for(v, lam, t, delta), []
    for _ in range(DRAWS):
        positions = rng.choice(10, t, p=lam)
        y = np.where(rng.random(t) < 0.25, 1.0, -1.0)
        sample = Sample.of(lam, positions, y)
        worst.append([abs(v @ (ips(sample) - mu)), abs(v @ (ridge(sample, s) - mu))])
    high = np.quantile(worst, 0.98, axis=0)
    assert high[1] < high[0]


def test_naive_width_holds_given_the_counts(world):
    mu, _, v, samples = world
    misses = sum(
        abs(v @ (averages(sample.counts, sample.sums) - mu)) > naive_width(v, sample.counts, DELTA)
        for sample in samples
    )
    assert exceeds_rarely(misses)


def test_pair_estimates_are_the_definition(world):
    _, lam, _, samples = world
    rng = np.random.default_rng(2)
    sets = rng.random((5, N)) < 0.5
    first, second = np.triu_indices(5, 1)
    s = rng.uniform(0.5, 3, len(first))
    expected = [
        (sets[a].astype(float) - sets[b]) @ ridge(samples[0], float(si))
        for a, b, si in zip(first, second, s, strict=True)
    ]
    np.testing.assert_allclose(pair_estimates(samples[0], sets, first, second, s), expected)
    assert samples[0].t == T
    np.testing.assert_allclose(ridge(samples[0], 1e-12), ips(samples[0]))
    assert lam.sum() == pytest.approx(1)


@pytest.mark.parametrize("delta", [0.0, 1.0, 3.0, float("nan")])
def test_widths_need_a_probability(delta):
    v, lam = np.ones(2), np.ones(2) / 2
    for width in (ips_width, ridge_width, ridge_for):
        with pytest.raises(InvalidInput, match="delta"):
            width(v, lam, 5, delta)
    with pytest.raises(InvalidInput, match="delta"):
        naive_width(v, np.ones(2), delta)


def test_labels_must_be_signed():
    with pytest.raises(InvalidInput, match="y must lie in"):
        Sample.of(np.ones(2) / 2, np.array([0]), np.array([2.0]))
    with pytest.raises(InvalidInput, match="one entry a draw"):
        Sample.of(np.ones(2) / 2, np.array([0]), np.array([1.0, 1.0]))
