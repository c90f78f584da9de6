"""What random labelling would have cost: estimated from the uniform part of the draws.

A draw of the probability q, with γ / |R| of it uniform, counts as uniform with the probability
γ / (|R| q): the rows that do are a uniform sample of the rows open then. Random labelling could have
drawn a row as well that the strategy had drawn before, whose label is known. So a run of random
labelling is played again: its next row is, with the right probability, one of those, and else the next
uniform one.

Classifiers are trained on the first m rows of that run, and on the first m of all draws. Their error
rate on the other rows, g, is counted where the label is known now, and expected by the present model
where it is not. That of random labelling is continued beyond its rows by the curve

    g(m) = a + b m^(-1/2) + c / m,    a, b, c ≥ 0.

Rows with a label count as right, so that (1 - m / N) g(m) of the pool is wrong after m labels. Where
this falls to what is wrong now is what random labelling would have taken. All of it is repeated with
other runs, and with the model's doubts taken so many times as its errors on the later draws allow (a
Gamma distribution): some of the errors that it did not expect may be on any row. About one error more in
as many rows as there are labels comes on top. Bands hold all repetitions. It is an estimate, and no
certificate: it trusts the present model on rows without a label, and the curve beyond the uniform rows.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from scipy.optimize import nnls

from aced._types import Array, Bools, Float32, Float64, Ints, Rng
from aced._workers import Workers
from aced.certificates import Drawn, Known
from aced.learner._trainer import Fitted, Trainer
from aced.pool import Pool
from aced.representations import Model

RUNS = 15
FEWEST, GRID = 10, 1.6
"""The first m, and by what each is larger than the one before."""
FEWEST_UNIFORM = 15
"""With fewer uniform draws nothing is said of random labelling."""
MOST_ROWS = 20_000
"""So many rows of the pool are looked at; of a larger pool those without a label stand for several."""
FEW = 0.5
"""The errors for which it counts that the model knows its own, beside those of the draws."""
BAND = (0.0, 1.0)
MOST_FARED = 10.0
"""The model's doubts are scaled by no more than this, or its inverse."""


@dataclass(frozen=True)
class OnCurve:
    """The accuracy after ``labels`` labels, with a band."""

    labels: int
    accuracy: float
    low: float
    high: float


@dataclass(frozen=True)
class Savings:
    """What random labelling would have taken for the accuracy of the present classifier."""

    labels: int
    accuracy: float
    random: int  # the middle of the estimates
    low: int  # the ends of the band
    high: int
    ours: list[OnCurve] = field(default_factory=list)
    by_random: list[OnCurve] = field(default_factory=list)

    def __str__(self) -> str:
        took = f"about {self.random} labels ({self.low} to {self.high})"
        return f"random labelling would have taken {took}, and it took {self.labels}"


