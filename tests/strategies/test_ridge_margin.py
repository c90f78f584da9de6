import numpy as np

from aced import Learner, Pool
from aced.estimators import regress
from tests.helpers import blobs, many_blobs


def test_ridge_margin_asks_next_to_the_boundary_of_the_regression():
    rows, truth = blobs(n=300, p=4)
    learner = Learner(Pool(rows), strategy="ridge-margin", l2=1.0, batch_size=30, threads=1)
    first = learner.ask()
    learner.tell(first.ids, truth[first.ids])
    w = regress(rows[first.ids], truth[first.ids])[0]
    away = np.abs(rows @ w[:-1] + w[-1])
    away[first.ids] = np.inf
    second = learner.ask()
    assert set(second.ids) == set(np.argsort(away)[:30])
    assert (second.probabilities == 1).all()


def test_with_many_classes_it_asks_where_the_first_two_are_nearest():
    rows, truth = many_blobs(n=300, p=4, classes=5)
    learner = Learner(Pool(rows), strategy="ridge-margin", l2=1.0, batch_size=30, threads=1)
    first = learner.ask()
    learner.tell(first.ids, truth[first.ids])
    w = regress(rows[first.ids], truth[first.ids], 5)
    scores = np.sort(np.column_stack([np.zeros(300), rows @ w[:, :-1].T + w[:, -1]]), axis=1)
    lead = scores[:, -1] - scores[:, -2]
    lead[first.ids] = np.inf
    assert set(learner.ask().ids) == set(np.argsort(lead)[:30])


def test_in_another_representation_the_regression_is_fitted_to_its_rows():
    rows, truth = blobs(n=300, p=4)
    learner = Learner(
        Pool(rows), strategy="ridge-margin", representation="rbf", batch_size=30, threads=1
    )
    first = learner.ask()
    learner.tell(first.ids, truth[first.ids])
    second = learner.ask()
    lifted = learner._represented()[0].rows()
    assert lifted.shape[1] > 20
    w = regress(lifted[first.ids], truth[first.ids])[0]
    away = np.abs(lifted @ w[:-1] + w[-1])
    away[first.ids] = np.inf
    assert set(second.ids) == set(np.argsort(away)[:30])
