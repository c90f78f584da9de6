"""Draws that tell most about how often given predictions are wrong.

The next row is drawn, over the rows still open, with the probability

    q(i) = γ / open rows + (1 - γ) d_i / Σ d,    d = sqrt(s (1 - s)),

where s is how likely the prediction of a row is wrong (:mod:`._doubt`). Were s right and γ = 0, no other
draws would give estimates of a smaller variance. γ keeps the interval narrow where s is not.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from aced._types import Bools, Float32, Float64, Ints, Rng
from aced.certificates._drawn import Reach

CELLS = 512
"""Values of s that are told apart where the largest weights are bounded."""


@dataclass(frozen=True)
class Drawing:
    """Rows in the order drawn, and what :meth:`Drawn.add` keeps of them."""

    rows: Ints  # (m,)
    probabilities: Float64  # (m,)
    reach: Reach


def told_by(doubt: Float64) -> Float64:
    """d (m,) from s, raised to half of its mean where it is less: s may be wrong.

    >>> told_by(np.array([0.5, 0.1, 0.0]))
    array([0.5       , 0.3       , 0.13333333])
    """
    d = _spread(doubt)
    return np.maximum(d, d.mean() / 2 if d.any() else 1.0)


def draw_telling(doubt: Float32, open_rows: Bools, explore: float, size: int, rng: Rng) -> Drawing:
    """Draw ``size`` open rows, or all if there are fewer, by s (n,) and γ."""
    places = np.flatnonzero(open_rows)
    size = min(size, len(places))
    s = doubt[places].astype(float)
    d = _spread(s)
    evenly = rng.permutation(len(places))  # the orders of uniform draws and of draws by d
    by_doubt = np.argsort(rng.exponential(size=len(places)) / d, kind="stable")
    uniform = rng.random(size) < explore
    taken = np.zeros(len(places), bool)
    left = np.zeros(size)  # Σ d before each draw
    chosen = np.zeros(size, np.int64)
    whole, next_of = float(d.sum()), [0, 0]
    for t in range(size):
        order, which = (evenly, 0) if uniform[t] else (by_doubt, 1)
        while taken[order[next_of[which]]]:
            next_of[which] += 1
        row = chosen[t] = order[next_of[which]]
        taken[row], left[t] = True, whole
        whole -= float(d[row])
    count = len(places) - np.arange(size)
    left = np.maximum(left, d[chosen])  # what rounding took away
    q = explore / count + (1 - explore) * d[chosen] / left
    return Drawing(places[chosen], q, _reach(s, explore, count, left))


def _spread(s: Float64) -> Float64:
    """d."""
    return np.asarray(np.sqrt(s * (1 - s)))


def reach_of(doubt: Float32, open_rows: Bools, explore: float, rows: Ints) -> Reach:
    """How far ``rows`` that were drawn in this order could have gone."""
    s = doubt[open_rows].astype(float)
    d = _spread(doubt[rows].astype(float))
    left = float(_spread(s).sum()) + d - np.cumsum(d)
    return _reach(s, explore, len(s) - np.arange(len(rows)), np.maximum(left, d))


def _reach(s: Float64, explore: float, count: Ints, left: Float64) -> Reach:
    """For each draw, bounds over the rows: those of all cells of s that hold a row, at the worse end."""
    if not len(count):
        return Reach(*[np.zeros(0)] * 4)
    place = np.minimum((s * CELLS).astype(int), CELLS - 1)
    cells, many = np.unique(place, return_counts=True)
    low, high = np.maximum(cells / CELLS, s.min()), np.minimum((cells + 1) / CELLS, s.max())
    least = np.minimum(_spread(low), _spread(high))
    inverse = 1 / (explore / count[:, None] + (1 - explore) * least / left[:, None])  # (m, cells)
    spread = (inverse * (many * (low + high) / 2 * (1 - (low + high) / 2))).sum(axis=1)
    return Reach(
        inverse.max(axis=1), (inverse * (1 - low)).max(axis=1), (inverse * high).max(axis=1), spread
    )