class Learnt:
    """Classifiers that are trained on some of the labels, and how often they are wrong elsewhere."""

    def __init__(
        self, trainer: Trainer, now: Known, fitted: Fitted, codes: Ints, workers: Workers, seed: int
    ) -> None:
        """``fitted`` is the present classifier, with a model; ``codes`` are those of its classes."""
        assert fitted.model is not None
        self._trainer, self._labels, self._workers = trainer, now.codes, workers
        place = {code: place for place, code in enumerate(codes.tolist())}
        self._place, self._small = place, (fitted.model.pool, fitted.model.pool)
        self._chosen, self._worth = _some(now.labelled, np.random.default_rng(seed))
        self._known = np.flatnonzero(now.labelled[self._chosen])
        known = now.codes[self._chosen[self._known]]
        self._right = [place[code] for code in known.tolist()]
        self._shares = self._probabilities(fitted.model).astype(float)

    def fared(self, ratio: float, evenly: float, more: float) -> None:
        """Take the model's doubts this many times in the mean, and ``more`` beside them.

        Of errors beyond those that it expects, the share ``evenly`` may be anywhere.
        """
        beyond = max(ratio - 1, 0.0)
        more += evenly * beyond * float(1 - self._shares.max(axis=1).mean())
        ratio -= evenly * beyond
        best, every = self._shares.argmax(axis=1), np.arange(len(self._shares))
        self._wrong = 1 - ratio * self._shares  # (m, K): by class, how likely it is wrong
        self._wrong[every, best] = ratio * (1 - self._shares[every, best]) + more
        np.clip(self._wrong, 0.0, 1.0, out=self._wrong)
        self._wrong[self._known] = 1.0
        self._wrong[self._known, self._right] = 0.0

    def error(self, rows: Ints) -> float | None:
        """g of the classifier trained on these rows; None if they are all of one class."""
        rows = np.sort(rows)
        fitted = self._trainer.refit(rows, self._labels[rows])
        if fitted.model is None:
            return None
        places = np.array([self._place[code] for code in np.unique(self._labels[rows]).tolist()])
        said = places[self._probabilities(fitted.model).argmax(axis=1)]
        wrong = self._wrong[np.arange(len(said)), said] * self._worth
        wrong[np.isin(self._chosen, rows)] = 0.0
        return float(wrong.sum() / max(1, len(self._labels) - len(rows)))

    def _probabilities(self, model: Model) -> Float32:
        """p of the chosen rows, (m, K)."""
        if len(self._chosen) == len(model.pool):
            return model.probabilities(self._workers)
        if self._small[0] is not model.pool or len(self._small[1]) != len(self._chosen):
            self._small = model.pool, Pool(model.pool.rows(self._chosen))
        return replace(model, pool=self._small[1]).probabilities(self._workers)


