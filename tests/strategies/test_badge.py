import numpy as np
import pytest
from scipy.special import expit

from aced.strategies import Badge
from tests.strategies.views import ROWS, view_of


def test_badge_draws_in_proportion_to_squared_distances():
    view = view_of()
    plan = Badge().plan(view, 8, np.random.default_rng(3))
    scores = view.scores()
    p = expit(scores)
    embedding = (p - (scores > 0))[:, None] * np.column_stack([ROWS, np.ones(len(ROWS))])
    left, drawn = view.open.copy(), []
    for row, probability in zip(plan.positions.tolist(), plan.probabilities, strict=True):
        apart = embedding[:, None] - embedding[drawn] if drawn else embedding[:, None]
        weight = np.square(apart).sum(axis=2).min(axis=1) * left
        assert probability == pytest.approx(weight[row] / weight.sum(), rel=1e-3)
        left[row] = False
        drawn.append(row)
