"""Importance weighting and ridge for K classes: exactly on a small pool, and over many draws."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from scipy.stats import binom

from aced import InvalidInput
from aced._labelings import one_hot
from aced.estimators import (
    Chaining,
    Sample,
    averages,
    combine,
    ips,
    ips_width,
    pair_estimates,
    ridge,
    ridge_bias,
    ridge_for,
    ridge_width,
    scales,
)

DELTA = 0.1
DRAWS = 1500


def relative(eta):
    """μ_c = η_c - η_0, (n, K - 1)."""
    return eta[:, 1:] - eta[:, :1]


def difference(h, g, classes):
    """1{h(i) = c} - 1{g(i) = c} for c = 1 … K-1, (n, K - 1)."""
    kinds = np.arange(1, classes)
    return (h[:, None] == kinds).astype(float) - (g[:, None] == kinds)


@pytest.mark.parametrize("classes", [2, 3, 4])
def test_ips_is_unbiased_by_enumeration(classes):
    """All (row, label) sequences of two draws from three rows, each with its probability."""
    rng = np.random.default_rng(classes)
    eta, lam = rng.dirichlet(np.ones(classes), 3), np.array([0.5, 0.3, 0.2])
    single = [(i, c, lam[i] * eta[i, c]) for i in range(3) for c in range(classes)]
    h, g = np.array([0, 1, classes - 1]), np.array([1, 1, 0])
    v = difference(h, g, classes)
    mean, total, spread = np.zeros((3, classes - 1)), 0.0, 0.0
    expected = (v * relative(eta)).sum()
    for (i, a, p), (j, b, q) in product(single, single):
        sample = Sample.of_codes(lam, np.array([i, j]), np.array([a, b]), classes)
        found = ips(sample).reshape(3, -1)
        mean += p * q * found
        spread += p * q * ((v * found).sum() - expected) ** 2
        total += p * q
    assert total == pytest.approx(1)
    np.testing.assert_allclose(mean, relative(eta), atol=1e-12)
    # two draws halve the variance of one, which is at most Σ 1{h ≠ g} / λ
    assert spread <= (1 / lam[h != g]).sum() / 2


def world(classes, draws=DRAWS, t=60, n=10):
    rng = np.random.default_rng(classes)
    eta, lam = rng.dirichlet(np.full(classes, 0.7), n), rng.dirichlet(np.full(n, 2.0))
    h, g = rng.integers(0, classes, (2, n))
    samples = []
    for _ in range(draws):
        positions = rng.choice(n, t, p=lam)
        codes = (rng.random((t, 1)) > eta[positions].cumsum(axis=1)).sum(axis=1)
        samples.append(Sample.of_codes(lam, positions, np.minimum(codes, classes - 1), classes))
    return eta, lam, difference(h, g, classes), samples, t


@pytest.mark.parametrize("classes", [3, 5, 30])
def test_ips_is_unbiased_over_seeds(classes):
    """Every row and class within 5.5 standard errors: alarm rate 10 x 29 x 4e-8 at most.

    The error is the one that the model gives, since a class may be too rare to be seen.
    """
    eta, lam, _, samples, t = world(classes)
    found = np.mean([ips(sample) for sample in samples], axis=0)
    size = eta[:, 1:] + eta[:, :1]  # E y_c²
    error = np.sqrt((size / lam[:, None] - relative(eta) ** 2) / (t * len(samples)))
    assert (np.abs(found - relative(eta)) < 5.5 * error + 1e-12).all()


@pytest.mark.parametrize("classes", [3, 5, 30])
def test_ridge_bias_and_tails_are_within_the_proposition(classes):
    """Bounds are missed at most as often as δ: false-alarm rate 1e-4 if they were tight."""
    eta, lam, v, samples, t = world(classes)
    s, mu = ridge_for(v, lam, t, DELTA), relative(eta)
    off = np.array([(v * (ridge(sample, s) - mu)).sum() for sample in samples])
    plain = np.array([(v * (ips(sample) - mu)).sum() for sample in samples])
    rarely = binom.ppf(1 - 1e-4, len(samples), DELTA)
    assert (np.abs(off) > ridge_width(v, lam, t, DELTA)).sum() <= rarely
    assert (np.abs(plain) > ips_width(v, lam, t, DELTA)).sum() <= rarely
    error = off.std() / np.sqrt(len(samples))
    assert abs(off.mean()) <= ridge_bias(v, lam, t, s) + 5 * error
    expected = -((v * mu).sum(axis=1) * s / (t * lam + s)).sum()
    assert abs(off.mean() - expected) < 5 * error


def test_widths_count_each_row_in_which_labelings_differ_once():
    lam = np.array([0.5, 0.2, 0.3])
    v = difference(np.array([0, 1, 2]), np.array([2, 2, 2]), 3)  # differ in rows 0 and 1
    plain = np.array([1.0, 1.0, 0.0])
    for width in (ips_width, ridge_width, ridge_for):
        assert width(v, lam, 40, DELTA) == pytest.approx(width(plain, lam, 40, DELTA))
    assert ridge_bias(v, lam, 40, 0.7) == pytest.approx(ridge_bias(plain, lam, 40, 0.7))
    assert ips_width(np.zeros((3, 2)), lam, 40, DELTA) == 0


@pytest.mark.parametrize("classes", [2, 3, 4])
def test_pair_estimates_are_the_definition(classes):
    rng = np.random.default_rng(1)
    _, _, _, (sample,), _ = world(classes, draws=1)
    sets = rng.integers(0, classes, (6, 10))
    first, second = np.triu_indices(6, 1)
    s = rng.uniform(0.5, 3, len(first))
    expected = [
        (difference(sets[a], sets[b], classes) * ridge(sample, float(si)).reshape(10, -1)).sum()
        for a, b, si in zip(first, second, s, strict=True)
    ]
    found = pair_estimates(sample, sets, first, second, s)
    np.testing.assert_allclose(found, expected, atol=1e-12)


def test_a_sample_counts_labels():
    sample = Sample.of_codes(np.full(3, 1 / 3), np.array([0, 0, 2, 0]), np.array([2, 0, 1, 2]), 4)
    np.testing.assert_array_equal(sample.counts, [3, 0, 1])
    np.testing.assert_array_equal(sample.sums, [[-1, 1, -1], [0, 0, 0], [1, 0, 0]])
    assert (sample.t, sample.classes) == (4, 4)
    two = Sample.of_codes(np.full(3, 1 / 3), np.array([0, 0, 2]), np.array([1, 0, 0]), 2)
    np.testing.assert_array_equal(two.sums, [0, 0, -1])
    assert two.classes == 2


def test_averages_of_k_classes_are_the_shares_of_the_labels():
    codes, positions = np.array([0, 1, 2, 2, 1]), np.array([0, 0, 0, 2, 2])
    sample = Sample.of_codes(np.full(3, 1 / 3), positions, codes, 3)
    found = averages(sample.per_row(sample.counts), sample.sums)
    expected = [one_hot(codes[positions == i], 3).mean(axis=0) for i in (0, 2)]
    np.testing.assert_allclose(found[[0, 2]], expected)
    np.testing.assert_array_equal(found[1], 0)


def test_scales_are_their_definition_for_k_classes():
    rng = np.random.default_rng(0)
    sets, mu = rng.integers(0, 4, (30, 12)), rng.uniform(-0.3, 0.3, (12, 3))
    full = np.hstack([np.zeros((12, 1)), mu])
    value = np.array([full[np.arange(12), h].sum() for h in sets])
    best = int(value.argmax())
    for level, inside in enumerate(scales(sets, mu, best, 4)):
        expected = np.flatnonzero(value[best] - value <= 2.0 ** (1 - level) * 12)
        np.testing.assert_array_equal(inside, expected)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (
            lambda s, h: Chaining(h, s.lam, 0.1),
            "3 classes, but the chaining estimator is proved for two",
        ),
        (lambda s, h: Chaining(h % 2, s.lam, 0.1).fit(s), "3 classes, but the chaining estimator"),
        (lambda s, h: combine(h, [np.arange(3)], s, 0.1), "3 classes, but the chaining estimator"),
        (lambda s, h: Sample.of_codes(s.lam, [0], [3], 3), "codes must lie between 0 and 2"),
        (lambda s, h: Sample.of_codes(s.lam, [0], [0], 1), "classes must be at least 2"),
        (lambda s, h: Sample.of_codes(s.lam, [0], [0], 101), "use at most 100"),
        (lambda s, h: Sample.of_codes(s.lam, [9], [0], 3), "positions must lie between 0 and 3"),
    ],
)
def test_bad_input_is_named(call, words):
    sample = Sample.of_codes(np.full(4, 0.25), np.arange(4), np.array([0, 1, 2, 0]), 3)
    with pytest.raises(InvalidInput, match=words):
        call(sample, np.array([[0, 1, 2, 0], [1, 1, 0, 0], [2, 0, 0, 1]]))
