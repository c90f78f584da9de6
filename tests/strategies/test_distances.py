import numpy as np
import pytest
import scipy.sparse

from aced import Pool
from aced._workers import Workers
from aced.strategies._distances import Nearest
from tests.strategies.views import ROWS


def test_distances_grow_no_further_than_the_nearest():
    nearest = Nearest(Pool(ROWS), Workers(1))
    nearest.add(np.array([3, 7, 11]))
    expected = np.square(ROWS[:, None] - ROWS[[3, 7, 11]]).sum(axis=2).min(axis=1)
    np.testing.assert_allclose(nearest.squares, expected, atol=1e-4)


@pytest.mark.parametrize("sparse", [False, True])
def test_factors_give_distances_of_outer_products(sparse):
    rows = np.where(np.abs(ROWS) < 0.5, 0, ROWS) if sparse else ROWS
    factors = np.random.default_rng(0).normal(size=(len(rows), 5)).astype(np.float32)
    wide = scipy.sparse.csr_matrix((len(rows), 5000), dtype=np.float32)
    pool = Pool(scipy.sparse.hstack([scipy.sparse.csr_matrix(rows), wide]) if sparse else rows)
    assert pool.sparse == sparse
    nearest = Nearest(pool, Workers(1), factors, bias=True)
    nearest.add(np.array([3, 7, 11]))
    whole = np.column_stack([rows, np.ones(len(rows))])
    embedding = np.einsum("nk,np->nkp", factors, whole).reshape(len(rows), -1)
    expected = np.square(embedding[:, None] - embedding[[3, 7, 11]]).sum(axis=2).min(axis=1)
    np.testing.assert_allclose(nearest.squares, expected, rtol=1e-4, atol=1e-3)
