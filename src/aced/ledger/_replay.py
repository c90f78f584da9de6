"""Rebuild any past state from a ledger's file, and check the file on the way."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from aced._errors import InvalidInput
from aced.ledger import _snapshot as snapshot
from aced.ledger._errors import LedgerDamaged, LedgerError
from aced.ledger._events import GENESIS
from aced.ledger._file import WITH_HEAD, Ledger, applied, fault, find_loss, read_events, refuse_emptied
from aced.ledger._head import Head, Mark
from aced.ledger._sqlite import connect_to_read, sentences
from aced.ledger._state import State

MOST_PROBLEMS = 20


@dataclass(frozen=True)
class Replay:
    """The state after event ``state.seq``; ``problems`` is empty for a sound file."""

    state: State
    problems: list[str]


def replay(ledger: Ledger | Path, until: int | None = None) -> Replay:
    """Apply the events up to number ``until`` (default: all), and check order, time, hashes and end.

    The file is read anew and never written. A damaged file, given by its path, can be replayed, too:
    the state is then that before the first damage. No snapshot is used; it is checked instead.
    """
    if until is not None and until < 0:
        raise InvalidInput("until", f"must not be negative, got {until}")
    path = ledger.path if isinstance(ledger, Ledger) else ledger
    if not path.is_file():
        raise LedgerError("project", f"{path} does not exist; make it with aced init")
    try:
        refuse_emptied(path)
        with closing(_open(path)) as base:
            return _read(path, base, until)
    except LedgerDamaged as error:
        return Replay(State(), [str(error)])


def _open(path: Path) -> sqlite3.Connection:
    with sentences(path):
        base = sqlite3.connect(path, check_same_thread=False)
        try:
            base.execute("SELECT count(*) FROM sqlite_schema")
            return base
        except sqlite3.OperationalError:
            base.close()
    return connect_to_read(path)


def _read(path: Path, base: sqlite3.Connection, until: int | None) -> Replay:
    state, problems = State(), list[str]()
    before, at = Mark(0, GENESIS), 0.0
    with sentences(path):
        version = base.execute("PRAGMA user_version").fetchone()[0]
    kept = snapshot.read(path.with_suffix(".snapshot"), base)
    try:
        head = Head(path.with_suffix(".head")).read() if version >= WITH_HEAD else None
        for event, link in read_events(base, path):
            if until is not None and event.seq > until:
                break
            problem = fault(event, link, before, at)
            if problem is None and not problems:  # after the first damage, the state stays
                problem = applied(event, state)
            if problem is not None:
                problems.append(problem)
            if event.seq != before.seq + 1:
                break
            before, at = Mark(event.seq, link), event.at
            if kept is not None and event.seq == kept[1].seq and kept[0].digest() != state.digest():
                problems.append("ledger.snapshot is not the state that the events make; delete it")
        if until is None and not problems and version >= WITH_HEAD:
            lost = find_loss(base, path, head, state.seq)
            problems += [] if lost is None else [lost]
    except LedgerDamaged as error:
        problems.append(str(error))
    more = len(problems) - MOST_PROBLEMS
    return Replay(state, problems[:MOST_PROBLEMS] + [f"and {more} more problems"] * (more > 0))
