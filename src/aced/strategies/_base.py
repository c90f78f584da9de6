"""What a strategy sees and what it returns."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from aced._types import Array, Bools, Float64, Ints
from aced._workers import Workers
from aced.design import Report
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


class Strategy(Protocol):
    """Chooses which rows to ask for next.

    One that judges a stream sets ``one_by_one`` and is asked for a row at a time. One that can
    run only where every label is known has ``reveal(labels)``, which simulations call first
    with the label, 0 or 1, of every row.
    """

    name: str

    def plan(self, view: View, size: int, rng: np.random.Generator) -> Plan:
        """At most ``size`` open rows (fewer only when fewer are open)."""

    def options(self) -> dict[str, Any] | None:
        """Arguments that rebuild this strategy, or None when they cannot be written down."""

    def state(self) -> dict[str, Array]:
        """Arrays that, restored, continue to the bit."""

    def restore(self, state: Mapping[str, Array]) -> None:
        """Take a state back; an empty one is that of a fresh strategy."""


class Stateless:
    """For strategies that remember nothing between plans."""

    def options(self) -> dict[str, Any] | None:
        return {}

    def state(self) -> dict[str, Array]:
        return {}

    def restore(self, state: Mapping[str, Array]) -> None:
        return None
