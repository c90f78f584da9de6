"""What a learner keeps of its draws, and what can be said of the pool from them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from aced import certificates
from aced._check import choice
from aced._errors import InvalidInput
from aced._types import Array, Bools
from aced.certificates import Drawn, Frozen
from aced.learner._labels import Classes, listed
from aced.strategies import Plan, Strategy


class Evidence:
    """The draws over a pool of ``n`` rows, with what the classifier of the time said before each."""

    def __init__(self, n: int) -> None:
        self.drawn = Drawn(n)

    def frozen(self, labels: int, judged: Callable[[], tuple[Array, Array]]) -> Frozen | None:
        """The classifier that is to be frozen now that there are so many labels, if one is.

        ``judged`` gives what it says of every row, and how likely it thinks itself wrong.
        """
        return Frozen(labels, *judged()) if self.drawn.wants(labels) else None

    def keep(self, open_rows: Bools, plan: Plan, frozen: Frozen | None) -> None:
        """Keep the draws of a plan, which come after the classifier was ``frozen``."""
        if frozen is not None:
            self.drawn.freeze(frozen)
        drawn = plan.positions, plan.probabilities, plan.explore
        self.drawn.add(open_rows, *drawn, least=plan.least, design=plan.lam)


def asked(strategy: Strategy, classes: Classes, confidence: float, of: str, label: Any) -> int:
    """The same as :func:`asked_of`, for a learner with this strategy."""
    check_stops(strategy)
    return asked_of(classes, confidence, of, label)


def check_stops(strategy: Strategy) -> None:
    """Refuse a strategy whose draws never allow a certificate."""
    if strategy.stream:
        raise InvalidInput(
            "strategy", f"{strategy.name} is a stream, whose draws say nothing of the pool; use blend"
        )
    if not strategy.floor:
        raise InvalidInput(
            "strategy",
            f"{strategy.name} has no share of uniform draws here, and only these speak of every row; "
            "pass explore=0.1, or use passive",
        )


def asked_of(classes: Classes, confidence: float, of: str, label: Any) -> int:
    """The code of the class that is meant, once it is clear that the question has an answer."""
    choice("of", of, certificates.MEASURES)
    if not 0 < confidence < 1:
        raise InvalidInput("confidence", f"must be between 0 and 1, say 0.95, got {confidence!r}")
    if of == "accuracy":
        if label is not None:
            raise InvalidInput("label", 'goes with of="recall" or of="precision"; leave it out')
        return 0
    if label not in classes.values:
        known = listed(classes.values) if classes.values else "those that will be told"
        raise InvalidInput("label", f"must be the class that is meant, one of {known}, got {label!r}")
    return classes.values.index(label)
