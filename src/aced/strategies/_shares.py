"""The draws of one batch of blend, each from one of four parts; :mod:`._blend` has the formula."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from aced._types import Bools, Float64, Ints, Rng
from aced.strategies._fisher import Fisher


@dataclass(frozen=True)
class Shares:
    """The shares of the draws; strata have what the others leave."""

    explore: float  # γ
    tell: float  # τ
    bait: float  # β

    @property
    def by_telling(self) -> float:
        return (1 - self.explore) * self.tell

    @property
    def by_gain(self) -> float:
        return (1 - self.explore) * self.bait

    @property
    def by_strata(self) -> float:
        return (1 - self.explore) * max(0.0, 1 - self.tell - self.bait)

    def always(self, telling: Float64) -> Float64:
        """The least q of open rows with these d (m,), at the first draw and at all after it."""
        return np.asarray(self.explore / len(telling) + self.by_telling * telling / telling.sum())


@dataclass(frozen=True)
class Near:
    """Open rows that gains and strata look at."""

    rows: Ints  # (m,): their positions
    mass: Float64  # (m,): λ
    strata: list[Ints]  # places among ``rows``, one array for each draw
    fisher: Fisher | None  # over these rows, then the labelled ones


@dataclass
class Draws:
    """The draws of one batch from the rows that were ``open`` (n,) before it."""

    near: Near
    telling: Float64  # (n,): d
    open: Bools
    shares: Shares
    place: Ints = field(init=False)  # (n,): where a row stands in ``near``, -1 elsewhere
    turn: Ints = field(init=False)  # (m,): the draw at which a row's stratum has its turn
    left: int = field(init=False)  # open rows
    told: float = field(init=False)  # Σ d over them

    def __post_init__(self) -> None:
        self.open = self.open.copy()
        self.place = np.full(len(self.open), -1, np.int64)
        self.place[self.near.rows] = np.arange(len(self.near.rows))
        self.turn = np.zeros(len(self.near.rows), np.int64)
        for t, stratum in enumerate(self.near.strata):
            self.turn[stratum] = t
        self.left = int(self.open.sum())
        self.told = float(self.telling[self.open].sum())

    def draw(self, size: int, rng: Rng) -> tuple[Ints, Float64]:
        """Rows in order, and the probability of each."""
        rows = np.flatnonzero(self.open)
        evenly = iter(rng.permutation(rows).tolist())
        race = rng.exponential(size=len(rows)) / self.telling[rows]  # the first of those open is by d
        by_telling = iter(rows[np.argsort(race, kind="stable")].tolist() if self.shares.tell else [])
        drawn, chances = np.zeros(size, np.int64), np.zeros(size)
        for t, luck in enumerate(rng.random(size)):
            row, chances[t] = self._next(t, luck, evenly, by_telling, rng)
            drawn[t], self.open[row] = row, False
            self.left -= 1
            self.told -= float(self.telling[row])
            if self.near.fisher is not None and self.place[row] >= 0:
                self.near.fisher.take(int(self.place[row]))
        return drawn, chances

    def _next(
        self, t: int, luck: float, evenly: Iterator[int], by_telling: Iterator[int], rng: Rng
    ) -> tuple[int, float]:
        """The row of the t-th draw, and its probability."""
        inside, top, shares = self._inside(t), self._top(), self.shares
        by_gain = shares.by_gain if top is not None else 0.0
        by_strata = shares.by_strata if len(inside) else 0.0
        if luck < by_gain:
            assert top is not None
            row = top
        elif luck < by_gain + by_strata:
            mass = self.near.mass[inside]
            row = int(self.near.rows[rng.choice(inside, p=mass / mass.sum())])
        else:
            told = luck < by_gain + by_strata + shares.by_telling
            row = next(row for row in (by_telling if told else evenly) if self.open[row])
        lost = shares.by_gain - by_gain  # it is drawn uniformly
        q = self._probability(t, row) + by_gain * (row == top) + lost / self.left
        return row, float(min(q, 1.0))

    def _inside(self, t: int) -> Ints:
        """The open rows of the stratum whose turn is the t-th draw, as places in ``near``."""
        stratum = self.near.strata[t]
        return stratum[self.open[self.near.rows[stratum]]]

    def _probability(self, t: int, row: int) -> float:
        """The part of q that does not come from gains, at the t-th draw.

        Of strata it is the mean over those that may have this turn: all whose turn has not come.
        """
        d = float(self.telling[row])
        q = self.shares.explore / self.left + self.shares.by_telling * d / max(self.told, d)
        if not self.shares.by_strata:
            return q
        place, turns = self.place[row], range(t, len(self.near.strata))
        empty = sum(not len(self._inside(turn)) for turn in turns)
        own = 0.0
        if place >= 0 and self.turn[place] >= t:
            own = float(self.near.mass[place] / self.near.mass[self._inside(self.turn[place])].sum())
        return q + self.shares.by_strata * (empty / self.left + own) / len(turns)

    def _top(self) -> int | None:
        """The open row with the largest gain."""
        near = self.near
        if near.fisher is None or not self.shares.bait:
            return None
        free = self.open[near.rows]
        if not free.any():
            return None
        gains = near.fisher.gains()[: len(free)]
        return int(near.rows[np.where(free, gains, -1.0).argmax()])
