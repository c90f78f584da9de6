import numpy as np

from aced.estimators import naive


def test_it_is_the_signed_average_and_zero_without_labels():
    positions = np.array([3, 3, 3, 0])
    mu = naive(5, positions, np.array([1, 1, 0, 0]))
    np.testing.assert_allclose(mu, [-1, 0, 0, 1 / 3, 0], rtol=1e-6)


def test_no_labels_at_all():
    assert not naive(4, np.array([], dtype=int), np.array([], dtype=int)).any()
