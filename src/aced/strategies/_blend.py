"""Blend (default): part uniform, part by Fisher gain, part by strata of doubtful rows.

====== ============ ===========================================================
symbol name in code meaning
====== ============ ===========================================================
γ      explore      the share of uniform draws, 0.1 by default
β      bait         the share of the rest that takes the row of the largest gain
u_i    doubt        1 - (p₁ - p₂), from the model's two largest probabilities
λ_i    mass         u_i^8, at most 1 / b of the whole: the design of a batch of b
S_i                 the stratum of row i (:mod:`aced.strategies._strata`)
m                   the strata whose turn has not come
====== ============ ===========================================================

The strata of a batch have their turns in random order. So the next row of a batch is drawn with the
probability

    q(i) = γ / open rows + (1 - γ) β [i has the largest gain] + (1 - γ)(1 - β) λ_i / (m λ(S_i)),

over the rows still open, the last part if the turn of S_i has not come. This is known exactly, and it is
positive for every open row. If a stratum has no open row left, its part is drawn uniformly. The gain is
that of :mod:`aced.strategies._fisher`, brought up to date after every row; it reckons with the labels of
rows that wait for them. Until two classes have labels all draws are uniform.

Gains look ahead to where labels lower the variance most, and are best on most tasks; strata are near
to the boundary everywhere at once, and lose least where gains mislead; uniform draws see what both
overlook. docs/design-log.md has what was tried beside it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from aced._check import fraction, share
from aced._types import Array, Bools, Float64, Ints, Rng
from aced.certificates import draw_telling
from aced.design import draw, systematic
from aced.representations import Model, Representations
from aced.strategies._base import Plan, Strategy, View
from aced.strategies._fisher import Fisher
from aced.strategies._sketch import find_axes, sketched
from aced.strategies._strata import capped, strata
from aced.strategies._uncertainty import probabilities

POWER = 8
"""λ is this power of the doubt."""
SMALLEST = 1e-9
"""The least λ, relative to the largest: a stratum of certain rows can be drawn from too."""
MOST_ROWS = 2**18
"""Gains and strata look at no more open rows than this, which λ chooses."""


class Blend(Strategy):
    """Uniform draws, draws by Fisher gain and by strata, each with its share.

    ``explore`` is the share of uniform draws, ``bait`` the share of the rest that goes to the row of the
    largest gain.
    """

    name = "blend"

    def __init__(self, *, explore: float = 0.1, bait: float = 0.5) -> None:
        self.explore = fraction("explore", explore)
        self.bait = share("bait", bait)
        self._own: Representations | None = None

    @property
    def floor(self) -> float:
        return self.explore

    def plan(self, view: View, size: int, rng: Rng) -> Plan:
        gaps, model = _gaps(view), self._model(view)
        open_rows = np.flatnonzero(view.open)
        size = min(size, len(open_rows))
        if gaps is not None and model is None and size:
            return self._by_proposals(view, gaps, size, rng)
        if gaps is None or model is None or size == 0:
            uniform = view.open / max(1, len(open_rows))
            rows = draw([uniform], view.open, size, rng)
            return Plan(*rows, {"doubt": 1.0}, uniform, explore=1.0)
        mass = np.power(1 - gaps[open_rows], POWER)
        mass = capped(mass + SMALLEST * max(float(mass.max()), SMALLEST), 1 / size)
        near = self._near(view, model, gaps, mass, open_rows, size, rng)
        drawn = _Draws(near, view.open.copy(), self.explore, self.bait).draw(size, rng)
        lam = np.zeros(len(gaps))
        lam[open_rows] = self.explore / len(open_rows) + (1 - self.explore) * mass
        doubt = {"doubt": float((1 - gaps[open_rows]).mean())}
        return Plan(*drawn, doubt, lam, explore=self.explore)

    def _by_proposals(self, view: View, gaps: Float64, size: int, rng: Rng) -> Plan:
        """Before there is a model: draws that tell how far proposals are right."""
        doubt = np.asarray((1 - gaps) / 2, dtype=np.float32)
        drawn = draw_telling(doubt, view.open, self.explore, size, rng)
        record = {"doubt": float((1 - gaps[view.open]).mean())}
        return Plan(drawn.rows, drawn.probabilities, record, explore=self.explore)

    def _model(self, view: View) -> Model | None:
        """The learner's model; if it has none, a linear one for gains. None before two classes."""
        if view.model is not None or len(np.unique(view.codes)) < 2:
            return view.model
        if self._own is None or self._own.pool is not view.pool:
            self._own = Representations(view.pool, view.workers, "linear")
        choice = self._own.choose(None, view.positions, view.codes)
        return self._own.fit(choice, view.positions, view.codes)

    def _near(
        self,
        view: View,
        model: Model,
        gaps: Float64,
        mass: Float64,
        open_rows: Ints,
        size: int,
        rng: Rng,
    ) -> _Near:
        """The open rows that gains and strata look at, with all that these need."""
        chosen, copies = np.arange(len(open_rows)), np.ones(len(open_rows))
        if len(open_rows) > MOST_ROWS:
            chance = np.minimum(MOST_ROWS * (mass + 1 / len(mass)) / 2, 1.0)
            chosen = systematic(chance, rng)
            copies = 1 / chance[chosen]
        rows = np.concatenate([open_rows[chosen], view.positions, view.waiting])
        axes = find_axes(model.pool, model.penalty)
        if len(rows) == len(view.open):
            places = sketched(model.pool, view.workers, axes, np.arange(len(rows)))[rows]
        else:
            places = sketched(model.pool, view.workers, axes, rows)
        count = len(chosen)
        known = np.arange(count, count + len(view.positions))
        fisher = None
        if self.bait > 0:
            stands = np.append(copies, np.ones(len(rows) - count))
            fisher = Fisher(places, gaps[rows], known, stands)
            for place in range(count + len(known), len(rows)):
                fisher.take(place)
        weight = capped(mass[chosen] * copies, 1 / size)
        parts = [np.arange(count)] * size
        if self.bait < 1:
            parts = strata(places[:count, :-1], weight, size, rng)
        return _Near(rows[:count], weight, [parts[k] for k in rng.permutation(size)], fisher)

    def restore(self, state: Any) -> None:
        self._own = None


