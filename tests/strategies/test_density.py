import numpy as np
import pytest
from scipy.special import expit, softmax

from aced import InvalidInput, Pool
from aced._workers import Workers
from aced.strategies import Density
from aced.strategies._density import similarity
from tests.strategies.views import ROWS, many_view_of, view_of


def test_density_is_the_mean_cosine_similarity():
    centred = ROWS - ROWS.mean(axis=0)
    unit = centred / np.linalg.norm(centred, axis=1, keepdims=True)
    expected = (1 + (unit @ unit.T).mean(axis=1)) / 2
    np.testing.assert_allclose(similarity(Pool(ROWS), Workers(1)), expected, atol=1e-6)
    view = view_of()
    value = expit(-np.abs(view.scores())) * expected**2
    value[~view.open] = -1
    best = np.argsort(-value, kind="stable")[:5]
    np.testing.assert_array_equal(
        Density(beta=2).plan(view, 5, np.random.default_rng(0)).positions, best
    )


def test_a_negative_beta_is_refused():
    with pytest.raises(InvalidInput, match="beta"):
        Density(-1)


@pytest.mark.parametrize("classes", [3, 30])
def test_with_more_classes_uncertainty_is_one_minus_the_largest_probability(classes):
    view, _ = many_view_of(classes, 5 * classes)
    p = softmax(view.scores(), axis=1).max(axis=1)
    value = np.where(view.open, (1 - p) * similarity(view.pool, Workers(1)), -1)
    found = Density().plan(view, 5, np.random.default_rng(0)).positions
    np.testing.assert_allclose(value[found], np.sort(value)[::-1][:5], rtol=1e-9)
