"""After how many labels it may be enough: a number that people can rely on while they label.

Every round gives a first reckoning of it. A project that was told when to stop has what the round
foresaw; an audit has the labels at which its certificate is narrow enough. In others accuracy after n
labels is fitted as A - B/n to the rounds' estimates, weighted by their labels. All labels after the n-th
together then gain B/n, and n is enough when this is below ``WORTH``. That is known if B is at least
``SURE`` of its standard errors, from ``FEWEST_POINTS`` rounds.

First reckonings jump. :func:`steady` makes one number of them, by a rule:

- it is the median of the last ``MEDIAN`` reckonings, rounded, and is not shown before ``KNOWN`` of them
  are known;
- once it has moved up it moves down again only after the labels have doubled since, and the other way
  round. So it never jumps back and forth.
"""

from __future__ import annotations

import math
import statistics
import threading
from collections import deque
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from aced.ledger import Settings
from aced.project._audit import labels_left as labels_of_audit

WORTH = 0.01
FEWEST_POINTS = 5
SURE = 2.0
MEDIAN = 5
KNOWN = 3
STEPS = (1.0, 1.2, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0)
"""A rounded number is one of these times a power of ten."""

Round = Mapping[str, Any]


def steady(points: Sequence[tuple[int, float | None]], total: int) -> int | None:
    """The goal after the last of these rounds; None while it is not known well enough.

    ``points`` are the labels at each round, and how many it reckoned to be enough (None: not known).

    >>> points = [(100, 1990.0), (140, 1133.0), (180, 1721.0), (220, 1990.0), (260, 1200.0)]
    >>> [steady(points[:k], 10_000) for k in range(6)]
    [None, None, None, 1500, 2000, 2000]
    """
    shown: int | None = None
    way, since, last = 0, 0, deque[float](maxlen=MEDIAN)
    for labels, reckoned in points:
        if reckoned is None:
            continue
        last.append(reckoned)
        if len(last) < KNOWN:
            continue
        found = min(total, rounded(statistics.median(last)))
        if shown is None or found == shown:
            shown = found
            continue
        turn = 1 if found > shown else -1
        if way in (0, turn) or labels >= 2 * since:
            shown, way, since = found, turn, labels
    return shown


def rounded(number: float) -> int:
    """A number near this one that is easy to remember.

    >>> [rounded(number) for number in (0.0, 7.0, 96.0, 1133.0, 1721.0, 1990.0, 87_000.0)]
    [1, 8, 100, 1200, 1500, 2000, 80000]
    """
    number = max(1.0, number)
    power = 10.0 ** math.floor(math.log10(number))
    near = min((*STEPS, 10.0), key=lambda step: abs(math.log(number / (power * step))))
    return round(power * near)


def fitted(rounds: Sequence[Round]) -> tuple[float, float] | None:
    """B of the fit A - B/n and its standard error; None if there are too few rounds."""
    known = [r for r in rounds if r.get("accuracy") and r["labels"] > 0]
    if len({r["labels"] for r in known}) < FEWEST_POINTS:
        return None
    x = np.array([1 / r["labels"] for r in known])
    y = np.array([r["accuracy"]["estimate"] for r in known])
    w = np.array([r["accuracy"]["checked"] for r in known], dtype=float)
    if not w.sum():
        return None
    x, y = x - np.average(x, weights=w), y - np.average(y, weights=w)
    spread = float((w * x**2).sum())
    if spread <= 0:
        return None
    slope = float((w * x * y).sum()) / spread
    error = math.sqrt(float((w * (y - slope * x) ** 2).sum()) / (len(known) - 2) / spread)
    return -slope, error


def reckoned(rounds: Sequence[Round], settings: Settings) -> float | None:
    """How many labels the last of these rounds takes for enough; None if it cannot tell."""
    last = rounds[-1]
    labels, stop = last["labels"], last.get("stop")
    if settings.audit:
        accuracy = last.get("accuracy")
        left = labels_of_audit(accuracy, settings.audit["within"], labels, settings.rows)
        return None if left is None else labels + left
    if settings.stop:
        if stop is None or (not stop["reached"] and stop["ahead"] is None):
            return None
        return float(labels if stop["reached"] else labels + stop["ahead"][1])
    found = fitted(rounds)
    if found is None or found[0] <= 0 or found[0] < SURE * found[1]:
        return None
    return found[0] / WORTH


class Goals:
    """The goal as rounds come in: each is reckoned once. Safe to use from several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._points: list[tuple[int, float | None]] = []
        self._last: Round | None = None
        self._goal: int | None = None

    def after(self, rounds: Sequence[Round], settings: Settings) -> int | None:
        """The goal after these rounds, of which all but the last ones were seen before."""
        with self._lock:
            seen = len(self._points)
            if seen and (seen > len(rounds) or rounds[seen - 1] is not self._last):
                self._points, seen = [], 0  # a transaction failed, and its round is gone
            if seen < len(rounds):
                for end in range(seen + 1, len(rounds) + 1):
                    part = rounds[:end]
                    self._points.append((part[-1]["labels"], reckoned(part, settings)))
                self._last = rounds[-1]
                self._goal = steady(self._points, settings.rows)
            return self._goal if self._points else None
