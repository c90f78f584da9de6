import numpy as np

from aced import Learner, Pool
from aced.estimators import regress
from tests.helpers import blobs


def test_ridge_margin_asks_next_to_the_boundary_of_the_regression():
    rows, truth = blobs(n=300, p=4)
    learner = Learner(Pool(rows), strategy="ridge-margin", batch_size=30, threads=1)
    first = learner.ask()
    learner.tell(first.ids, truth[first.ids])
    w = regress(rows[first.ids], truth[first.ids])
    away = np.abs(rows @ w[:-1] + w[-1])
    away[first.ids] = np.inf
    second = learner.ask()
    assert set(second.ids) == set(np.argsort(away)[:30])
    assert (second.probabilities == 1).all()
