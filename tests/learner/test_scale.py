"""The unit in which features are measured does not decide how well the default classifier does."""

from functools import cache

import numpy as np
import pytest
import scipy.sparse
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression

from aced import Learner, Pool
from aced.learner import _classifier

ROWS, DIGITS = load_digits(return_X_y=True)
ROWS, LABELS = ROWS[:700], (DIGITS[:700] >= 5).astype(int)
POOL, HELD = slice(0, 500), slice(500, 700)


def score(rows, strategy, folder=None, **arguments):
    """The accuracy on rows that are not in the pool."""
    learner = Learner(rows[POOL], strategy=strategy, budget=120, batch_size=30, **arguments)
    while queries := learner.ask():
        learner.tell(queries.ids, LABELS[queries.ids])
    if folder is not None:
        learner.save(folder / "saved")
        learner = Learner.load(folder / "saved", rows[POOL])
    return learner.classifier.score(rows[HELD], LABELS[HELD])


@cache
def plain_score(strategy):
    return score(ROWS, strategy)


@pytest.mark.parametrize("strategy", ["aced", "passive", "margin"])
@pytest.mark.parametrize("scale", [1e-2, 1e-3, 1e-4, 1e-5, 1e-10, 1e-13])
def test_rows_in_a_tiny_unit_score_like_the_rows(strategy, scale, tmp_path):
    assert score(ROWS * scale, strategy, tmp_path) >= plain_score(strategy) - 0.05 >= 0.7


def test_sparse_rows_in_a_tiny_unit_score_like_the_rows():
    wide = scipy.sparse.hstack([scipy.sparse.csr_matrix(ROWS), scipy.sparse.csr_matrix((700, 5000))])
    plain, tiny = (score((wide * scale).tocsr(), "margin") for scale in (1, 1e-10))
    assert tiny >= plain - 0.05 >= 0.7


def test_without_a_penalty_too():
    assert score(ROWS * 1e-10, "passive", l2=0) >= score(ROWS, "passive", l2=0) - 0.05


@pytest.mark.parametrize("scale", [1, 2, 2.0**30])
def test_with_a_fixed_penalty_ordinary_rows_are_fitted_as_they_are(scale):
    rows = (ROWS[:100] / 16 * scale).astype(np.float32)
    learner = Learner(rows, l2=1)
    learner.tell(np.arange(100), LABELS[:100])
    plain = LogisticRegression(C=1.0, tol=1e-3, max_iter=1000).fit(rows, LABELS[:100])
    np.testing.assert_array_equal(learner.classifier.coef_, plain.coef_)


@pytest.mark.parametrize("how", [{"l2": 1}, {"representation": "linear"}])
def test_the_scale_is_folded_into_the_coefficients_without_rounding(how):
    rows = (ROWS[:100] / 16).astype(np.float32)  # the largest number is 1
    learners = [Learner(rows * np.float32(scale), **how) for scale in (1, 2.0**-40)]
    for learner in learners:
        learner.tell(np.arange(100), LABELS[:100])
    plain, tiny = (learner.classifier for learner in learners)
    np.testing.assert_array_equal(tiny.coef_, plain.coef_ * 2.0**40)
    np.testing.assert_array_equal(tiny.intercept_, plain.intercept_)


def test_a_classifier_of_the_users_own_gets_the_rows_as_they_are():
    learner = Learner(ROWS[:100] * 1e-10, classifier=LogisticRegression())
    learner.tell(np.arange(100), LABELS[:100])
    plain = LogisticRegression(random_state=0).fit((ROWS[:100] * 1e-10).astype(np.float32), LABELS[:100])
    np.testing.assert_array_equal(learner.classifier.coef_, plain.coef_)


def test_pools_of_zeros_have_no_scale():
    assert _classifier.unit(Pool(np.zeros((3, 2)))) == 1
