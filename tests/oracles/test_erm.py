import numpy as np
import pytest

from aced.oracles._erm import LinearErm
from aced.pool import Pool


def test_a_column_in_small_units_counts_and_one_that_is_rounding_does_not():
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((200, 3)) * [1e6, 1e-3, 0.1] + [0, 0, 1e6]
    with pytest.warns(UserWarning, match="float32 makes 9 of the 200 values looked at in column 2"):
        erm = LinearErm(Pool(rows))
    assert (erm.inverse > 0).tolist() == [True, True, False]
    for row in range(100):
        erm.add(row, int(rows[row, 1] > 0), 1.0)
    rest = np.arange(100, 200)
    assert (erm.predict(rest) == (rows[rest, 1] > 0)).mean() > 0.9
