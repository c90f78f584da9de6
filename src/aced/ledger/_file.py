"""The ledger's file: SQLite, append-only, on disk before anything is acknowledged.

Decisions (each has its test):

- A transaction is synced to disk when it ends, then the head record beside the file; only then is the
  caller answered. If the process is killed at any instant, the file holds every acknowledged event
  and no half of one. If the file is cut later, the head record shows it.
- Whoever opens the file verifies it: every event against its hash, and the end against the head record.
- Two processes on one file: whoever writes takes SQLite's write lock first, reads what the
  other added, and decides on that. Nobody waits longer than ``WAIT`` seconds.
- A full disk: the transaction is rolled back, the caller gets one sentence, earlier events stay. A
  disk that cannot be written can be read.
- A clock going back: the ledger's time stands still until the clock has caught up, but for ``AHEAD``
  seconds at most.
- Events cannot be changed or deleted: triggers refuse it, and the chain of hashes shows it.
"""

from __future__ import annotations

import json
import math
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NoReturn

from aced.ledger import _snapshot as snapshot
from aced.ledger._errors import LedgerDamaged, LedgerError
from aced.ledger._events import GENESIS, Event, dump
from aced.ledger._head import Head, Mark
from aced.ledger._rollback import Checkpoint
from aced.ledger._sqlite import connect, connect_to_read, sentences
from aced.ledger._state import AHEAD, FOLD, State

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

MIGRATIONS: list[str] = [_CREATE, ""]
"""The i-th script brings a file from schema version i to i + 1. Version 2 has a head record."""
WITH_HEAD = 2

UNFIT = (AssertionError, ArithmeticError, AttributeError, LookupError, TypeError, ValueError)
"""The errors that a state raises when an event does not fit it."""
RETRY = 1.0
"""Seconds between attempts to write a file that could only be read."""
SMALLEST = 512
"""Bytes of the smallest database."""
SNAPSHOT_AFTER = 2000
"""Events after the last snapshot from which a new one is worth its cost."""


