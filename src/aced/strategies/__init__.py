"""Which rows to ask for next."""

from typing import Any

from aced._errors import InvalidInput
from aced.strategies._base import Plan, Strategy, View
from aced.strategies.aced import Aced
from aced.strategies.margin import Margin
from aced.strategies.passive import Passive

STRATEGIES = {kind.name: kind for kind in (Aced, Passive, Margin)}


def make_strategy(name: str, options: dict[str, Any] | None = None) -> Strategy:
    """The strategy with this name."""
    if name not in STRATEGIES:
        raise InvalidInput(f"strategy must be one of {', '.join(STRATEGIES)}; got {name!r}")
    return STRATEGIES[name](**(options or {}))


__all__ = ["STRATEGIES", "Aced", "Margin", "Passive", "Plan", "Strategy", "View", "make_strategy"]