@dataclass(frozen=True)
class _Near:
    """Open rows that can be drawn other than uniformly."""

    rows: Ints  # (m,): their positions
    mass: Float64  # (m,): λ
    strata: list[Ints]  # places among ``rows``, one array for each draw
    fisher: Fisher | None  # over these rows, then the labelled ones


@dataclass
class _Draws:
    """The draws of one batch."""

    near: _Near
    open: Bools  # (n,)
    explore: float
    bait: float
    place: Ints = field(init=False)  # (n,): where a row stands in ``near``, -1 elsewhere
    turn: Ints = field(
        init=False
    )  # (m,): the draw at which the stratum of a row of ``near`` has its turn

    def __post_init__(self) -> None:
        self.place = np.full(len(self.open), -1, np.int64)
        self.place[self.near.rows] = np.arange(len(self.near.rows))
        self.turn = np.zeros(len(self.near.rows), np.int64)
        for t, stratum in enumerate(self.near.strata):
            self.turn[stratum] = t

    def draw(self, size: int, rng: Rng) -> tuple[Ints, Float64]:
        """Rows in order, and the probability of each."""
        drawn = [self._next(t, rng) for t in range(size)]
        rows = np.array([row for row, _ in drawn], dtype=np.int64)
        return rows, np.array([q for _, q in drawn])

    def _next(self, t: int, rng: Rng) -> tuple[int, float]:
        near, left = self.near, np.flatnonzero(self.open)
        inside = self._inside(t)
        top = self._top()
        by_gain = (1 - self.explore) * self.bait if top is not None else 0.0
        by_strata = (1 - self.explore) * (1 - self.bait) if len(inside) else 0.0
        luck = rng.random()
        if luck < by_gain:
            assert top is not None
            row = top
        elif luck < by_gain + by_strata:
            share = near.mass[inside] / near.mass[inside].sum()
            row = int(near.rows[rng.choice(inside, p=share)])
        else:
            row = int(rng.choice(left))
        q = (
            self._probability(t, row, len(left))
            + by_gain * (row == top)
            + ((1 - self.explore) * self.bait / len(left) if top is None else 0.0)
        )
        self.open[row] = False
        if near.fisher is not None and self.place[row] >= 0:
            near.fisher.take(int(self.place[row]))
        return row, float(min(q, 1.0))

    def _inside(self, t: int) -> Ints:
        """The open rows of the stratum whose turn is the t-th draw, as places in ``near``."""
        stratum = self.near.strata[t]
        return stratum[self.open[self.near.rows[stratum]]]

    def _probability(self, t: int, row: int, left: int) -> float:
        """The part of q that does not come from gains, at the t-th draw with ``left`` open rows.

        It is the mean over the strata that may have this turn: all whose turn has not come.
        """
        by_strata, place = (1 - self.explore) * (1 - self.bait), self.place[row]
        if not by_strata:
            return self.explore / left
        turns = range(t, len(self.near.strata))
        empty = sum(not len(self._inside(turn)) for turn in turns)
        own = 0.0
        if place >= 0 and self.turn[place] >= t:
            own = float(self.near.mass[place] / self.near.mass[self._inside(self.turn[place])].sum())
        return self.explore / left + by_strata * (empty / left + own) / len(turns)

    def _top(self) -> int | None:
        """The open row with the largest gain."""
        near = self.near
        if near.fisher is None or self.bait == 0:
            return None
        free = self.open[near.rows]
        if not free.any():
            return None
        gains = near.fisher.gains()[: len(free)]
        return int(near.rows[np.where(free, gains, -1.0).argmax()])


class Bait(Blend):
    """The row of the largest Fisher gain, again and again (Ash and others 2021), with our model.

    ``explore`` is the share of uniform draws.
    """

    name = "bait"

    def __init__(self, *, explore: float = 0.0) -> None:
        super().__init__(explore=explore, bait=1.0)


class Strata(Blend):
    """One doubtful row from each stratum; ``explore`` is the share of uniform draws."""

    name = "strata"

    def __init__(self, *, explore: float = 0.1) -> None:
        super().__init__(explore=explore, bait=0.0)


def _gaps(view: View) -> Float64 | None:
    """p of the first class minus p of the second, for every row; None before two classes."""
    found = view.scored(gaps_of)
    return None if found is None else np.asarray(found, dtype=float)


def gaps_of(scores: Float64) -> Array:
    """p₁ - p₂ from a block of scores, (m,)."""
    top = np.partition(probabilities(scores), -2, axis=1)
    return np.asarray(top[:, -1] - top[:, -2], dtype=np.float32)
