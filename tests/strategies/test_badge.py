import numpy as np
import pytest
from scipy.special import expit, softmax

from aced.strategies import Badge, Plan, View
from tests.strategies.views import ROWS, many_view_of, view_of


def follows(plan: Plan, view: View, embedding: np.ndarray) -> None:
    """Assert that probabilities are in proportion to squared distances of these embeddings."""
    left, drawn = view.open.copy(), []
    for row, probability in zip(plan.positions.tolist(), plan.probabilities, strict=True):
        apart = embedding[:, None] - embedding[drawn] if drawn else embedding[:, None]
        weight = np.square(apart).sum(axis=2).min(axis=1) * left
        assert probability == pytest.approx(weight[row] / weight.sum(), rel=1e-3)
        left[row] = False
        drawn.append(row)


def test_badge_draws_in_proportion_to_squared_distances():
    view = view_of()
    plan = Badge().plan(view, 8, np.random.default_rng(3))
    scores = view.scores()
    p = expit(scores)
    follows(plan, view, (p - (scores > 0))[:, None] * np.column_stack([ROWS, np.ones(len(ROWS))]))


@pytest.mark.parametrize("classes", [3, 4, 30])
def test_with_more_classes_the_embedding_has_a_part_for_each(classes):
    view, rows = many_view_of(classes, 5 * classes)
    plan = Badge().plan(view, 8, np.random.default_rng(3))
    scores = view.scores()
    residual = softmax(scores, axis=1) - np.eye(classes)[scores.argmax(axis=1)]
    whole = np.column_stack([rows, np.ones(len(rows))])
    follows(plan, view, np.einsum("nk,np->nkp", residual, whole).reshape(len(rows), -1))


def test_one_column_of_two_classes_draws_as_two_do():
    """Both columns of p - e_y are opposite: every squared distance is halved."""
    view = view_of()
    plan = Badge().plan(view, 8, np.random.default_rng(3))
    p = np.stack([expit(-view.scores()), expit(view.scores())], axis=1)
    residual = p - np.eye(2)[(view.scores() > 0).astype(int)]
    whole = np.column_stack([ROWS, np.ones(len(ROWS))])
    follows(plan, view, np.einsum("nk,np->nkp", residual, whole).reshape(len(ROWS), -1))
