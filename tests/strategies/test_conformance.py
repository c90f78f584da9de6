"""Every strategy passes every check."""

import numpy as np
import pytest

from aced import Aced, Margin, Passive, Pool
from aced.design import FixedPoint, Grid, Mirror
from aced.strategies import (
    ActiveCover,
    Badge,
    Bait,
    Blend,
    Cal,
    Committee,
    CoreSet,
    Density,
    Entropy,
    Iwal,
    LeastConfidence,
    RidgeMargin,
    Strata,
)
from aced.strategies._base import Plan
from aced.testing import check_strategy, strategy_checks
from tests.helpers import blobs

ROWS, LABELS = blobs(n=240, p=4)
SMALL_MIRROR = {"draws": 8, "max_draws": 8, "max_steps": 2, "trials": 2}

MAKERS = {
    "aced": Aced,
    "aced, mirror and grid": lambda: Aced(solver=Mirror(search=Grid(budget=6), **SMALL_MIRROR)),
    "aced, grid": lambda: Aced(solver=FixedPoint(draws=12, rounds=2, search=Grid(budget=6))),
    "aced, uniform start": lambda: Aced(start="uniform"),
    "aced, naive": lambda: Aced(estimator="naive"),
    "blend": Blend,
    "bait": Bait,
    "strata": Strata,
    "passive": Passive,
    "margin": Margin,
    "ridge-margin": RidgeMargin,
    "entropy": Entropy,
    "least confidence": LeastConfidence,
    "committee": lambda: Committee(members=6),
    "core-set": CoreSet,
    "badge": Badge,
    "density": Density,
    "cal": Cal,
    "iwal0": lambda: Iwal(0.01),
    "iwal1": lambda: Iwal(0.01, variant=1),
    "ora-iwal0": lambda: Iwal(0.01, oracular=True, passes=1),
    "oac": lambda: ActiveCover(0.1),
    "ora-oac": lambda: ActiveCover(0.1, oracular=True),
}


@pytest.mark.parametrize("check", strategy_checks(), ids=lambda check: check.__name__)
@pytest.mark.parametrize("name", MAKERS)
def test_conformance(name, check):
    check(MAKERS[name], Pool(ROWS), LABELS)


def test_a_strategy_that_asks_for_too_few_rows_fails_the_suite_and_the_check_is_named():
    class Lazy(Passive):
        def plan(self, view, size, rng):
            if len(view.positions) > 50:
                return Plan(np.zeros(0, np.int64), np.zeros(0))
            return super().plan(view, size, rng)

    with pytest.raises(AssertionError, match="check_the_budget_is_used: 80 of 120 rows"):
        check_strategy(Lazy, Pool(ROWS), LABELS)
