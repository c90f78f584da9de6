"""Drawing rows one after another without replacement, with known draw probabilities."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from aced._types import Bools, Float64, Ints, Rng


def draw(tiers: Sequence[Float64], open_rows: Bools, size: int, rng: Rng) -> tuple[Ints, Float64]:
    """Draw ``size`` distinct open rows; return them in order, with their draw probabilities.

    ``tiers`` are weights w over all rows. Each next row has probability w_i / Σ w over the rows still
    there ("sample until N unique new rows are seen" gives the same law), by a race of exponential
    clocks with rates w_i. When no row with a positive weight is left, the next tier takes over.
    """
    left = open_rows.copy()
    positions: list[Ints] = []
    probabilities: list[Float64] = []
    for weights in tiers:
        rows = np.flatnonzero(left & (weights > 0))
        count = min(size - sum(map(len, positions)), len(rows))
        if count <= 0:
            continue
        rates = weights[rows] / weights[rows].sum()
        finish = rng.exponential(size=len(rows)) / rates
        order = np.argsort(finish, kind="stable")
        first, rest = order[:count], order[count:]
        drawn = rates[first]
        still_there = np.cumsum(drawn[::-1])[::-1] + rates[rest].sum()
        positions.append(rows[first])
        probabilities.append(drawn / still_there)
        left[rows[first]] = False
    if not positions:
        return np.zeros(0, np.int64), np.zeros(0)
    return np.concatenate(positions).astype(np.int64), np.concatenate(probabilities)
