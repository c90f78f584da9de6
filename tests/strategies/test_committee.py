import numpy as np
import pytest

from aced import InvalidInput
from aced.strategies import Committee
from tests.strategies.views import view_of


def test_committee_asks_where_members_differ():
    view = view_of(60)
    found = Committee(members=20).plan(view, 20, np.random.default_rng(0)).positions
    rest = np.setdiff1d(np.flatnonzero(view.open), found)
    margins = np.abs(view.scores())
    assert np.median(margins[found]) < np.median(margins[rest])


def test_a_committee_of_one_is_refused():
    with pytest.raises(InvalidInput, match="members"):
        Committee(1)
