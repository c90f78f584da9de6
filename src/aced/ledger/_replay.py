"""Rebuild any past state from a ledger's file, and check the file on the way."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from aced._errors import InvalidInput
from aced.ledger import _schema as schema, _snapshot as snapshot
from aced.ledger._errors import LedgerDamaged, LedgerError
from aced.ledger._events import GENESIS
from aced.ledger._file import Ledger
from aced.ledger._head import Mark
from aced.ledger._sqlite import connect_to_read, sentences
from aced.ledger._state import State
from aced.ledger._verify import applied, check_place, fault, find_loss, open_with_head, read_events

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
        check_place(path)
        base, head, version = open_with_head(path, lambda: _open(path))
        with closing(base):
            older = version < schema.WITH_HEAD and head is None
            return _read(path, base, Mark(0, GENESIS) if older else head, until)
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


def _read(path: Path, base: sqlite3.Connection, head: Mark | None, until: int | None) -> Replay:
    state, problems = State(), list[str]()
    before, at = Mark(0, GENESIS), 0.0
    kept = snapshot.read(path.with_suffix(".snapshot"), base)
    try:
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
            if not problems and _differs(kept, state):
                problems.append("ledger.snapshot is not the state that the events make; delete it")
        if until is None and not problems:
            lost = find_loss(base, path, head, state.seq)
            problems += [] if lost is None else [lost]
    except LedgerDamaged as error:
        problems.append(str(error))
    more = len(problems) - MOST_PROBLEMS
    return Replay(state, problems[:MOST_PROBLEMS] + [f"and {more} more problems"] * (more > 0))


def _differs(kept: tuple[State, Mark] | None, state: State) -> bool:
    """Whether the snapshot was taken at this place and holds another state."""
    if kept is None or kept[1].seq != state.seq:
        return False
    return snapshot.freeze(kept[0]) != snapshot.freeze(state)