class Ledger:
    """An open ledger. Safe to use from several threads and several processes.

    ``accept_loss`` goes on with a ledger that lost its end, and records the loss in it.
    """

    def __init__(
        self,
        path: Path,
        *,
        create: bool = False,
        clock: Callable[[], float] = time.time,
        accept_loss: bool = False,
    ) -> None:
        if create == path.exists():
            found = "exists already; choose another"
            missing = "does not exist; make it with aced init"
            raise LedgerError("project", f"{path} {found if create else missing}")
        if not create and not path.is_file():
            raise LedgerError("project", f"{path} is not a regular file; restore a copy")
        self.path, self._clock = path, clock
        self._lock, self._head_lock = threading.RLock(), threading.Lock()
        self._head = Head(path.with_suffix(".head"))
        self._snapshot = path.with_suffix(".snapshot")
        self.state, self._hash = State(), GENESIS
        self.writable, self._try_again = True, 0.0
        if not create:
            refuse_emptied(path)
        try:
            self._base = connect(path)
        except LedgerDamaged:
            raise
        except LedgerError:
            if create:
                raise
            self._base, self.writable = connect_to_read(path), False
        try:
            self._open(accept_loss)
        except BaseException:
            self._base.close()
            self._head.close()
            raise

    def _open(self, accept_loss: bool) -> None:
        with sentences(self.path):
            version = self._base.execute("PRAGMA user_version").fetchone()[0]
        if not 0 <= version <= len(MIGRATIONS):
            known = f"this aced knows up to {len(MIGRATIONS)}; use a newer aced"
            raise LedgerError("project", f"{self.path} has schema version {version}, {known}")
        head = self._read_head(accept_loss)  # before the events, to which others may add meanwhile
        if version == 0:
            if head is not None:
                raise LedgerDamaged("project", f"{self.path} has lost its events; restore a copy")
            self._migrate(0)
        since = self._load()
        headed = version >= WITH_HEAD or head is not None
        lost = find_loss(self._base, self.path, head, self.state.seq) if headed else None
        if lost is not None and not accept_loss:
            raise LedgerDamaged("project", f"{lost}; {_way_out(self.path)}")
        self._acknowledged = 0 if head is None else head.seq
        if self.writable:
            if version < WITH_HEAD or lost is not None:
                self._head.reset(Mark(self.state.seq, self._hash))
            if version:
                self._migrate(version)
            if lost is not None:
                with self.writing() as writing:
                    writing.append("accepted", "", body={"lost": lost})
            if since >= SNAPSHOT_AFTER:
                self.keep_snapshot()

    def _migrate(self, version: int) -> None:
        for done in range(version, len(MIGRATIONS)):
            script = f"BEGIN IMMEDIATE;{MIGRATIONS[done]};PRAGMA user_version={done + 1};COMMIT;"
            with sentences(self.path):
                self._base.executescript(script)

    def _read_head(self, accept_loss: bool) -> Mark | None:
        try:
            return self._head.read()
        except LedgerDamaged:
            if accept_loss:
                return None
            raise

    def _load(self) -> int:
        """Read and verify all events; return how many of them no snapshot has."""
        kept = snapshot.read(self._snapshot, self._base)
        if kept is not None:
            self.state, self._hash = kept[0], kept[1].link
        began = self.state.seq
        self.catch_up()
        return self.state.seq - began

    def keep_snapshot(self) -> None:
        """Keep the state on disk, so that the next opening is fast. Nothing else depends on it."""
        with self._lock, suppress(OSError, sqlite3.Error):
            snapshot.write(self._snapshot, self._base, self.catch_up(), self._hash)

    def close(self) -> None:
        with self._lock, self._head_lock:
            self._base.close()
            self._head.close()

    # -- reading --------------------------------------------------------------------

    def events(self, after: int = 0) -> Iterator[tuple[Event, str]]:
        """Events in order, each with its hash as written."""
        return read_events(self._base, self.path, after)

    def catch_up(self) -> State:
        """Take in what other processes have written, verified, and return the state of the file."""
        with self._lock:
            if not self.writable and time.monotonic() >= self._try_again:
                with suppress(LedgerError):
                    self._reconnect()
            for event, link in self.events(self.state.seq):
                before = Mark(self.state.seq, self._hash)
                problem = fault(event, link, before, self.state.at) or applied(event, self.state)
                if problem is not None:
                    raise LedgerDamaged(self.path, f"{problem}; restore a copy (aced replay says more)")
                self._hash = link
            return self.state

    @contextmanager
    def reading(self) -> Iterator[State]:
        """The state, up to date. No other thread changes it inside this context."""
        with self._lock:
            yield self.catch_up()

    def find(self, key: str) -> Event | None:
        """The event that an earlier attempt with the same key wrote."""
        with self._lock, sentences(self.path):
            query = f"SELECT {_COLUMNS} FROM events WHERE request = ?"
            found = self._base.execute(query, (key,)).fetchone()
            return None if found is None else as_event(found, self.path)

    # -- writing --------------------------------------------------------------------

    @contextmanager
    def writing(self) -> Iterator[Transaction]:
        """A transaction: nobody else writes meanwhile, and all of its events are written or none.

        On return the events and the head record are on disk. Threads share the writes of the head
        record: one that waited finds that another's record covers its events.
        """
        with self._lock:
            self._begin()
            checkpoint = None
            try:
                checkpoint = Checkpoint(self.catch_up())
                yield Transaction(self, checkpoint)
                with sentences(self.path):
                    self._base.execute("COMMIT")
            except BaseException:
                if self._base.in_transaction:
                    self._base.execute("ROLLBACK")
                if checkpoint is not None and checkpoint.events:
                    checkpoint.restore()
                    self._hash = checkpoint.link
                raise
            done = self._newest = Mark(self.state.seq, self._hash)
        self._acknowledge(done.seq)

    def _begin(self) -> None:
        if not self.writable:
            self._reconnect()
        with sentences(self.path):
            self._base.execute("BEGIN IMMEDIATE")

    def _reconnect(self) -> None:
        """Open the file anew: when it was opened it could only be read, but there may be room now."""
        self._try_again = time.monotonic() + RETRY
        self._base, before = connect(self.path), self._base
        before.close()
        self.writable = True

    def _acknowledge(self, seq: int) -> None:
        with self._head_lock:
            if self._acknowledged >= seq:
                return
            newest = self._newest
            try:
                self._head.advance(newest)
            except OSError as error:
                raise LedgerError(self._head.path, f"{error.strerror}; send the answer again") from error
            self._acknowledged = newest.seq

    @property
    def now(self) -> float:
        """The clock; or the last event's time, if the clock went back behind it by ``AHEAD`` at most."""
        clock = self._clock()
        return clock if self.state.at > clock + AHEAD else max(clock, self.state.at)


