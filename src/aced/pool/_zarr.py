"""Zarr arrays, read by their own chunks."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from aced._errors import InvalidInput
from aced._files import check_file
from aced._free_memory import in_words, room_for
from aced._optional import needed
from aced._types import Array
from aced.pool._chunk_cache import CachedChunks, even_chunks
from aced.pool._convert import check_shape, refuse_dtype
from aced.pool._stored import Stamp, changed, room_for_many, stamp, unreadable

MARKS = ("zarr.json", ".zarray", ".zgroup")
"""A folder with one of these files is a Zarr folder."""
_ERRORS = (OSError, ValueError, RuntimeError, KeyError, TypeError, MemoryError, OverflowError)
SMALL_BYTES, MOST_RATIO = 2**30, 10**4
"""An array above the first size must not be larger than its files by more than the second factor."""
MANY_CHUNKS = 100_000
"""Of an array with more chunks than this, at least a byte for each chunk is stored."""


class Zarr(CachedChunks):
    """Rows of a two-dimensional Zarr array; pickled as its folder, or else as its store."""

    def __init__(self, array: Any) -> None:
        check_shape(array)
        refuse_dtype(array.dtype)
        n, p = map(int, array.shape)
        self.array, self._marks = array, _marks_of(array)
        room_for_many(n, f"{self._where} claims {n} rows")
        chunk = math.prod(map(int, array.chunks)) * array.dtype.itemsize
        if chunk <= 0:
            raise InvalidInput("rows", f"{self._where} has empty chunks; write it anew")
        room_for(chunk, f"rows: a chunk of {self._where} has to fit in memory, write smaller ones")
        super().__init__(even_chunks(n, p, int(array.chunks[0])), p, self._where)

    @classmethod
    def open(cls, path: Path) -> Zarr:
        """Open an array, or the only two-dimensional array of a group."""
        zarr = needed("rows", "zarr", "reading .zarr folders", "zarr")
        stored = _stored_bytes(path)
        arrays = _arrays(zarr, path)
        if len(arrays) == 1:
            (array,) = arrays.values()
            _refuse_claims(array, stored, path)
            return cls(array)
        held = "no two-dimensional array" if not arrays else f"several ({', '.join(sorted(arrays))})"
        raise InvalidInput("rows", f"{path} holds {held}; pass the path of one, {path}/name")

    def __reduce__(self) -> tuple[Any, ...]:
        if self._marks is None:
            return Zarr, (self.array,)
        return _reopen, (str(self._marks[0].parent), self.shape)

    @property
    def kept(self) -> str:
        where = "in a Zarr store" if self._marks is None else f"on disk at {self._where.name}"
        return f"{self.array.dtype}, {in_words(self.array.nbytes)} once decoded, {where}"

    @property
    def _where(self) -> Any:
        return self.array.path or "the Zarr array" if self._marks is None else self._marks[0].parent

    def _decode(self, index: int) -> Iterator[tuple[int, Array]]:
        yield index, self._stored(int(self.starts[index]), int(self.starts[index + 1]))

    def _raw(self, index: int, rows: slice) -> Array:
        first = int(self.starts[index])
        return self._stored(first + rows.start, first + rows.stop)

    def _stored(self, start: int, stop: int) -> Array:
        # Zarr reads a chunk without a file as zeros, so a folder that is gone must be noticed here.
        if self._marks is not None and stamp(self._marks[0]) != self._marks[1]:
            raise changed(self._where)
        try:
            return np.asarray(self.array[start:stop])
        except _ERRORS as error:
            raise unreadable(self._where, "a Zarr array", error) from error


def _arrays(zarr: Any, path: Path) -> dict[str, Any]:
    """The array at a path, or the two-dimensional arrays of the group that is there, by name."""
    try:
        found = zarr.open(str(path.resolve()), mode="r")
        if isinstance(found, zarr.Array):
            return {"": found}
        return {name: array for name, array in found.arrays() if array.ndim == 2}
    except Exception as error:  # damaged notes about an array fail in many ways
        raise unreadable(path, "a Zarr array or group", error) from error


def _stored_bytes(folder: Path) -> int:
    """The bytes of all files below a folder; a pipe or a device among them is refused."""
    total = 0
    for place, _, names in os.walk(folder):
        for name in names:
            path = Path(place, name)
            check_file("rows", path)
            total += path.stat().st_size
    return total


def _refuse_claims(array: Any, stored: int, path: Path) -> None:
    """Refuse an array of which next to nothing is stored: zarr reads what is not there as zeros."""
    sides = zip(array.shape, array.chunks, strict=True)
    chunks = math.prod(-(-side // max(1, chunk)) for side, chunk in sides)
    if chunks > max(MANY_CHUNKS, stored):
        raise InvalidInput(
            "rows",
            f"{path} claims {chunks} chunks, and {in_words(stored)} are stored; "
            "write all its chunks, and larger ones",
        )
    if array.nbytes > max(SMALL_BYTES, MOST_RATIO * stored):
        raise InvalidInput(
            "rows",
            f"{path} claims {in_words(array.nbytes)}, and {in_words(stored)} are stored; "
            "write all its chunks",
        )


def _marks_of(array: Any) -> tuple[Path, Stamp] | None:
    """The file that describes an array in a folder, and its stamp."""
    root = getattr(array.store, "root", None) or getattr(array.store, "path", None)
    if not isinstance(root, str | Path):
        return None
    folder = Path(root).resolve() / array.path
    found = next((folder / mark for mark in MARKS if (folder / mark).is_file()), None)
    return None if found is None else (found, stamp(found))


def _reopen(name: str, shape: tuple[int, int]) -> Zarr:
    path = Path(name)
    if not path.exists():
        raise InvalidInput("rows", f"{path} does not exist; it may have been moved or deleted")
    found = Zarr.open(path)
    if found.shape != shape:
        raise changed(path)
    return found
