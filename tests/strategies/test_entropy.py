import numpy as np

from aced.strategies import make_strategy
from tests.strategies.views import view_of


def test_with_two_classes_it_orders_as_margin_does():
    view, rng = view_of(), np.random.default_rng(0)
    margin = make_strategy("margin").plan(view, 40, rng).positions
    np.testing.assert_array_equal(make_strategy("entropy").plan(view, 40, rng).positions, margin)
