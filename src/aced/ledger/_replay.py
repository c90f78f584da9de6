"""Rebuild any past state from a ledger's file, and check the file on the way."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from aced._errors import InvalidInput
from aced.ledger._events import GENESIS
from aced.ledger._file import UNFIT, Ledger, LedgerError, read_events
from aced.ledger._state import State


@dataclass(frozen=True)
class Replay:
    """The state after event ``state.seq``; ``problems`` is empty for a sound file."""

    state: State
    problems: list[str]


def replay(ledger: Ledger | Path, until: int | None = None) -> Replay:
    """Apply the events up to number ``until`` (default: all), and check order, time and hashes.

    The file is read anew and never written. A damaged file, given by its path, can be replayed, too.
    """
    if until is not None and until < 0:
        raise InvalidInput("until", f"must not be negative, got {until}")
    path = ledger.path if isinstance(ledger, Ledger) else ledger
    if not path.exists():
        raise LedgerError("project", f"{path} does not exist; make it with aced init")
    state, before = State(), GENESIS
    problems: list[str] = []
    with closing(sqlite3.connect(path)) as base:
        for event, link in read_events(base, path):
            if until is not None and event.seq > until:
                break
            if event.seq != state.seq + 1:
                problems.append(f"event {state.seq + 1} is missing")
                break
            if event.at < state.at:
                problems.append(f"event {event.seq} is older than the one before it")
            if event.link(before) != link:
                problems.append(f"event {event.seq} was changed after it was written")
            try:
                state.apply(event)
            except UNFIT as error:
                said = f"{type(error).__name__}: {error}"
                problems.append(f"event {event.seq} cannot be applied ({said})")
                break
            before = link
    return Replay(state, problems)
