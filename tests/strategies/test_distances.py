import numpy as np

from aced import Pool
from aced._workers import Workers
from aced.strategies._distances import Nearest
from tests.strategies.views import ROWS


def test_distances_grow_no_further_than_the_nearest():
    nearest = Nearest(Pool(ROWS), Workers(1))
    nearest.add(np.array([3, 7, 11]))
    expected = np.square(ROWS[:, None] - ROWS[[3, 7, 11]]).sum(axis=2).min(axis=1)
    np.testing.assert_allclose(nearest.squares, expected, atol=1e-4)
