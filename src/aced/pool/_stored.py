"""What all sources on disk have in common."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from aced._errors import InvalidInput, reason
from aced._free_memory import in_words, room_for
from aced._types import Array, Float32

Stamp = tuple[int, int]
FEW, EACH_BYTES = 10**6, 32


def unreadable(path: Any, what: str, error: Exception) -> InvalidInput:
    return InvalidInput("rows", f"{path} cannot be read as {what}: {reason(error)}")


def stamp(path: Path) -> Stamp:
    """The size and time of a file, by which a change since it was opened is noticed."""
    try:
        found = path.stat()
    except OSError:
        raise InvalidInput("rows", f"{path} does not exist; it may have been moved or deleted") from None
    return found.st_size, found.st_mtime_ns


def changed(path: Any) -> InvalidInput:
    return InvalidInput("rows", f"{path} has changed since the pool was made; make the pool again")


def on_disk(paths: list[Path], name: Path) -> str:
    """A description of files for people; the files may be gone."""
    size = in_words(sum(path.stat().st_size for path in paths if path.is_file()))
    count = f" in {len(paths)} files" if len(paths) > 1 else ""
    return f"{size} on disk at {name.name}{count}"


def room_for_many(count: int, claim: str) -> None:
    """Refuse more rows or columns than there is memory for a few numbers of each."""
    if count > FEW:
        room_for(EACH_BYTES * count, f"rows: {claim}, and a few numbers for each need")


def as_float32(rows: Array) -> Float32:
    """Rows as float32; numbers that are too large become infinite, and the check of rows names them."""
    with np.errstate(over="ignore"):
        return np.ascontiguousarray(rows, dtype=np.float32)
