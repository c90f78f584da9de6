"""Which rows to ask for next."""

import copy
import inspect
from collections.abc import Callable
from functools import partial
from typing import Any

from aced._errors import InvalidInput
from aced.strategies._base import Plan, Strategy, View
from aced.strategies.aced import Aced
from aced.strategies.aced_paper import AcedPaper
from aced.strategies.badge import Badge
from aced.strategies.cal import Cal
from aced.strategies.committee import Committee
from aced.strategies.coreset import CoreSet
from aced.strategies.cover import ActiveCover
from aced.strategies.density import Density
from aced.strategies.entropy import Entropy
from aced.strategies.iwal import Iwal
from aced.strategies.least_confidence import LeastConfidence
from aced.strategies.margin import Margin
from aced.strategies.passive import Passive
from aced.strategies.ridge_margin import RidgeMargin
from aced.strategies.vw_cover import VowpalCover

STRATEGIES: dict[str, Callable[..., Strategy]] = {
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


def option_names(name: Any) -> set[str]:
    """The options that the strategy with this name takes."""
    return set(inspect.signature(_builder(name)).parameters)


def make_strategy(name: Any, options: dict[str, Any] | None = None) -> Strategy:
    """The strategy with this name, or a fresh copy of a strategy object."""
    if isinstance(name, Strategy):
        strategy = copy.copy(name)
        strategy.restore({})
        return strategy
    return _builder(name)(**(options or {}))


def _builder(name: Any) -> Callable[..., Strategy]:
    if not isinstance(name, str) or name not in STRATEGIES:
        raise InvalidInput(
            "strategy",
            f"must be one of {', '.join(STRATEGIES)}, or an aced.strategies.Strategy; got {name!r}",
        )
    return STRATEGIES[name]


__all__ = [
    "STRATEGIES",
    "Aced",
    "AcedPaper",
    "ActiveCover",
    "Badge",
    "Cal",
    "Committee",
    "CoreSet",
    "Density",
    "Entropy",
    "Iwal",
    "LeastConfidence",
    "Margin",
    "Passive",
    "Plan",
    "RidgeMargin",
    "Strategy",
    "View",
    "VowpalCover",
    "make_strategy",
    "option_names",
]
