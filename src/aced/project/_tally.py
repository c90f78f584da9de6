"""Counts over a ledger, updated event by event: the cost of reading them does not grow with n."""

from __future__ import annotations

import statistics
import threading
import time
from collections import Counter, defaultdict, deque

from aced.ledger import Ledger, State

RECENT = 50
"""How many of a person's last labels their present speed is the median of."""

Said = dict[str, tuple[str, str]]  # by person: label, skip or unsure; the day of a label


class Tally:
    """What people have said so far. Safe to use from several threads."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger, self._lock = ledger, threading.Lock()
        self._seq = 0
        self._said: dict[int, Said] = {}
        self._recent: dict[str | None, deque[float]] = defaultdict(lambda: deque(maxlen=RECENT))
        self.labelled = 0  # rows with at least one label
        self.counts: Counter[tuple[str | None, str]] = Counter()  # (who, or None for all; kind)
        self.days: Counter[tuple[str | None, str]] = Counter()  # labels by day
        self.last: dict[str, float] = {}

    def update(self) -> Tally:
        """Take in what was written since the last time."""
        with self._ledger.reading() as state, self._lock:
            rows: dict[int, None] = {}
            for event, _ in self._ledger.events(self._seq):
                if event.row is not None and event.kind != "lease":
                    rows[event.row] = None
                    self.last[event.who] = event.at
                    if event.kind == "label" and event.body.get("seconds"):
                        self._recent[event.who].append(float(event.body["seconds"]))
                        self._recent[None].append(float(event.body["seconds"]))
            for row in rows:
                self._recount(row, state)
            self._seq = state.seq
        return self

    def _recount(self, row: int, state: State) -> None:
        before = self._said.get(row, {})
        now: Said = {who: (kind, "") for who, kind in state.passed.get(row, {}).items()}
        now |= {who: ("label", day_of(vote.at)) for who, vote in state.votes.get(row, {}).items()}
        for said, step in ((before, -1), (now, 1)):
            self.labelled += step * any(kind == "label" for kind, _ in said.values())
            for who, (kind, day) in said.items():
                for whose in (who, None):
                    self.counts[whose, kind] += step
                    if day:
                        self.days[whose, day] += step
        self._said[row] = now

    def seconds(self, who: str | None) -> float | None:
        """The median seconds of a person's last labels, or of everybody's if they gave none yet."""
        times = self._recent.get(who) or self._recent.get(None)
        return statistics.median(times) if times else None


def day_of(at: float) -> str:
    return time.strftime("%Y-%m-%d", time.localtime(at))
