import itertools

import numpy as np
import pytest
import scipy.stats

from aced.design import draw


def test_the_order_drawn_has_the_probability_that_is_reported():
    """Chi-square over the 24 ordered triples of 4 rows, 20 000 draws, false alarm 1e-4."""
    weights = np.array([0.5, 0.3, 0.15, 0.05])
    rng = np.random.default_rng(0)
    counts = dict.fromkeys(itertools.permutations(range(4), 3), 0)
    reported = {}
    for _ in range(20_000):
        rows, probabilities = draw([weights], np.ones(4, bool), 3, rng)
        counts[tuple(rows.tolist())] += 1
        reported[tuple(rows.tolist())] = probabilities
    for triple, probabilities in reported.items():
        left = 1.0
        for row, probability in zip(triple, probabilities, strict=True):
            assert probability == pytest.approx(weights[row] / left)
            left -= weights[row]
    expected = [20_000 * np.prod(reported[triple]) for triple in counts]
    assert scipy.stats.chisquare(list(counts.values()), expected).pvalue > 1e-4


def test_importance_weighting_by_the_reported_probability_is_unbiased():
    """Mean of 1/p-weighted values of the m-th draw over 4000 runs within 4 standard errors
    of the total over the rows then open (false alarm 1e-4)."""
    rng = np.random.default_rng(1)
    weights, values = rng.dirichlet(np.ones(30)), rng.normal(size=30)
    errors = []
    for _ in range(4000):
        rows, probabilities = draw([weights], np.ones(30, bool), 5, rng)
        open_total = values.sum() - values[rows[:4]].sum()
        errors.append(values[rows[4]] / probabilities[4] - open_total)
    assert abs(np.mean(errors)) < 4 * np.std(errors) / np.sqrt(4000)


def test_closed_rows_are_never_drawn_and_later_tiers_fill_up():
    weights = np.array([1.0, 1.0, 0.0, 0.0, 0.0])
    open_rows = np.array([True, True, True, True, False])
    rows, probabilities = draw([weights, np.ones(5)], open_rows, 4, np.random.default_rng(0))
    assert sorted(rows[:2].tolist()) == [0, 1]
    assert sorted(rows[2:].tolist()) == [2, 3]
    np.testing.assert_allclose(probabilities, [0.5, 1, 0.5, 1])


def test_no_open_rows_give_no_draws():
    rows, probabilities = draw([np.ones(3)], np.zeros(3, bool), 2, np.random.default_rng(0))
    assert len(rows) == len(probabilities) == 0
