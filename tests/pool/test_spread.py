import numpy as np
import pytest

from aced.pool._spread import constant, inverse_spread, unit


@pytest.mark.parametrize("number", [0.0, 0.1, -7.0, 1e-30, 3e30])
def test_a_repeated_float32_is_constant_and_one_that_varies_is_not(number):
    rows = np.full((5000, 2), number, np.float32)
    rows[::2, 1] = np.float32(number) * np.float32(1.001) + np.float32(1e-32)
    spread, centre = rows.std(axis=0, dtype=float), rows.mean(axis=0, dtype=float)
    assert constant(spread, centre).tolist() == [True, False]


def test_a_constant_column_has_the_inverse_spread_zero():
    found = inverse_spread(np.array([2.0, 0.0, 1e-13, 1e-7]), np.array([1.0, 5.0, 0.0, 0.0]))
    np.testing.assert_allclose(found, [0.5, 0, 0, 1e7])  # the third is noise beside the first
    assert inverse_spread(np.zeros(2), np.zeros(2)).tolist() == [0, 0]


def test_doubles_are_told_from_rounding_at_their_own_precision():
    n = 100_000
    rows = np.full((n, 3), 0.1)
    rows[:, 1] = 1.7e9 + np.arange(n) % 50  # seconds, which float32 would not tell apart
    rows[:, 2] = 1e-20 * (np.arange(n) % 2)
    spread, centre = rows.std(axis=0), rows.mean(axis=0)
    assert spread[0] > 0  # the rounding of the mean
    np.testing.assert_array_equal(unit(spread, centre, n), [1.0, spread[1], spread[2]])
