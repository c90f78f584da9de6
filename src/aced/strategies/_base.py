"""What a strategy sees, what it returns, and what every strategy declares."""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from aced._types import Array, Bools, Float64, Ints, Rng
from aced._workers import Workers
from aced.design import Report, Round
from aced.pool import Pool
from aced.representations import Model

Scored = Callable[[Float64], Array]
"""A function of the scores of some rows, with a result for each of them."""


@dataclass(frozen=True)
class View:
    """The state of a learner, as a strategy may read it.

    ``pool`` has the rows in the representation that the labels chose, ``model`` is fitted to them.
    """

    pool: Pool
    workers: Workers
    positions: Ints  # rows with a label
    codes: Ints  # their labels, 0 … classes - 1
    open: Bools  # (n,): rows that may still be drawn
    batch_size: int
    tolerance: float
    scores: Callable[[], Float64 | None]  # the classifier's scores over the pool, as below
    lam: Float64 | None = None  # (n,): the design of the round before, if there was one
    report: Report | None = None
    classes: int = 2  # K: the classes known, given or seen so far; 2 while there are fewer
    blockwise: Callable[[Scored], Array | None] | None = None  # what ``scored`` calls
    model: Model | None = None  # the learner's model of two classes or more, if it has one
    waiting: Ints = field(default_factory=lambda: np.zeros(0, np.int64))
    """Rows that were asked for, or will be, and have no label yet."""

    def scored(self, function: Scored) -> Array | None:
        """What ``function`` makes of the scores of each block of rows, joined over the pool.

        Scores are those of the classifier's decision function, or the logarithms of its probabilities
        if it has no such function: (m,) for two classes, positive for the second, and (m, K) for more,
        in the order of the codes. A class without a label has the score -∞. There are no scores,
        and the result is None, until two classes have labels. ``function`` is defined at the top
        of a module, so that another process can run it. ``scores()`` are all scores at once.
        """
        if self.blockwise is not None:
            return self.blockwise(function)
        scores = self.scores()
        return None if scores is None else function(scores)

    @property
    def round(self) -> int:
        """k = 1, 2, …: one more than the number of batches labelled so far."""
        return 1 + len(self.positions) // self.batch_size


@dataclass(frozen=True)
class Plan:
    """Rows in the order in which they are to be asked for, each with its draw probability.

    This is the probability that the row is the next one, given the rows before it. It is 1
    when the strategy leaves nothing to chance.
    """

    positions: Ints
    probabilities: Float64
    record: Mapping[str, float | int | str] = field(default_factory=dict)  # kept in the history
    lam: Float64 | None = None  # (n,): the design that the rows were drawn from, if there is one
    round: Round | None = None  # the round of that design; a uniform start has none
    explore: float = 0.0
    """γ: at every draw each row that was open had at least the probability γ / (open rows)."""
    least: Float64 | None = None
    """(n,): what each open row had at least at every draw, if more is known than γ says."""


NOTHING = Plan(np.zeros(0, np.int64), np.zeros(0))


class Strategy(ABC):
    """Chooses which rows to ask for next: the base of every strategy, ours and yours.

    A learner takes a fresh copy (``copy.copy``, then ``restore({})``) and calls ``plan`` whenever it
    needs rows. Whatever a strategy remembers between two plans goes through ``state`` and
    ``restore``, so that a learner can be saved, and put back where it was when a plan is interrupted.
    Arguments of ``__init__`` are kept as attributes of the same name, so that ``options`` finds them.
    """

    name: str
    stream: bool = False
    """Whether the strategy judges one row after another and needs each label before the next row."""
    needs_all_labels: bool = False
    """Whether the strategy runs only where every label is known; see ``reveal``."""

    represented: bool = True
    """Whether the strategy sees rows in the learner's representation; else it sees them as they are."""

    two_classes: bool = False
    """Whether the strategy is made for two classes only; a learner then refuses a third."""

    @property
    def floor(self) -> float:
        """γ: the share of uniform draws of every plan, from which certificates follow; 0 without one."""
        return 0.0

    @abstractmethod
    def plan(self, view: View, size: int, rng: Rng) -> Plan:
        """Choose ``size`` open rows of ``view``, at random by ``rng`` alone; fewer if fewer are open.

        A stream may choose fewer rows at a time, and none when it ends.
        """

    def reveal(self, labels: Any) -> None:
        """Take the label, as a code, of every row. Simulations call this before the first plan."""
        return

    def options(self) -> dict[str, Any] | None:
        """The arguments that make this strategy again, or None when one of them cannot be saved."""
        found = {name: getattr(self, name) for name in inspect.signature(type(self)).parameters}
        plain = all(value is None or isinstance(value, str | int | float) for value in found.values())
        return found if plain else None

    def state(self) -> dict[str, Array]:
        """The arrays from which ``restore`` makes a strategy that continues to the bit."""
        return {}

    def restore(self, state: Mapping[str, Array]) -> None:
        """Go back to a ``state``; an empty one is that of a fresh strategy."""
        return
