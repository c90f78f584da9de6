"""The database under a ledger: how it is opened, and SQLite's errors as sentences.

On a disk that is full or read-only SQLite cannot open a database in the usual way, not even to read
it. The file is then read without a write-ahead log if it has none, or else from a copy elsewhere.
"""

from __future__ import annotations

import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.parse import quote

from aced.ledger._errors import LedgerDamaged, LedgerError

WAIT = 30.0
"""Seconds to wait for another process that writes."""
TRIES = 10
"""Copies that are begun, at most, of a file that somebody writes meanwhile."""
LOG_HEAD = 32
"""Bytes of the head of a log; it has new random numbers whenever the log begins anew."""
PLACES = (None, "/dev/shm")
"""Folders for a copy: the usual one for temporary files, or memory if that is full."""


def connect(path: Path) -> sqlite3.Connection:
    """Open a database for reading and writing. A transaction that ended is on disk."""
    with sentences(path):
        base = _open(str(path))
        try:
            base.execute("PRAGMA journal_mode=WAL")
            base.execute("PRAGMA synchronous=FULL")
            base.execute("SELECT count(*) FROM sqlite_schema")
        except sqlite3.Error:
            base.close()
            raise
    return base


def connect_to_read(path: Path) -> sqlite3.Connection:
    """Open a database that cannot be written where it is."""
    log = path.with_name(f"{path.name}-wal")
    with sentences(path):
        if not _marks(path, log)[2]:
            return _open(f"file:{quote(str(path.absolute()))}?immutable=1", uri=True)
        for place in PLACES:
            with suppress(OSError, sqlite3.OperationalError):
                return _copied(path, log, place)
    raise LedgerError(path, "cannot be read: its disk is full or read-only, and no other has room")


def _copied(path: Path, log: Path, place: str | None) -> sqlite3.Connection:
    with tempfile.TemporaryDirectory(prefix="aced-", dir=place) as folder:
        for _ in range(TRIES):
            before = _marks(path, log)
            shutil.copyfile(path, Path(folder) / path.name)
            try:
                shutil.copyfile(log, Path(folder) / log.name)
            except FileNotFoundError:  # whoever wrote it has ended
                (Path(folder) / log.name).unlink(missing_ok=True)
            if _marks(path, log) == before:
                break  # else somebody moved events from the log to the file in between
        else:
            raise LedgerError(path, "is being written all the time; repeat")
        base = _open(str(Path(folder) / path.name))
        base.execute("SELECT count(*) FROM sqlite_schema")  # opens both before they are deleted
        return base


def _marks(path: Path, log: Path) -> tuple[int, int, bytes]:
    """What changes when events move from the log to the file: the file, and the head of the log."""
    found = path.stat()
    try:
        with log.open("rb") as file:
            start = file.read(LOG_HEAD)
    except FileNotFoundError:
        start = b""
    return found.st_mtime_ns, found.st_size, start


def _open(place: str, uri: bool = False) -> sqlite3.Connection:
    return sqlite3.connect(place, timeout=WAIT, isolation_level=None, check_same_thread=False, uri=uri)


@contextmanager
def sentences(path: Path) -> Iterator[None]:
    """Turn the errors of SQLite into one sentence."""
    try:
        yield
    except sqlite3.OperationalError as error:
        said = str(error)
        if "full" in said:
            sentence = "the disk is full; nothing was saved, make room and repeat"
        elif "locked" in said:
            sentence = f"another process has held the file for {WAIT:.0f} s; end it and repeat"
        elif "readonly" in said or "unable to open" in said:
            sentence = "the disk or the folder cannot be written; nothing was saved"
        elif "decode" in said or "no such" in said:
            raise LedgerDamaged(path, f"is damaged ({said}); restore a copy") from error
        elif "disk I/O" in said:
            sentence = "the disk is full or failing; nothing was saved, make room and repeat"
        else:
            sentence = f"{said}; nothing was saved"
        raise LedgerError(path, sentence) from error
    except sqlite3.ProgrammingError:
        raise  # a mistake in the code, not in the file
    except (sqlite3.DatabaseError, UnicodeDecodeError) as error:  # the latter: in an error's text
        sentence = f"is not a ledger, or is damaged ({error}); restore a copy"
        raise LedgerDamaged(path, sentence) from error
