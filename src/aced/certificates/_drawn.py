"""What is kept of every draw, so that something can be said of the pool afterwards.

A draw t is kept with its row I, its probability q, the share γ of uniform draws in it (every open row
had at least γ / |R_t|), the number |R_t| of open rows, and what the classifier that was held before it
said: its predicted classes over the pool, and s_t(i), how likely it thought itself wrong about row i.
That classifier was made without the label of I, and is *frozen*: what later labels change does not touch
it. Another one is frozen whenever there are a tenth more labels than the last one had.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from aced._types import Array, Bools, Float32, Float64, Ints

GROWTH = 1.1
"""A classifier is frozen when there are this many times the labels that the last one had."""
RESTART = 2.0
"""A component of the bets begins when there are this many times the labels of the start before;"""
EARLIEST = 20
"""the first when there are so many labels."""
FORGET = 64
"""Frozen classifiers with fewer labels than one in this many are given up, and so are their draws."""
SPREAD = 0.02, 0.5
"""V_t is never taken to be less; nor to be more, if all draws are uniform."""
SMALLEST = 0.05
"""A share of uniform draws below this is taken for this where V_t is guessed."""
NEVER = np.iinfo(np.int64).max
PREFIX = "drawn_"


@dataclass(frozen=True)
class Reach:
    """How far Z_t can go at each of m draws, and how much it is expected to vary; all (m,)."""

    most: Float64  # the largest 1 / q over the open rows, or more
    above: Float64  # the largest (1 - s) / q
    below: Float64  # the largest s / q
    spread: Float64  # Σ s (1 - s) / q, about


@dataclass(frozen=True)
class Frozen:
    """What a classifier says of every row of the pool."""

    labels: int  # it was trained on this many
    said: Array  # (n,), unsigned: the code of the predicted class
    doubt: Float32  # (n,): s, how likely this is wrong


@dataclass
class Drawn:
    """The draws so far over a pool of ``n`` rows, in order, and the classifiers frozen for them."""

    n: int
    rows: Ints = field(default_factory=lambda: np.zeros(0, np.int64))  # (T,)
    probabilities: Float64 = field(default_factory=lambda: np.zeros(0))  # q
    explore: Float64 = field(default_factory=lambda: np.zeros(0))  # γ
    open: Ints = field(default_factory=lambda: np.zeros(0, np.int64))  # |R_t|
    frozen: Ints = field(default_factory=lambda: np.zeros(0, np.int64))  # which; -1: none
    doubt: Float64 = field(default_factory=lambda: np.zeros(0))  # s_t(I)
    doubts: Float64 = field(default_factory=lambda: np.zeros(0))  # Σ s_t over R_t
    reach: Float64 = field(default_factory=lambda: np.zeros(0))  # max 1 / q_t over R_t, or more
    above: Float64 = field(default_factory=lambda: np.zeros(0))  # max (1 - s_t) / q_t, or more
    below: Float64 = field(default_factory=lambda: np.zeros(0))  # max s_t / q_t, or more
    spread: Float64 = field(default_factory=lambda: np.zeros(0))  # V_t, if s_t is right
    starts: Ints = field(default_factory=lambda: np.zeros(0, np.int64))
    left: Ints = field(init=False)  # (n,): the first draw for which a row was not open; NEVER if it is
    irregular: Bools = field(init=False)  # (n,): rows that were closed and opened again
    classifiers: dict[int, tuple[int, Array]] = field(default_factory=dict)  # labels, predicted codes
    weight: Float64 = field(init=False)  # (n,): |R_t| q_t(i), about, when the row was last open
    rates: Float64 = field(init=False)  # (n,): Σ_t q_t(i), about, as if no row had ever been closed
    fixed: bool = False  # there is one classifier, which never changes
    last: Frozen | None = None
    _number: int = -1  # of the last frozen classifier
    _start: int = 0  # the labels at the last start

    def __post_init__(self) -> None:
        self.left = np.full(self.n, NEVER)
        self.irregular = np.zeros(self.n, bool)
        self.weight, self.rates = np.zeros(self.n), np.zeros(self.n)

    def __len__(self) -> int:
        return len(self.rows)

    def wants(self, labels: int) -> bool:
        """Whether another classifier should be frozen now that there are so many labels."""
        return labels > 0 and (self.last is None or labels >= GROWTH * self.last.labels)

    def freeze(self, one: Frozen) -> None:
        """Take this classifier for the draws from now on."""
        self.last, self._number = one, self._number + 1
        self.classifiers[self._number] = one.labels, one.said
        for number, (labels, _) in list(self.classifiers.items()):
            if labels * FORGET < one.labels:
                del self.classifiers[number]
        if one.labels >= max(EARLIEST, RESTART * self._start):
            self._start = one.labels
            self.starts = np.append(self.starts, len(self)).astype(np.int64)

    def add(
        self,
        open_rows: Bools,
        rows: Ints,
        probabilities: Float64,
        explore: float,
        reach: Reach | None = None,
        least: Float64 | None = None,
        design: Float64 | None = None,
    ) -> None:
        """Keep the draws of one plan, in order; ``open_rows`` (n,) were open before the first.

        ``reach`` is how far Z_t could go, and ``least`` (n,) what every open row had at least at each
        draw, if more is known than γ says; ``design`` (n,) is what the rows were drawn from, if
        anything is known of it.
        """
        count, now = len(rows), len(self)
        self._close(open_rows, now)
        self.left[rows] = now + 1 + np.arange(count)
        opened = int(open_rows.sum()) - np.arange(count)
        if count:
            size = int(open_rows.sum())
            part = np.zeros(self.n) if design is None else (1 - explore) * design * size
            self.weight = np.where(open_rows, explore + part, self.weight)
            self.rates += count / size * self.weight
        doubt, doubts = np.zeros(count), np.zeros(count)
        if self.last is not None and count:
            doubt, all_open = self.last.doubt[rows].astype(float), self.last.doubt[open_rows]
            doubts = float(all_open.sum(dtype=float)) + doubt - np.cumsum(doubt)
        if reach is None:
            reach = self._reach(open_rows, opened, explore, least)
        self.rows = np.append(self.rows, rows).astype(np.int64)
        self.probabilities = np.append(self.probabilities, probabilities)
        self.explore = np.append(self.explore, np.full(count, explore))
        self.open = np.append(self.open, opened).astype(np.int64)
        self.frozen = np.append(self.frozen, np.full(count, self._number)).astype(np.int64)
        self.doubt = np.append(self.doubt, doubt)
        self.doubts = np.append(self.doubts, doubts)
        self.reach = np.append(self.reach, reach.most)
        self.above = np.append(self.above, reach.above)
        self.below = np.append(self.below, reach.below)
        self.spread = np.append(self.spread, np.maximum(reach.spread / self.n**2, SPREAD[0]))

    def _reach(self, open_rows: Bools, opened: Ints, explore: float, least: Float64 | None) -> Reach:
        """How far Z_t can go at draws with so many rows ``opened`` (m,)."""
        if not explore or not len(opened):
            most = np.full(len(opened), np.inf)
            return Reach(most, most, most, np.ones(len(opened)))
        size = int(open_rows.sum())
        s = np.zeros(size) if self.last is None else self.last.doubt[open_rows].astype(float)
        if least is None:
            most = opened / explore
            centre = np.full(len(opened), s.sum() / self.n)
            spread = _guessed(centre, np.full(len(opened), explore)) * self.n**2
            return Reach(most, most * (1 - float(s.min())), most * float(s.max()), spread)
        one, heavy = np.ones(len(opened)), 1 / least[open_rows]
        spread = one * float((s * (1 - s) * heavy).sum())
        return Reach(one * heavy.max(), one * ((1 - s) * heavy).max(), one * (s * heavy).max(), spread)

    def _close(self, open_rows: Bools, now: int) -> None:
        """Note which rows were closed or opened since the last plan, other than by a draw."""
        closed = ~open_rows & (self.left == NEVER)
        again = open_rows & (self.left != NEVER)
        self.left[closed] = now
        self.left[again] = NEVER
        self.irregular |= again

    def doubt_by(self, doubt: Float32) -> None:
        """The frozen classifier is in doubt like this (n,) from now on."""
        assert self.last is not None
        self.last = Frozen(self.last.labels, self.last.said, doubt)

    def chances(self, rows: Ints, known: Float64) -> Float64:
        """The probabilities with which ``rows`` were last drawn; ``known`` (m,) where they were not."""
        found = np.full(self.n, np.nan)
        found[self.rows] = self.probabilities
        return np.where(np.isnan(found[rows]), known, found[rows])

    def recode(self, moves: Ints) -> None:
        """The classes have new codes: code c is now ``moves[c]``."""
        if np.array_equal(moves, np.arange(len(moves))):
            return
        kept = {
            k: (labels, moves[said].astype(np.uint8)) for k, (labels, said) in self.classifiers.items()
        }
        self.classifiers = kept
        if self.last is not None:
            self.last = Frozen(self.last.labels, moves[self.last.said].astype(np.uint8), self.last.doubt)

    # -- saving -----------------------------------------------------------------

    def arrays(self) -> dict[str, Array]:
        """All of it, as arrays by name; nothing before the first draw."""
        if not len(self):
            return {}
        held: dict[str, Array] = {name: getattr(self, name) for name in _SAVED}
        numbers = sorted(self.classifiers)
        held["numbers"] = np.array([[k, self.classifiers[k][0]] for k in numbers], np.int64).reshape(
            -1, 2
        )
        held["said"] = np.array([self.classifiers[k][1] for k in numbers], np.uint8).reshape(-1, self.n)
        held["counts"] = np.array([self._number, self._start], np.int64)
        if self.last is not None:
            held["last_doubt"] = self.last.doubt
        return {PREFIX + name: array for name, array in held.items()}

    def restore(self, arrays: Mapping[str, Array]) -> None:
        """Go on from the ``arrays`` of another; with none of them, from nothing."""
        held = {k[len(PREFIX) :]: a for k, a in arrays.items() if k.startswith(PREFIX)}
        self.__init__(self.n)  # type: ignore[misc]
        if not held:
            return
        if "spread" not in held:  # an earlier version guessed it when it was wanted
            held["spread"] = _guessed(held["doubts"] / self.n, held["explore"])
        self._check(held)
        for name in _SAVED:
            setattr(self, name, held[name])
        self._number, self._start = (int(number) for number in held["counts"])
        for (number, labels), said in zip(held["numbers"].tolist(), held["said"], strict=True):
            self.classifiers[number] = labels, said
        if self._number >= 0:
            labels, said = self.classifiers[self._number]
            self.last = Frozen(labels, said, held["last_doubt"])

    def _check(self, held: Mapping[str, Array]) -> None:
        """A ValueError if these are not what ``arrays`` gives."""
        count, numbers = len(held["rows"]), held["numbers"]
        for name, kind in _SAVED.items():
            size = self.n if name in ("left", "irregular", "weight", "rates") else count
            shaped = held[name].ndim == 1 and (name == "starts" or len(held[name]) == size)
            _require(shaped and held[name].dtype == np.dtype(kind), name)
            _require(kind != "f8" or not np.isnan(held[name]).any(), name)
        _require(_within(held["rows"], self.n), "rows")
        _require(_within(held["starts"], count + 1), "starts")
        _require(numbers.ndim == 2 and numbers.dtype.kind == "i", "numbers")
        _require(held["said"].shape == (len(numbers), self.n), "said")
        _require(held["said"].dtype == np.uint8, "said")
        _require(held["counts"].shape == (2,), "counts")
        last = int(held["counts"][0])
        _require(last < 0 or (len(numbers) > 0 and int(numbers[-1][0]) == last), "numbers")
        _require(last < 0 or held["last_doubt"].shape == (self.n,), "last_doubt")


def _guessed(doubts: Float64, explore: Float64) -> Float64:
    """V_t of draws of which no more is known than γ, from Σ s_t / N."""
    return np.asarray(np.clip(doubts, *SPREAD) / np.maximum(explore, SMALLEST))


def recoded(arrays: Mapping[str, Array], moves: Ints) -> dict[str, Array]:
    """Saved ``arrays`` after the class with code c became ``moves[c]``; -1: there is no such class any
    more, and what was drawn is given up."""
    held = dict(arrays)
    said = held.get(PREFIX + "said")
    if said is None:
        return held
    if (moves[said] < 0).any():
        return {name: array for name, array in held.items() if not name.startswith(PREFIX)}
    return held | {PREFIX + "said": moves[said].astype(np.uint8)}


def _within(numbers: Array, end: int) -> bool:
    return not numbers.size or bool(numbers.min() >= 0 and numbers.max() < end)


def _require(good: bool, name: str) -> None:
    if not good:
        raise ValueError(f"{PREFIX}{name} is not what a learner saves")


_SAVED = {
    "rows": "i8", "probabilities": "f8", "explore": "f8", "open": "i8", "frozen": "i8", "doubt": "f8",
    "doubts": "f8", "reach": "f8", "above": "f8", "below": "f8", "spread": "f8", "starts": "i8",
    "left": "i8", "irregular": "?", "weight": "f8", "rates": "f8",
}  # fmt: skip
"""Arrays that are saved, with their types."""