def _some(labelled: Bools, rng: Rng) -> tuple[Ints, Float64]:
    """The rows that are looked at, all with a label among them, and how many rows each stands for."""
    rows, others = np.flatnonzero(labelled), np.flatnonzero(~labelled)
    size = min(max(MOST_ROWS - len(rows), MOST_ROWS // 2), len(others))
    some = rng.choice(others, size, replace=False) if size < len(others) else others
    chosen = np.concatenate([rows, some])
    worth = np.append(np.ones(len(rows)), np.full(size, len(others) / max(1, size)))
    order = np.argsort(chosen)
    return chosen[order], worth[order]


def _last(drawn: Drawn) -> Bools:
    """Which draws are the last of their row: one that was released may be drawn again."""
    found = np.zeros(len(drawn), bool)
    place = np.full(drawn.n, -1)
    place[drawn.rows] = np.arange(len(drawn))
    found[place[place >= 0]] = True
    return found


def uniform(drawn: Drawn) -> Float64:
    """How likely each draw was a uniform one, (T,)."""
    return np.asarray(drawn.explore / (drawn.open * drawn.probabilities))


def random_run(drawn: Drawn, rng: Rng) -> Ints:
    """The rows of one run of random labelling, in order.

    >>> drawn = Drawn(6)
    >>> drawn.add(np.ones(6, bool), np.array([3, 1]), np.array([1 / 6, 1 / 5]), 1.0)
    >>> random_run(drawn, np.random.default_rng(0)).tolist()  # all draws were uniform
    [3, 1]
    """
    evenly = rng.random(len(drawn)) < uniform(drawn)
    last = _last(drawn)
    chosen: list[int] = []
    others: list[int] = []  # drawn before, and not chosen
    for t, row in enumerate(drawn.rows.tolist()):
        if not last[t]:
            continue
        if evenly[t]:
            while others and rng.random() * (drawn.n - len(chosen)) < len(others):
                chosen.append(others.pop(int(rng.integers(len(others)))))
            chosen.append(row)
        else:
            others.append(row)
    return np.array(chosen, dtype=np.int64)


def savings(drawn: Drawn, now: Known, learnt: Learnt, seed: int) -> Savings | None:
    """What random labelling would have taken; None if too little is known."""
    rng, n, labelled = np.random.default_rng(seed), drawn.n, now.labelled
    if uniform(drawn)[labelled[drawn.rows]].sum() < FEWEST_UNIFORM:
        return None
    ours = drawn.rows[labelled[drawn.rows] & _last(drawn)]
    mine, theirs, taken = [], [], []
    made, expected = _fared(drawn, now)
    for _ in range(RUNS):
        ratio = np.clip(rng.gamma(FEW + made) / (FEW + expected), 1 / MOST_FARED, MOST_FARED)
        learnt.fared(float(ratio), rng.random(), rng.exponential() / len(ours))
        own = _errors(ours, learnt)
        if len(own) < 2 or own[-1][0] < len(ours):
            return None
        grid = np.array([m for m, _ in own])
        mine.append((1 - grid / n) * np.array([error for _, error in own]))
        rows = random_run(drawn, rng)
        points = _errors(rows[labelled[rows]], learnt)
        if len(points) < 2:
            return None
        curve = _Curve(points, n)
        theirs.append(curve(grid))
        taken.append(_reach(curve, float(mine[-1][-1])))
    low, middle, high = (_at(np.sort(taken), share) for share in (BAND[0], 0.5, BAND[1]))
    here = _banded(grid, mine)
    return Savings(len(ours), here[-1].accuracy, middle, low, high, here, _banded(grid, theirs))


def _fared(drawn: Drawn, now: Known) -> tuple[float, float]:
    """Errors that frozen classifiers made on the later half of the draws, and those they expected, as if
    so many uniform draws had told."""
    late = np.arange(len(drawn)) >= len(drawn) // 2
    use = late & now.labelled[drawn.rows] & np.isin(drawn.frozen, list(drawn.classifiers))
    if not use.any():
        return 0.0, 0.0
    weight = 1 / (drawn.probabilities[use] * drawn.open[use])
    rows, frozen = drawn.rows[use], drawn.frozen[use].tolist()
    said = [drawn.classifiers[k][1][row] for k, row in zip(frozen, rows.tolist(), strict=True)]
    worth = weight.sum() / np.square(weight).sum()
    made = weight * (np.array(said) != now.codes[rows])
    return float(worth * made.sum()), float(worth * (weight * drawn.doubt[use]).sum())


def _errors(rows: Ints, learnt: Learnt) -> list[tuple[int, float]]:
    """g after the first m of these rows."""
    found = [(m, learnt.error(rows[:m])) for m in _sizes(len(rows))]
    return [(m, error) for m, error in found if error is not None]


def _banded(grid: Ints, errors: list[Any]) -> list[OnCurve]:
    low, middle, high = np.quantile(1 - np.array(errors), (BAND[0], 0.5, BAND[1]), axis=0).clip(0, 1)
    return [OnCurve(int(m), *map(float, ends)) for m, *ends in zip(grid, middle, low, high, strict=True)]


def _sizes(count: int) -> list[int]:
    found = [float(FEWEST)]
    while found[-1] * GRID <= count:
        found.append(found[-1] * GRID)
    return [*(int(m) for m in found if m < count), count] if count >= FEWEST else []


class _Curve:
    """What is wrong of the pool of n rows after m random labels, by the curve through some g."""

    def __init__(self, points: list[tuple[int, float]], n: int) -> None:
        sizes, errors = np.array(points).T
        self._parts = nnls(_columns(sizes) * np.sqrt(sizes)[:, None], errors * np.sqrt(sizes))[0]
        self.n = n

    def __call__(self, sizes: Array) -> Float64:
        return np.asarray((1 - sizes / self.n) * (_columns(sizes.astype(float)) @ self._parts))


def _columns(sizes: Float64) -> Float64:
    return np.column_stack([np.ones(len(sizes)), sizes**-0.5, 1 / sizes])


def _reach(curve: _Curve, wrong: float) -> int:
    """The labels at which the curve first falls to this; all of them at the latest."""
    sizes = np.unique(np.geomspace(1, curve.n, 2000).astype(int))
    below = np.flatnonzero(curve(sizes) <= wrong)
    return int(sizes[below[0]]) if len(below) else curve.n


def _at(taken: Array, share: float) -> int:
    return int(taken[min(int(share * len(taken)), len(taken) - 1)])
