"""The ledger's file: SQLite, append-only, on disk before anything is acknowledged.

Decisions (each has its test):

- A transaction is synced to disk when it ends; only then is the caller answered. If the process is
  killed at any instant, the file holds every acknowledged event and no half of one.
- Two processes on one file: whoever writes takes SQLite's write lock first, reads what the
  other added, and decides on that. Nobody waits longer than ``WAIT`` seconds.
- A full disk: the transaction is rolled back, the caller gets one sentence, earlier events stay.
- A clock going back: the ledger's time stands still until the clock has caught up.
- Events cannot be changed or deleted: triggers refuse it, and the chain of hashes shows it.
"""

from __future__ import annotations

import json
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from aced._errors import InvalidInput
from aced.ledger._events import GENESIS, Event, dump
from aced.ledger._state import FOLD, State

WAIT = 30.0

_CREATE = """
CREATE TABLE events (
    seq INTEGER PRIMARY KEY,
    at REAL NOT NULL,
    kind TEXT NOT NULL,
    who TEXT NOT NULL,
    item INTEGER,
    body TEXT NOT NULL,
    request TEXT UNIQUE,
    hash TEXT NOT NULL
);
CREATE TRIGGER events_stay BEFORE UPDATE ON events
BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END;
CREATE TRIGGER events_remain BEFORE DELETE ON events
BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END;
"""

_COLUMNS = "seq, at, kind, who, item, body, request"
"""Columns in the order of an event's fields. The file calls ``row`` item, and ``key`` request."""

MIGRATIONS: list[str] = [_CREATE]
"""The i-th script brings a file from schema version i to i + 1."""


UNFIT = (AssertionError, AttributeError, KeyError, TypeError, ValueError)
"""The errors that a state raises when an event does not fit it."""


class LedgerError(InvalidInput):
    """The file cannot be read or written; nothing was saved."""


class Ledger:
    """An open ledger. Safe to use from several threads and several processes."""

    def __init__(
        self, path: Path, *, create: bool = False, clock: Callable[[], float] = time.time
    ) -> None:
        if create == path.exists():
            found = "exists already; choose another"
            missing = "does not exist; make it with aced init"
            raise LedgerError("project", f"{path} {found if create else missing}")
        self.path, self._clock = path, clock
        self._lock = threading.RLock()
        with _sentences(path):
            self._base = sqlite3.connect(
                path, timeout=WAIT, isolation_level=None, check_same_thread=False
            )
            self._base.execute("PRAGMA journal_mode=WAL")
            self._base.execute("PRAGMA synchronous=FULL")
            self._migrate()
        self.state, self._hash = State(), GENESIS
        self.catch_up()

    def _migrate(self) -> None:
        version = self._base.execute("PRAGMA user_version").fetchone()[0]
        if version > len(MIGRATIONS):
            known = f"this aced knows up to {len(MIGRATIONS)}; use a newer aced"
            raise LedgerError("project", f"{self.path} has schema version {version}, {known}")
        for done in range(version, len(MIGRATIONS)):
            script = f"BEGIN IMMEDIATE;{MIGRATIONS[done]};PRAGMA user_version={done + 1};COMMIT;"
            self._base.executescript(script)

    def close(self) -> None:
        with self._lock:
            self._base.close()

    # -- reading --------------------------------------------------------------------

    def events(self, after: int = 0) -> Iterator[tuple[Event, str]]:
        """Events in order, each with its hash as written."""
        return read_events(self._base, self.path, after)

    def catch_up(self) -> State:
        """Take in what other processes have written, and return the state of the file."""
        with self._lock:
            for event, link in self.events(self.state.seq):
                try:
                    self.state.apply(event)
                except UNFIT as error:
                    where = f"event {event.seq} does not follow from those before it"
                    raise LedgerError(self.path, f"{where}; aced replay says more") from error
                self._hash = link
            return self.state

    @contextmanager
    def reading(self) -> Iterator[State]:
        """The state, up to date. No other thread changes it inside this context."""
        with self._lock:
            yield self.catch_up()

    def find(self, key: str) -> Event | None:
        """The event that an earlier attempt with the same key wrote."""
        with self._lock, _sentences(self.path):
            query = f"SELECT {_COLUMNS} FROM events WHERE request = ?"
            found = self._base.execute(query, (key,)).fetchone()
            return None if found is None else _event(found)

    # -- writing --------------------------------------------------------------------

    @contextmanager
    def writing(self) -> Iterator[Transaction]:
        """A transaction: nobody else writes meanwhile, and all of its events are written or none."""
        with self._lock:
            with _sentences(self.path):
                self._base.execute("BEGIN IMMEDIATE")
            before = None
            try:
                before = self.catch_up().seq
                yield Transaction(self)
                with _sentences(self.path):
                    self._base.execute("COMMIT")
            except BaseException:
                self._forget(before)
                raise

    def _forget(self, before: int | None) -> None:
        """Undo a transaction that failed, in the file and, if it wrote events, in memory."""
        if self._base.in_transaction:
            self._base.execute("ROLLBACK")
        if self.state.seq != before:
            self.state, self._hash = State(), GENESIS
            self.catch_up()

    @property
    def now(self) -> float:
        """The clock, or the last event's time if the clock went back behind it."""
        return max(self._clock(), self.state.at)


class Transaction:
    """Appends events while the write lock is held. ``state`` is up to date and follows each event."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger

    @property
    def state(self) -> State:
        return self._ledger.state

    @property
    def now(self) -> float:
        return self._ledger.now

    def append(
        self,
        kind: str,
        who: str,
        row: int | None = None,
        body: dict[str, Any] | None = None,
        key: str | None = None,
    ) -> Event:
        assert kind in FOLD
        ledger = self._ledger
        event = Event(self.state.seq + 1, self.now, kind, who, row, body or {}, key)
        link = event.link(ledger._hash)
        with _sentences(ledger.path):
            ledger._base.execute(
                "INSERT INTO events VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                (event.seq, event.at, kind, who, row, dump(event.body), key, link),
            )
        self.state.apply(event)
        ledger._hash = link
        return event


def read_events(base: sqlite3.Connection, path: Path, after: int = 0) -> Iterator[tuple[Event, str]]:
    query = f"SELECT {_COLUMNS}, hash FROM events WHERE seq > ? ORDER BY seq"
    with _sentences(path):
        for *columns, link in base.execute(query, (after,)):
            yield _event(columns), link


def _event(columns: Sequence[Any]) -> Event:
    seq, at, kind, who, row, body, key = columns
    return Event(seq, at, kind, who, row, json.loads(body), key)


@contextmanager
def _sentences(path: Path) -> Iterator[None]:
    """Turn the errors of SQLite into one sentence."""
    try:
        yield
    except sqlite3.OperationalError as error:
        if "full" in str(error):
            sentence = "the disk is full; nothing was saved, make room and repeat"
        elif "locked" in str(error):
            sentence = f"another process has held the file for {WAIT:.0f} s; end it and repeat"
        else:
            sentence = f"{error}; nothing was saved"
        raise LedgerError(path, sentence) from error
    except sqlite3.DatabaseError as error:
        raise LedgerError(path, f"is not a ledger, or is damaged ({error}); restore a copy") from error
