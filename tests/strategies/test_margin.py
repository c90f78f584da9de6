import numpy as np

from aced import Learner, Pool
from tests.helpers import blobs

ROWS, LABELS = blobs(n=240, p=4)


def test_margin_asks_for_the_rows_nearest_to_the_boundary():
    pool = Pool(ROWS)
    learner = Learner(pool, strategy="margin", batch_size=12)
    learner.tell(np.arange(60), LABELS[:60])
    queries = learner.ask()
    score = np.abs(learner.classifier.decision_function(ROWS))
    score[:60] = np.inf
    np.testing.assert_array_equal(queries.ids, np.argsort(score, kind="stable")[:12])
    assert (queries.probabilities == 1).all()