class Transaction:
    """Appends events while the write lock is held. ``state`` is up to date and follows each event."""

    def __init__(self, ledger: Ledger, checkpoint: Checkpoint) -> None:
        self._ledger, self._checkpoint = ledger, checkpoint
        checkpoint.link = ledger._hash

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
        with sentences(ledger.path):
            ledger._base.execute(
                "INSERT INTO events VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                (event.seq, event.at, kind, who, row, dump(event.body), key, link),
            )
        self._checkpoint.note(event)
        self.state.apply(event)
        ledger._hash = link
        return event


# -- events in the file -------------------------------------------------------------------


def read_events(base: sqlite3.Connection, path: Path, after: int = 0) -> Iterator[tuple[Event, str]]:
    query = f"SELECT {_COLUMNS}, hash FROM events WHERE seq > ? ORDER BY seq"
    with sentences(path):
        for *columns, link in base.execute(query, (after,)):
            yield as_event(columns, path), link


def as_event(columns: Sequence[Any], path: Path) -> Event:
    """The event in a row of the table, whose cells may be damaged."""
    seq, at, kind, who, row, body, key = columns
    try:
        content = json.loads(body, parse_constant=_no_constant)
    except (TypeError, ValueError, RecursionError):
        content = None
    whole = (
        isinstance(content, dict)
        and isinstance(at, float)
        and math.isfinite(at)
        and kind in FOLD
        and isinstance(who, str)
        and isinstance(row, int | None)
        and isinstance(key, str | None)
    )
    if not whole:
        raise LedgerDamaged(path, f"event {seq} is damaged: it cannot be read; restore a copy")
    return Event(seq, at, kind, who, row, content, key)


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number")


def fault(event: Event, link: str, before: Mark, at: float) -> str | None:
    """What is wrong with an event that follows ``before``, written at ``at``; None if nothing is."""
    if event.seq != before.seq + 1:
        return f"event {before.seq + 1} is missing"
    if at - AHEAD <= event.at < at:
        return f"event {event.seq} is damaged: it is older than the one before it"
    try:
        same = event.link(before.link) == link
    except ValueError:  # half a surrogate pair, which cannot have been written
        same = False
    return None if same else f"event {event.seq} is damaged: it was changed after it was written"


def applied(event: Event, state: State) -> str | None:
    """Apply an event; return why it cannot be applied, or None."""
    try:
        state.apply(event)
    except UNFIT as error:
        reason = str(error) or type(error).__name__
        return f"event {event.seq} is damaged: it cannot be applied ({reason})"
    return None


def refuse_emptied(path: Path) -> None:
    """Refuse a file that lost its beginning: SQLite would take it for new and delete its log."""
    log, head = path.with_name(f"{path.name}-wal"), path.with_suffix(".head")
    if path.stat().st_size < SMALLEST and (head.exists() or (log.exists() and log.stat().st_size)):
        raise LedgerDamaged("project", f"{path} is damaged: it was emptied or cut; restore a copy")


def find_loss(base: sqlite3.Connection, path: Path, head: Mark | None, last: int) -> str | None:
    """What was acknowledged and is missing after event ``last``, as a sentence; None if nothing is."""
    if head is None:
        return f"{path.with_suffix('.head')} is missing" if last else None
    if head.seq > last:
        which = (
            f"event {head.seq} was" if head.seq == last + 1 else f"events {last + 1} to {head.seq} were"
        )
        return f"{which} acknowledged, but {path} ends with event {last}"
    with sentences(path):
        found = base.execute("SELECT hash FROM events WHERE seq = ?", (head.seq,)).fetchone()
    if head.seq and (found is None or found[0] != head.link):
        return f"event {head.seq} in {path} is not the one that was acknowledged"
    return None


def _way_out(path: Path) -> str:
    go_on = f"aced replay {path.parent} --accept-loss"
    return f"restore a copy of the project, or go on without what is lost: {go_on}"
