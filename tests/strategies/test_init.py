import pytest

from aced import InvalidInput
from aced.strategies import make_strategy


def test_unknown_strategies_are_named():
    with pytest.raises(
        InvalidInput,
        match="strategy must be one of blend, bait, strata, aced, aced-paper, passive, margin",
    ):
        make_strategy("guess")
