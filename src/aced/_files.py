"""Reading regular files alone, and writing a file so that it holds the old content or the new, never
a half of it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from aced._errors import InvalidInput


def check_file(name: str, path: Path) -> None:
    """Refuse what is no regular file: a pipe or a device could keep its reader waiting for ever."""
    if path.is_dir():
        raise InvalidInput(name, f"{path} is a folder; name a file")
    if not path.exists():
        raise InvalidInput(name, f"there is no file {path}")
    if not path.is_file():
        raise InvalidInput(name, f"{path} is a pipe or a device; copy its content into a file")


def check_writable(name: str, path: Path) -> None:
    """Refuse a path that cannot be written, before any work is done for it."""
    if path.is_dir():
        raise InvalidInput(name, f"{path} is a folder; name a file")
    if not path.parent.is_dir():
        raise InvalidInput(name, f"there is no folder {path.parent}; make it first")
    if not os.access(path.parent if _replaceable(path) else path, os.W_OK):
        raise InvalidInput(name, f"{path} cannot be written")


def _replaceable(path: Path) -> bool:
    return path.is_file() or not path.exists()  # a device is written to, not replaced


@contextmanager
def replacing(path: Path) -> Iterator[IO[bytes]]:
    """Open a new file for bytes; it takes the place of ``path`` once it is whole."""
    if not _replaceable(path):
        with path.open("wb") as file:
            yield file
        return
    part = path.with_name(f"{path.name}.{os.getpid()}.part")
    try:
        with part.open("wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)
