"""What a strategy sees, what it returns, and what every strategy is."""

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


@dataclass(frozen=True)
class View:
    """The state of a learner, as a strategy may read it."""

    pool: Pool
    workers: Workers
    positions: Ints  # rows with a label
    codes: Ints  # their labels, 0 or 1
    open: Bools  # (n,): rows that may still be drawn
    batch_size: int
    tolerance: float
    scores: Callable[[], Float64 | None]  # the classifier's signed scores over the pool
    lam: Float64 | None = None  # (n,): the design of the round before, if there was one
    report: Report | None = None

    @property
    def round(self) -> int:
        """k = 1, 2, …: one more than the batches labelled so far."""
        return 1 + len(self.positions) // self.batch_size


@dataclass(frozen=True)
class Plan:
    """Rows in the order they are to be asked, each with its draw probability.

    The probability is that of this row being the next one, given those before it;
    1 when the strategy left nothing to chance.
    """

    positions: Ints
    probabilities: Float64
    record: Mapping[str, float | int | str] = field(default_factory=dict)
    lam: Float64 | None = None  # (n,): the design that they were drawn from, if there is one
    round: Round | None = None  # and the round that it belongs to; a uniform start has none


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
    """Whether it judges one row after another and needs each label before the next row."""
    needs_all_labels: bool = False
    """Whether it runs only where every label is known; see ``reveal``."""

    @abstractmethod
    def plan(self, view: View, size: int, rng: Rng) -> Plan:
        """At most ``size`` open rows: fewer only when fewer are open, or when a stream ends."""

    def reveal(self, labels: Any) -> None:
        """Take the label, 0 or 1, of every row. Simulations call this before the first plan."""
        return

    def options(self) -> dict[str, Any] | None:
        """Arguments that rebuild this strategy, or None when they cannot be written down."""
        found = {name: getattr(self, name) for name in inspect.signature(type(self)).parameters}
        plain = all(value is None or isinstance(value, str | int | float) for value in found.values())
        return found if plain else None

    def state(self) -> dict[str, Array]:
        """Arrays that, restored, continue to the bit."""
        return {}

    def restore(self, state: Mapping[str, Array]) -> None:
        """Take a state back; an empty one is that of a fresh strategy."""
        return
