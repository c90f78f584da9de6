"""What the kinds of rows that stay on disk have in common."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from aced._errors import InvalidInput
from aced._types import Array, Float32

Stamp = tuple[int, int]


def needed(module: str, what: str, extra: str) -> Any:
    """An optional library, or a sentence that says how to install it."""
    try:
        return import_module(module)
    except ImportError as error:
        package = module.partition(".")[0]
        raise InvalidInput(
            "rows", f"reading {what} needs {package}; install it with: pip install 'aced[{extra}]'"
        ) from error


def unreadable(path: Any, what: str, error: Exception) -> InvalidInput:
    """One sentence, whatever number of lines the library took."""
    reason = " ".join(str(error).split()) or type(error).__name__
    return InvalidInput("rows", f"{path} cannot be read as {what}: {reason}")


def stamp(path: Path) -> Stamp:
    """Size and time of a file: what tells that it is no longer the one that was opened."""
    try:
        found = path.stat()
    except OSError:
        raise InvalidInput("rows", f"{path} does not exist; it may have been moved or deleted") from None
    return found.st_size, found.st_mtime_ns


def changed(path: Any) -> InvalidInput:
    return InvalidInput("rows", f"{path} has changed since the pool was made; make the pool again")


def as_float32(rows: Array) -> Float32:
    """What is too large becomes infinite, and is named when the rows are checked."""
    with np.errstate(over="ignore"):
        return np.ascontiguousarray(rows, dtype=np.float32)
