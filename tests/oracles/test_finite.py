import numpy as np

from aced.oracles import FiniteOracle, argmax
from aced.pool import Pool
from tests.helpers import thresholds


def test_finite_argmax_is_brute_force():
    pool = Pool(np.arange(12.0)[:, None])
    table = thresholds(12)
    v = np.random.default_rng(0).standard_normal((50, 12))
    labels, values = argmax(FiniteOracle(pool, table), v)
    scores = v @ table.T
    np.testing.assert_allclose(values, scores.max(axis=1), rtol=1e-5, atol=1e-5)
    np.testing.assert_array_equal(labels, table[scores.argmax(axis=1)])
