"""Conformance suites: what every oracle and every strategy must do, ours and yours.

A suite is a list of small checks. Each has a name that says what is required, and raises
AssertionError with a sentence. They need only the library. With pytest, each check is a test::

    @pytest.mark.parametrize("check", strategy_checks(), ids=lambda check: check.__name__)
    def test_my_strategy(check):
        check(MyStrategy, pool, labels)

``check_strategy`` and ``check_oracle`` run a whole suite; the error names the check that failed.
"""

from aced.testing._oracles import check_oracle as check_oracle, oracle_checks as oracle_checks
from aced.testing._strategies import (
    check_strategy as check_strategy,
    strategy_checks as strategy_checks,
)
