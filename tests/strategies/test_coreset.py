import numpy as np
import pytest

from aced.strategies import CoreSet
from tests.strategies.views import ROWS, view_of


def test_core_set_is_farthest_first():
    view = view_of()
    found = CoreSet().plan(view, 12, np.random.default_rng(0)).positions
    centres = list(range(30))
    for row in found.tolist():
        distance = np.linalg.norm(ROWS[:, None] - ROWS[centres], axis=2).min(axis=1)
        distance[~view.open] = -1
        assert distance[row] == pytest.approx(distance.max(), rel=1e-4)
        centres.append(row)
