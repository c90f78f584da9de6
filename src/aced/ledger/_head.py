"""The head record: how many events were acknowledged, and the hash of the last one.

It lies outside the database, and is synced to disk before an event is acknowledged. If the database
then loses its end (a file removed, cut or restored from an older copy), the head record shows it.

The file has two slots in different disk blocks. A write goes to the slot with the older record, so
that a write that breaks off leaves the newer record as it was.
"""

from __future__ import annotations

import errno
import os
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from aced.ledger._errors import LedgerError

try:
    import fcntl
except ImportError:  # Windows: two processes then keep apart by the slots alone
    fcntl = None  # type: ignore[assignment]

SLOT = 4096
"""Bytes from one slot to the next: a block of a disk."""
LINE = 20 + 1 + 64 + 1 + 8 + 1
BINARY = getattr(os, "O_BINARY", 0)
_sync = getattr(os, "fdatasync", os.fsync)


class Mark(NamedTuple):
    """A place in the chain: the number of an event, and its hash."""

    seq: int
    link: str


class Head:
    """The file of the head record. Several processes may write it; a record never goes back."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file: int | None = None

    def read(self) -> Mark | None:
        """The last record; None if there is no file, or no whole record in it."""
        try:
            found = _newest(self.path.read_bytes()) if self.path.is_file() else None
        except OSError as error:
            sentence = f"cannot be read ({error.strerror}); ask its owner for the permission"
            raise LedgerError(self.path, sentence) from error
        return None if found is None else found[1]

    def advance(self, mark: Mark) -> None:
        """Write and sync a record, unless the file has this one or a later one already."""
        with self._locked() as file:
            os.lseek(file, 0, os.SEEK_SET)
            newest = _newest(os.read(file, 2 * SLOT))
            if newest is not None and newest[1].seq >= mark.seq:
                return
            place = 0 if newest is None else 1 - newest[0]
            _write(file, place * SLOT, _line(mark))
            _sync(file)

    def reset(self, mark: Mark) -> None:
        """Begin anew at this record, whatever the file holds."""
        with self._locked() as file:
            _write(file, 0, _line(mark).ljust(SLOT) + _line(mark))
            os.fsync(file)

    def close(self) -> None:
        if self._file is not None:
            os.close(self._file)
            self._file = None

    @contextmanager
    def _locked(self) -> Iterator[int]:
        """The open file, which no other process writes meanwhile."""
        try:
            if self._file is None:
                new = not self.path.exists()
                self._file = os.open(self.path, os.O_RDWR | os.O_CREAT | BINARY, 0o666)
                if new:
                    _sync_folder(self.path.parent)
            if fcntl is not None:
                fcntl.flock(self._file, fcntl.LOCK_EX)
            try:
                yield self._file
            finally:
                if fcntl is not None:
                    fcntl.flock(self._file, fcntl.LOCK_UN)
        except OSError as error:
            raise LedgerError(self.path, f"cannot be written ({error.strerror})") from error


def _sync_folder(folder: Path) -> None:
    """See that the names of new files are on disk, too."""
    if os.name == "nt":  # there, folders cannot be synced
        return
    opened = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)


def _write(file: int, place: int, content: bytes) -> None:
    os.lseek(file, place, os.SEEK_SET)
    if os.write(file, content) != len(content):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def _line(mark: Mark) -> bytes:
    text = f"{mark.seq:>20} {mark.link}".encode()
    return text + f" {zlib.crc32(text):08x}\n".encode()


def _newest(content: bytes) -> tuple[int, Mark] | None:
    """The slot with the last whole record, and the record."""
    found = [(place, _mark(content[place * SLOT :][:LINE])) for place in (0, 1)]
    whole = [(place, mark) for place, mark in found if mark is not None]
    return max(whole, key=lambda pair: pair[1].seq, default=None)


def _mark(line: bytes) -> Mark | None:
    try:
        seq, link = line[: LINE - 10].decode("ascii").split()
        mark = Mark(int(seq), link)
    except ValueError:
        return None
    return mark if _line(mark) == line else None
