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

import sqlite3
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from aced.ledger import _schema as schema, _snapshot as snapshot
from aced.ledger._errors import LedgerDamaged, LedgerError
from aced.ledger._events import GENESIS, Event, dump
from aced.ledger._head import Head, Mark
from aced.ledger._rollback import Checkpoint
from aced.ledger._sqlite import connect, connect_to_read, sentences
from aced.ledger._state import AHEAD, FOLD, State
from aced.ledger._verify import (
    BEFORE_ALL,
    COPY,
    Files,
    applied,
    as_event,
    check_place,
    fault,
    files_of,
    find_loss,
    find_version,
    link_of,
    open_with_head,
    read_events,
    way_out,
)

RETRY = 1.0
"""Seconds between attempts to write a file that could only be read."""
LATEST = 253_402_214_400.0
"""The last day of the year 9999: a later time has no date."""
AT_ONCE = 500
"""Events that one query asks for by their numbers."""
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
        self.path, self._clock = path, clock
        self._lock, self._head_lock = threading.RLock(), threading.Lock()
        self._head = Head(path.with_suffix(".head"))
        self._snapshot = path.with_suffix(".snapshot")
        self.state, self._hash = State(), GENESIS
        self.writable, self._try_again = True, 0.0
        self._files: Files = (None, None)
        if not create:
            check_place(path)
        self._base, head, self._version = open_with_head(path, lambda: self._connected(create))
        try:
            self._open(head, accept_loss)
        except BaseException:
            self._base.close()
            self._head.close()
            raise

    def _connected(self, create: bool) -> sqlite3.Connection:
        try:
            base = connect(self.path)
            self._files = files_of(self.path)
            return base
        except LedgerDamaged:
            raise
        except LedgerError:
            if create:
                raise
            self.writable = False
            return connect_to_read(self.path)

    def _open(self, head: Mark | None, accept_loss: bool) -> None:
        headed = self._version >= schema.WITH_HEAD or head is not None
        if self._version == 0:
            self._migrate()
            self._head.reset(Mark(0, GENESIS))
        since = self._load()
        lost = find_loss(self._base, self.path, head, self.state.seq) if headed else None
        if lost is not None and not accept_loss:
            raise LedgerDamaged("project", f"{lost}; {way_out(self.path)}")
        self._acknowledged = 0 if head is None else head.seq
        if lost is not None:
            self._accept(lost)
        if self.writable:
            try:
                self._bring_up_to_date()
            except LedgerError:  # there is no room for it, say; what is there can be read
                self.writable, self._try_again = False, time.monotonic() + RETRY
        if self.writable and since >= SNAPSHOT_AFTER:
            self.keep_snapshot()

    def _accept(self, lost: str) -> None:
        """Record a loss. Only then may the head record, which shows the loss, begin anew."""
        with self.writing() as writing:
            writing.append("accepted", "", body={"lost": lost})
        self._head.reset(Mark(self.state.seq, self._hash))
        self._acknowledged = self.state.seq

    def _bring_up_to_date(self) -> None:
        """Give a ledger of an earlier version its head record, and then the number of this version."""
        self._version = find_version(self._base, self.path, None)  # another process may have been first
        if self._version < schema.WITH_HEAD:
            self._head.advance(Mark(self.state.seq, self._hash))
        self._migrate()

    def _migrate(self) -> None:
        for done in range(self._version, len(schema.MIGRATIONS)):
            version = f"PRAGMA user_version={done + 1}"
            with sentences(self.path):
                self._base.executescript(f"BEGIN IMMEDIATE;{schema.MIGRATIONS[done]};{version};COMMIT;")
            self._version = done + 1

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

    def events(self, after: int = BEFORE_ALL) -> Iterator[tuple[Event, str]]:
        """Events in order, each with its hash as written."""
        return read_events(self._base, self.path, after)

    def catch_up(self) -> State:
        """Take in what other processes have written, verified, and return the state of the file."""
        with self._lock:
            if not self.writable and time.monotonic() >= self._try_again:
                with suppress(LedgerError):
                    self._reconnect()
            for event, link in self.events(self.state.seq or BEFORE_ALL):
                before = Mark(self.state.seq, self._hash)
                problem = fault(event, link, before, self.state.at) or applied(event, self.state)
                if problem is not None:
                    raise LedgerDamaged(self.path, f"{problem}; {COPY} (aced replay says more)")
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
            query = f"SELECT {schema.COLUMNS} FROM events WHERE request = ?"
            found = self._base.execute(query, (key,)).fetchone()
            return None if found is None else as_event(found, self.path, found[0])

    def named(self, seqs: Iterable[int]) -> dict[int, Event]:
        """The events with these numbers, by number."""
        wanted, found = sorted(set(seqs)), dict[int, Event]()
        for start in range(0, len(wanted), AT_ONCE):
            part = wanted[start : start + AT_ONCE]
            places = ", ".join("?" * len(part))
            query = f"SELECT {schema.COLUMNS} FROM events WHERE seq IN ({places})"
            with self._lock, sentences(self.path):
                rows = self._base.execute(query, part).fetchall()
            found |= {row[0]: as_event(row, self.path, row[0]) for row in rows}
        return found

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
                self._check_last()
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

    def _check_last(self) -> None:
        """Refuse a file that was exchanged, or lost the last event that was read from it, since it was
        opened. SQLite would go on in a file that nobody finds again."""
        now = files_of(self.path)
        if any(then not in (None, one) for then, one in zip(self._files, now, strict=True)):
            found = "was removed, or another file was put in its place, while it was open"
            raise LedgerDamaged(self.path, f"{found}; end all that use it, and {COPY}")
        self._files = now
        seq = self.state.seq
        if seq and link_of(self._base, self.path, seq) != self._hash:
            found = f"is damaged: event {seq} was there and is gone"
            raise LedgerDamaged(self.path, f"{found}; end all that use the file, and {COPY}")

    def _reconnect(self) -> None:
        """Open the file anew: when it was opened it could only be read, but there may be room now."""
        self._try_again = time.monotonic() + RETRY
        self._base, before = connect(self.path), self._base
        self._files = files_of(self.path)
        before.close()
        self._bring_up_to_date()
        self.writable = True

    def _acknowledge(self, seq: int) -> None:
        with self._head_lock:
            if self._acknowledged >= seq:
                return
            newest = self._newest
            try:
                self._head.advance(newest)
            except LedgerError as error:
                sentence = f"{error.sentence}; make that possible, and then send the answer again"
                raise LedgerError(self._head.path, sentence) from error
            self._acknowledged = newest.seq

    @property
    def now(self) -> float:
        """The clock; or the last event's time, if the clock went back behind it by ``AHEAD`` at most."""
        clock = min(self._clock(), LATEST)
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
