"""Blend (default): part uniform, part by what a row tells, part by Fisher gain, part by strata.

====== ============ ===========================================================
symbol name in code meaning
====== ============ ===========================================================
γ      explore      the share of uniform draws, 0.1 by default
τ      tell         the share of the rest that is drawn by d; a third by default
β      bait         that which takes the row of the largest gain; a third
s_i    doubt        how likely the model is wrong: (1 - (p₁ - p₂)) / 2, from its two
                    largest probabilities
d_i    telling      √(s_i (1 - s_i)), raised to half of its mean where it is less
λ_i    mass         (2 s_i)^8, at most 1 / b of the whole: the design of a batch of b
S_i                 the stratum of row i (:mod:`aced.strategies._strata`)
m                   the strata whose turn has not come
====== ============ ===========================================================

The strata of a batch have their turns in random order. So the next row of a batch is drawn with the
probability

    q(i) = γ / open rows + (1 - γ) (τ d_i / Σ d + β [i has the largest gain]
                                    + (1 - τ - β) λ_i / (m λ(S_i))),

over the rows still open, the last part if the turn of S_i has not come. This is known exactly, and it is
positive for every open row. If a stratum has no open row left, its part is drawn uniformly. The gain is
that of :mod:`aced.strategies._fisher`, brought up to date after every row; it reckons with the labels of
rows that wait for them. Until two classes have labels all draws are uniform.

Gains look ahead to where labels lower the variance most, and are best on most tasks; strata are near
to the boundary everywhere at once, and lose least where gains mislead; uniform draws see what both
overlook. Draws by d say most of how often the classifier errs (:mod:`aced.certificates`), at hardly any
cost in labels. docs/design-log.md has what was tried beside it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from aced._check import fraction, share
from aced._errors import InvalidInput
from aced._types import Array, Float64, Ints, Rng
from aced.certificates import draw_telling, told_by
from aced.design import draw, systematic
from aced.representations import Model, Representations
from aced.strategies._base import Plan, Strategy, View
from aced.strategies._fisher import Fisher
from aced.strategies._shares import Draws, Near, Shares
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
    """Uniform draws, draws by what rows tell, by Fisher gain and by strata, each with its share.

    ``explore`` is the share of uniform draws. Of the rest, ``tell`` is the share that is drawn by what
    rows tell of the classifier's errors, and ``bait`` that of the row with the largest gain; strata have
    what these leave.
    """

    name = "blend"

    def __init__(self, *, explore: float = 0.1, tell: float = 1 / 3, bait: float = 1 / 3) -> None:
        self.explore = fraction("explore", explore)
        self.tell, self.bait = share("tell", tell), share("bait", bait)
        if tell + bait > 1:
            raise InvalidInput(
                "bait", f"is a share of the draws beside tell={tell:g}: must be at most {1 - tell:g}"
            )
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
        telling = np.zeros(len(gaps))
        telling[open_rows] = told_by((1 - gaps[open_rows]) / 2)
        shares = Shares(self.explore, self.tell, self.bait)
        drawn = Draws(near, telling, view.open, shares).draw(size, rng)
        lam, least = np.zeros(len(gaps)), np.zeros(len(gaps))
        least[open_rows] = shares.always(telling[open_rows])
        lam[open_rows] = least[open_rows] + (1 - self.explore) * (1 - self.tell) * mass
        doubt = {"doubt": float((1 - gaps[open_rows]).mean())}
        return Plan(*drawn, doubt, lam, explore=self.explore, least=least)

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
    ) -> Near:
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
        if self.tell + self.bait < 1:
            parts = strata(places[:count, :-1], weight, size, rng)
        return Near(rows[:count], weight, [parts[k] for k in rng.permutation(size)], fisher)

    def restore(self, state: Any) -> None:
        self._own = None


class Bait(Blend):
    """The row of the largest Fisher gain, again and again (Ash and others 2021), with our model.

    ``explore`` is the share of uniform draws.
    """

    name = "bait"

    def __init__(self, *, explore: float = 0.0) -> None:
        super().__init__(explore=explore, tell=0.0, bait=1.0)


class Strata(Blend):
    """One doubtful row from each stratum; ``explore`` is the share of uniform draws."""

    name = "strata"

    def __init__(self, *, explore: float = 0.1) -> None:
        super().__init__(explore=explore, tell=0.0, bait=0.0)


def _gaps(view: View) -> Float64 | None:
    """p of the first class minus p of the second, for every row; None before two classes."""
    found = view.scored(gaps_of)
    return None if found is None else np.asarray(found, dtype=float)


def gaps_of(scores: Float64) -> Array:
    """p₁ - p₂ from a block of scores, (m,)."""
    top = np.partition(probabilities(scores), -2, axis=1)
    return np.asarray(top[:, -1] - top[:, -2], dtype=np.float32)
