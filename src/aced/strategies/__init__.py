"""Which rows to ask for next."""

import copy
from typing import Any

from aced._errors import InvalidInput
from aced.strategies._base import Plan, Strategy, View
from aced.strategies.aced import Aced
from aced.strategies.margin import Margin
from aced.strategies.passive import Passive

STRATEGIES = {kind.name: kind for kind in (Aced, Passive, Margin)}


def make_strategy(name: Any, options: dict[str, Any] | None = None) -> Strategy:
    """The strategy with this name, or a fresh copy of a strategy object."""
    if not isinstance(name, str | type) and all(hasattr(name, part) for part in ("plan", "restore")):
        strategy: Strategy = copy.copy(name)
        strategy.restore({})
        return strategy
    if not isinstance(name, str) or name not in STRATEGIES:
        raise InvalidInput(f"strategy must be one of {', '.join(STRATEGIES)}; got {name!r}")
    return STRATEGIES[name](**(options or {}))


__all__ = ["STRATEGIES", "Aced", "Margin", "Passive", "Plan", "Strategy", "View", "make_strategy"]
