"""Margins, doubts and entropies of K classes, against their definitions."""

import numpy as np
import pytest
from scipy.special import softmax
from scipy.stats import entropy

from aced.strategies import make_strategy
from aced.strategies._uncertainty import doubts, margins, probabilities
from tests.strategies.views import many_view_of


@pytest.mark.parametrize("classes", [3, 4, 5, 30])
def test_they_are_what_they_say(classes):
    rng = np.random.default_rng(classes)
    scores = 3 * rng.normal(size=(200, classes))
    scores[:50, 1] = -np.inf  # a class without a label
    p = softmax(scores, axis=1)
    np.testing.assert_allclose(probabilities(scores), p, atol=1e-12)
    np.testing.assert_allclose(doubts(scores), 1 - p.max(axis=1), atol=1e-12)
    ordered = np.sort(scores, axis=1)
    np.testing.assert_allclose(margins(scores), ordered[:, -1] - ordered[:, -2])


def test_two_classes_have_the_same_values_in_one_column_and_in_two():
    s = np.random.default_rng(0).normal(size=100) * 5
    two = np.stack([-s / 2, s / 2], axis=1)
    np.testing.assert_allclose(margins(s), margins(two))
    np.testing.assert_allclose(doubts(s), doubts(two))
    np.testing.assert_allclose(probabilities(s), probabilities(two))


def test_small_doubts_keep_their_digits():
    assert doubts(np.array([[60.0, 0.0, -1.0]]))[0] == pytest.approx(np.exp(-60) + np.exp(-61))


@pytest.mark.parametrize("classes", [3, 5, 30])
@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("margin", lambda p: np.log(np.sort(p, axis=1)[:, -2] / p.max(axis=1))),
        ("least-confidence", lambda p: 1 - p.max(axis=1)),
        ("entropy", lambda p: entropy(p, axis=1)),
    ],
)
def test_strategies_ask_for_the_rows_with_the_largest_value(name, value, classes):
    view, _ = many_view_of(classes, 5 * classes)
    plan = make_strategy(name).plan(view, 12, np.random.default_rng(0))
    values = np.where(view.open, value(softmax(view.scores(), axis=1)), -np.inf)
    np.testing.assert_allclose(values[plan.positions], np.sort(values)[::-1][:12], rtol=1e-6)
    assert (plan.probabilities == 1).all()
