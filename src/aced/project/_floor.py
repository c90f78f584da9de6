"""The strategy of a project, with its share of uniform draws."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from aced.strategies import Strategy


def floored(name: str, share: float) -> Strategy:
    """The strategy of this name; with a ``share`` of 0 it has no uniform draws but its own start."""
    from aced.strategies import make_strategy, option_names, with_floor

    made = make_strategy(name)
    if made.stream:  # it judges rows one by one, and nothing follows from its draws
        return made
    if share:
        return with_floor(name, share)
    return make_strategy(name, {"explore": 0.0} if "explore" in option_names(name) else {})
