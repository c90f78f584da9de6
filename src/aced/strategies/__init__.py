"""Strategies: they choose which rows to ask for next."""

import copy
import inspect
from collections.abc import Callable
from functools import partial
from typing import Any

from aced._check import probability
from aced._errors import InvalidInput
from aced.strategies._aced import Aced as Aced
from aced.strategies._aced_paper import AcedPaper as AcedPaper
from aced.strategies._badge import Badge as Badge
from aced.strategies._base import Plan as Plan, Strategy as Strategy, View as View
from aced.strategies._blend import Bait as Bait, Blend as Blend, Strata as Strata
from aced.strategies._cal import Cal as Cal
from aced.strategies._committee import Committee as Committee
from aced.strategies._coreset import CoreSet as CoreSet
from aced.strategies._cover import ActiveCover as ActiveCover
from aced.strategies._density import Density as Density
from aced.strategies._entropy import Entropy as Entropy
from aced.strategies._explored import Explored as Explored
from aced.strategies._iwal import Iwal as Iwal
from aced.strategies._least_confidence import LeastConfidence as LeastConfidence
from aced.strategies._margin import Margin as Margin
from aced.strategies._passive import Passive as Passive
from aced.strategies._ridge_margin import RidgeMargin as RidgeMargin
from aced.strategies._uncertainty import doubts as doubts
from aced.strategies._vw_cover import VowpalCover as VowpalCover

STRATEGIES: dict[str, Callable[..., Strategy]] = {
    "blend": Blend,
    "bait": Bait,
    "strata": Strata,
    "aced": Aced,
    "aced-paper": AcedPaper,
    "passive": Passive,
    "margin": Margin,
    "ridge-margin": RidgeMargin,
    "entropy": Entropy,
    "least-confidence": LeastConfidence,
    "committee": Committee,
    "core-set": CoreSet,
    "badge": Badge,
    "density": Density,
    "cal": Cal,
    "iwal0": partial(Iwal, variant=0),
    "iwal1": partial(Iwal, variant=1),
    "ora-iwal0": partial(Iwal, variant=0, oracular=True),
    "ora-iwal1": partial(Iwal, variant=1, oracular=True),
    "oac": ActiveCover,
    "ora-oac": partial(ActiveCover, oracular=True),
    "oac-vw": VowpalCover,
}


DEFAULT = "blend"
"""The strategy of learners and projects that name none."""


def option_names(name: Any) -> set[str]:
    """The options that the strategy with this name takes."""
    return set(inspect.signature(_builder(name)).parameters)


def make_strategy(name: Any, options: dict[str, Any] | None = None) -> Strategy:
    """The strategy with this name and these options, or a fresh copy of a strategy object."""
    if isinstance(name, Strategy):
        strategy = copy.copy(name)
        strategy.restore({})
        return strategy
    return _builder(name)(**(options or {}))


def with_floor(strategy: Any, explore: Any) -> Strategy:
    """The strategy, given as in :func:`make_strategy`, with the share ``explore`` of uniform draws."""
    probability("explore", explore)
    if isinstance(strategy, str) and "explore" in option_names(strategy):
        return make_strategy(strategy, {"explore": explore})
    made = make_strategy(strategy)
    if made.stream:
        raise InvalidInput(
            "explore", f"is for draws of batches, and {made.name} is a stream; leave it out"
        )
    return made if made.floor >= explore else Explored(made, explore)


def _builder(name: Any) -> Callable[..., Strategy]:
    if not isinstance(name, str) or name not in STRATEGIES:
        raise InvalidInput(
            "strategy",
            f"must be one of {', '.join(STRATEGIES)}, or an aced.strategies.Strategy; got {name!r}",
        )
    return STRATEGIES[name]
