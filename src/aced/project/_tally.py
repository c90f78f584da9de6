"""Counts over a ledger, updated event by event: the cost of reading them does not grow with n."""

from __future__ import annotations

import statistics
import threading
import time
from collections import Counter
from functools import lru_cache

from aced.ledger import Ledger, State

Said = dict[str, tuple[str, str]]  # by person: label, skip or unsure; the day of a label


class Tally:
    """What people have said so far. Safe to use from several threads."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger, self._lock = ledger, threading.Lock()
        self._seq = 0
        self._said: dict[int, Said] = {}
        self.labelled = 0  # rows with at least one label
        self.counts: Counter[tuple[str | None, str]] = Counter()  # (who, or None for all; kind)
        self.days: Counter[tuple[str | None, str]] = Counter()  # labels by day

    def update(self) -> Tally:
        """Take in what was written since the last time."""
        with self._ledger.reading() as state, self._lock:
            if not self._seq:
                rows = dict.fromkeys([*state.votes, *state.passed])
            else:
                events = self._ledger.events(self._seq)
                rows = {e.row: None for e, _ in events if e.row is not None and e.kind != "lease"}
            for row in rows:
                self._recount(row, state)
            self._seq = state.seq
        return self

    def last(self, who: str) -> float | None:
        """When this person last answered."""
        with self._ledger.reading() as state:
            return state.seen.get(who)

    def _recount(self, row: int, state: State) -> None:
        before = self._said.get(row, {})
        now: Said = {who: (kind, "") for who, kind in state.passed.get(row, {}).items()}
        now |= {who: ("label", day_of(vote.at)) for who, vote in state.votes.get(row, {}).items()}
        for said, step in ((before, -1), (now, 1)):
            self.labelled += step * any(kind == "label" for kind, _ in said.values())
            for who, (kind, day) in said.items():
                self.counts[who, kind] += step
                self.counts[None, kind] += step
                if day:
                    self.days[who, day] += step
                    self.days[None, day] += step
        self._said[row] = now

    def seconds(self, who: str | None) -> float | None:
        """The median seconds of a person's last labels, or of everybody's if they gave none yet."""
        with self._ledger.reading() as state:
            times = list(state.recent.get(who) or state.recent.get(None) or ())
        return statistics.median(times) if times else None


def day_of(at: float) -> str:
    """The day of a time, on this machine's clock."""
    return _day_of_quarter(int(at // 900))


@lru_cache(maxsize=4096)
def _day_of_quarter(quarter: int) -> str:
    """Days begin at a whole quarter of an hour, in every time zone."""
    return time.strftime("%Y-%m-%d", time.localtime(900 * quarter))
