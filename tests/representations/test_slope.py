"""The slope that makes left-out scores probabilities."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import logsumexp

from aced.representations._slope import USUAL, WEIGHT, best_slope


def losses(scores: np.ndarray, codes: np.ndarray, slopes: np.ndarray) -> np.ndarray:
    """The penalised log loss at each slope, by its definition."""
    found = []
    for a in slopes:
        prior = WEIGHT / 2 * (np.log(a) - np.log(USUAL)) ** 2
        log_p = a * scores[np.arange(len(codes)), codes] - logsumexp(a * scores, axis=1)
        found.append(prior - log_p.sum())
    return np.array(found)


@pytest.mark.parametrize("classes", [2, 5])
@pytest.mark.parametrize("m", [2, 30, 1000])
@pytest.mark.parametrize("noise", [0.1, 1.0])
def test_the_slope_has_the_least_loss_of_a_fine_grid(classes, m, noise):
    rng = np.random.default_rng(m + classes)
    codes = rng.integers(classes, size=m)
    scores = 0.5 * np.eye(classes)[codes] - 0.5 / classes + noise * rng.normal(size=(m, classes))
    slopes = np.exp(np.linspace(-4, 6, 4001))
    best = slopes[losses(scores, codes, slopes).argmin()]
    assert np.log(best_slope(scores, codes)) == pytest.approx(np.log(best), abs=0.003)


def test_a_slope_is_found_back():
    """In 60 draws the mean was 2.51 and the deviation 0.058. The bound is ten deviations away: its
    false-alarm rate is below 1e-6."""
    rng = np.random.default_rng(0)
    scores = rng.normal(size=(4000, 3))
    p = np.exp(2.5 * scores)
    p /= p.sum(axis=1, keepdims=True)
    codes = (rng.random((4000, 1)) > p.cumsum(axis=1)).sum(axis=1)
    assert best_slope(scores, codes) == pytest.approx(2.5, rel=0.25)


def test_without_news_the_slope_is_the_usual_one_and_scores_that_mislead_make_it_small():
    assert best_slope(np.zeros((50, 2)), np.arange(50) % 2) == pytest.approx(USUAL, rel=1e-3)
    misleading = np.where(np.arange(200)[:, None] % 2 == [0, 1], -0.5, 0.5)
    assert best_slope(misleading, np.arange(200) % 2) < 0.1
    assert np.isfinite(best_slope(np.array([[1e6, 0.0], [0.0, 1e6]]), np.array([0, 1])))
