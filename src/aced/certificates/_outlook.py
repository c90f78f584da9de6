"""How many more labels it may take until a claim is certain.

The bets against "U = u" must win log(2 / α). By now they have won L, in the last draws g a draw with
the standard deviation d. If it goes on like this, (log(2 / α) - L) / g more draws are needed, and a walk
with this drift passes the limit between the two roots m of g m ± 1.28 d √m = log(2 / α) - L in about
80 % of cases. It is a guess: neither the classifier nor the draws will stay as they are.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from aced.certificates._betting import CAP, THETA, Evidence, too_large

FEWEST = 10
"""Draws below which nothing is foreseen."""
MOST = 10**7


@dataclass(frozen=True)
class Outlook:
    """Labels that may still be needed: the middle of the guess, and ends that hold in 80 % of cases."""

    least: int
    middle: int
    most: int | None  # None: perhaps never


def outlook(evidence: Evidence, u: float, confidence: float) -> Outlook | None:
    """What it may take until U is known to be below ``u``; None if bets do not win, as things are."""
    limit = np.log(2 / (1 - confidence))
    won = float(too_large(evidence, u).max(initial=0.0))
    if won >= limit:
        return Outlook(0, 0, 0)
    count = len(evidence.low)
    if count < FEWEST:
        return None
    late = slice(count // 2, count)
    mean = np.clip(u + evidence.least, evidence.floor, evidence.ceiling)[late]
    gain = mean - evidence.high[late]
    room = np.maximum(evidence.top[late] - mean, 1e-12)
    bets = np.minimum(THETA[:, None] / evidence.spread[late], CAP / room)
    growth = np.log1p(bets * gain)
    best = int(growth.mean(axis=1).argmax())
    step, spread = float(growth[best].mean()), float(growth[best].std())
    if step <= 0:
        return None
    missing = limit - max(won, 0.0)
    ends = []
    for sign in (-1, 1):  # (g m + sign 1.28 d √m = missing), a quadratic in √m
        b = sign * 1.28 * spread
        root = (-b + np.sqrt(b * b + 4 * step * missing)) / (2 * step)
        ends.append(int(np.ceil(min(root**2, MOST))))
    middle = int(np.ceil(min(missing / step, MOST)))
    return Outlook(ends[1], middle, ends[0] if ends[0] < MOST else None)
