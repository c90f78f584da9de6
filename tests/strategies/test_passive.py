import numpy as np

from aced import Learner, Pool
from tests.helpers import blobs


def test_passive_probabilities_are_uniform():
    queries = Learner(Pool(blobs(n=240, p=4)[0]), strategy="passive").ask(5)
    np.testing.assert_allclose(queries.probabilities, 1 / np.arange(240, 235, -1))
