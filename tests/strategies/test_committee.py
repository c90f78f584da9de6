from dataclasses import replace

import numpy as np
import pytest

from aced import InvalidInput
from aced.strategies import Committee
from aced.strategies._uncertainty import margins
from tests.strategies.views import many_view_of, view_of


def test_committee_asks_where_members_differ():
    view = view_of(60)
    found = Committee(members=20).plan(view, 20, np.random.default_rng(0)).positions
    rest = np.setdiff1d(np.flatnonzero(view.open), found)
    margins = np.abs(view.scores())
    assert np.median(margins[found]) < np.median(margins[rest])


def test_a_committee_of_one_is_refused():
    with pytest.raises(InvalidInput, match="members"):
        Committee(1)


@pytest.mark.parametrize("classes", [3, 5])
def test_with_more_classes_members_vote_for_each(classes):
    view, _ = many_view_of(classes, 12 * classes)
    found = Committee(members=12).plan(view, 15, np.random.default_rng(0)).positions
    rest = np.setdiff1d(np.flatnonzero(view.open), found)
    margin = margins(view.scores())
    assert np.median(margin[found]) < np.median(margin[rest])


def test_a_class_without_a_label_gets_no_vote():
    two, four = view_of(60), view_of(60)
    four = replace(four, classes=4, codes=3 * four.codes)  # the labels are of classes 0 and 3
    runs = [Committee(8).plan(view, 20, np.random.default_rng(1)).positions for view in (two, four)]
    np.testing.assert_array_equal(*runs)
