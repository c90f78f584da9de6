"""Whether a file holds the events that were written: its place, each event, their chain, their end."""

from __future__ import annotations

import json
import math
import os
import sqlite3
import stat
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NoReturn

from aced.ledger import _schema as schema
from aced.ledger._errors import LedgerDamaged, LedgerError
from aced.ledger._events import Event
from aced.ledger._head import Head, Mark
from aced.ledger._sqlite import sentences
from aced.ledger._state import AHEAD, FOLD, State

BEFORE_ALL = -(2**63)
"""A number below that of any event. Events count from 1, but somebody may have edited the file."""

Files = tuple[tuple[int, int] | None, tuple[int, int] | None]
UNFIT = (AssertionError, ArithmeticError, AttributeError, LookupError, TypeError, ValueError)
"""The errors that a state raises when an event does not fit it."""
SMALLEST = 512
"""Bytes of the smallest database."""
COPY = "restore a copy"


# -- the file --------------------------------------------------------------------------------


def check_place(path: Path) -> None:
    """Refuse a file that is none, cannot be read, or lost its beginning.

    SQLite would take a file without its beginning for new, and delete the log beside it.
    """
    log, head = path.with_name(f"{path.name}-wal"), path.with_suffix(".head")
    size, logged = _size(path), _size(log)  # each is looked at once: the log comes and goes
    if not os.access(path, os.R_OK):
        raise LedgerError("project", f"{path} cannot be read: you lack the permission; ask its owner")
    if size < SMALLEST and (logged or head.exists()):
        raise LedgerDamaged("project", f"{path} is damaged: it was emptied or cut; {COPY}")


def _size(path: Path) -> int:
    """The bytes of a regular file, 0 if there is none."""
    try:
        found = path.stat()
    except FileNotFoundError:
        return 0
    if not stat.S_ISREG(found.st_mode):
        raise LedgerDamaged("project", f"{path} is not a regular file; {COPY}")
    return found.st_size


def files_of(path: Path) -> Files:
    """What tells the database, and the log beside it, from other files of the same names."""
    first, second = (_identity(part) for part in (path, path.with_name(f"{path.name}-wal")))
    return first, second


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def open_with_head(
    path: Path, connect: Callable[[], sqlite3.Connection]
) -> tuple[sqlite3.Connection, Mark | None, int]:
    """The database, the head record beside it, and the schema version.

    The head record is read first, since others may add events meanwhile. Both are read once more if
    there was no record, and yet the version has one: somebody has just brought the file up to date.
    """
    head = Head(path.with_suffix(".head"))
    for last in (False, True):
        mark = head.read()
        base = connect()
        try:
            version = find_version(base, path, mark)
        except BaseException:
            base.close()
            raise
        if mark is not None or version < schema.WITH_HEAD or last:
            break
        base.close()
    return base, mark, version


def find_version(base: sqlite3.Connection, path: Path, head: Mark | None) -> int:
    """The schema version of a file beside which there is this head record."""
    with sentences(path):
        version = int(base.execute("PRAGMA user_version").fetchone()[0])
    if not 0 <= version <= len(schema.MIGRATIONS):
        known = f"this aced knows up to {len(schema.MIGRATIONS)}; use a newer aced"
        raise LedgerError("project", f"{path} has schema version {version}, {known}")
    if version == 0 and head is not None:
        raise LedgerDamaged("project", f"{path} has lost its events; {COPY}")
    return version


def find_loss(base: sqlite3.Connection, path: Path, head: Mark | None, last: int) -> str | None:
    """What was acknowledged and is missing after event ``last``, as a sentence; None if nothing is."""
    if head is None:
        return f"{path.with_suffix('.head')} is missing or damaged" if last else None
    if head.seq > last:
        which = (
            f"event {head.seq} was" if head.seq == last + 1 else f"events {last + 1} to {head.seq} were"
        )
        return f"{which} acknowledged, but {path} ends with event {last}"
    if head.seq and link_of(base, path, head.seq) != head.link:
        return f"event {head.seq} in {path} is not the one that was acknowledged"
    return None


def way_out(path: Path) -> str:
    go_on = f"aced replay {path.parent} --accept-loss"
    return f"restore a copy of the project, or go on without what is lost: {go_on}"


def link_of(base: sqlite3.Connection, path: Path, seq: int) -> str | None:
    """The hash of an event as it stands in the file."""
    with sentences(path):
        found = base.execute("SELECT hash FROM events WHERE seq = ?", (seq,)).fetchone()
    return None if found is None else found[0]


# -- its events ------------------------------------------------------------------------------


def read_events(
    base: sqlite3.Connection, path: Path, after: int = BEFORE_ALL
) -> Iterator[tuple[Event, str]]:
    """Events in order, each with its hash as written."""
    query = f"SELECT {schema.COLUMNS}, hash FROM events WHERE seq > ? ORDER BY seq"
    last = max(after, 0)
    with sentences(path):
        try:
            for *columns, link in base.execute(query, (after,)):
                event = as_event(columns, path, last + 1)
                last = event.seq
                yield event, link
        except sqlite3.OperationalError as error:
            if "decode" not in str(error):
                raise
            raise LedgerDamaged(path, f"event {last + 1} is damaged: it is no text; {COPY}") from error


def as_event(columns: Sequence[Any], path: Path, number: int) -> Event:
    """The event in a row of the table, whose cells may be damaged; it should be event ``number``."""
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
        which = seq if isinstance(seq, int) and seq > number else number
        raise LedgerDamaged(path, f"event {which} is damaged: it cannot be read; {COPY}")
    return Event(seq, at, kind, who, row, content, key)


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number")


def fault(event: Event, link: str, before: Mark, at: float) -> str | None:
    """What is wrong with an event that follows ``before``, written at ``at``; None if nothing is."""
    if event.seq < 1:
        return f"event {event.seq} is damaged: events count from 1"
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
