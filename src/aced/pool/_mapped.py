"""A .npy file read through a memory map, in any real dtype."""

from __future__ import annotations

import mmap
from pathlib import Path
from typing import Any

import numpy as np

from aced._errors import InvalidInput
from aced._files import check_file
from aced._free_memory import in_words
from aced._npy import read_header
from aced._types import Array, Float32
from aced.pool._blocks import BLOCK_ROWS
from aced.pool._convert import check_shape, refuse_dtype
from aced.pool._stored import as_float32, changed, stamp, unreadable

AHEAD_BYTES = 16 * 1024**2
"""The kernel is asked to read this much ahead of a block."""


class Mapped:
    """Rows of a memory map, made float32 a block at a time; pickled as the name of the file."""

    block_rows = BLOCK_ROWS

    def __init__(self, array: Array, origin: tuple[Any, ...] | None) -> None:
        refuse_dtype(array.dtype)
        self.array, self.origin = array, origin  # how another process opens the rows; None: it cannot
        self.shape = (int(array.shape[0]), int(array.shape[1]))
        base = array
        while isinstance(base, np.ndarray) and base.base is not None:
            base = base.base
        self._map = base if isinstance(base, mmap.mmap) else None
        self._size = 0 if self._map is None else self._map.size()
        self._row = array.dtype.itemsize * self.shape[1]
        self._advised = -1

    @classmethod
    def open(cls, path: Path) -> Mapped:
        shape, dtype = header(path)
        check_shape(np.broadcast_to(np.empty((), dtype), shape))
        try:
            array = np.load(path, mmap_mode="r", allow_pickle=False)
        except (ValueError, OSError) as error:
            raise unreadable(path, "a .npy file", error) from error
        return cls(array, ("file", str(path.resolve()), tuple(map(int, shape))))

    @classmethod
    def of(cls, array: np.memmap[Any, Any]) -> Mapped:
        """From a map that the caller made; another process can open it unless it is a view of a part."""
        whole = isinstance(array.base, mmap.mmap) and array.filename is not None
        origin = None
        if whole and array.flags.c_contiguous:
            name, dtype = str(Path(str(array.filename)).resolve()), array.dtype.str
            origin = ("raw", name, dtype, int(array.offset), tuple(map(int, array.shape)))
        return cls(array, origin)

    def __reduce__(self) -> tuple[Any, ...]:
        if self.origin is None:
            return Mapped, (np.asarray(self.array), None)
        return _reopen, self.origin

    @property
    def kept(self) -> str:
        name = Path(self.origin[1]).name if self.origin else "a part of a mapped file"
        return f"{self.array.dtype}, {in_words(self.array.nbytes)} on disk at {name}"

    def read(self, start: int, stop: int) -> Float32:
        self._refuse_shorter()
        self._read_ahead(stop)
        return as_float32(self.array[start:stop])

    def raw(self, start: int, stop: int) -> Array:
        """These rows as they are stored, used only to say what is wrong with them."""
        return self.array[start:stop]

    def take(self, positions: Array) -> Float32:
        self._refuse_shorter()
        return np.asarray(self.array[positions], dtype=np.float32)

    def _refuse_shorter(self) -> None:
        """Refuse a file that was cut short since it was mapped: reading it would end the process."""
        if self._map is not None and self._map.size() < self._size:
            raise changed(self.origin[1] if self.origin else "the mapped file")

    def _read_ahead(self, stop: int) -> None:
        """Tell the kernel which rows come next, once for every AHEAD_BYTES."""
        if self._map is None or not self.array.flags.c_contiguous:
            return
        chunk = stop * self._row // AHEAD_BYTES
        if chunk == self._advised:
            return
        self._advised = chunk
        begin = (chunk + 1) * AHEAD_BYTES // mmap.PAGESIZE * mmap.PAGESIZE
        if begin + AHEAD_BYTES < len(self._map) and hasattr(self._map, "madvise"):
            self._map.madvise(mmap.MADV_WILLNEED, begin, AHEAD_BYTES)


def header(path: Path) -> tuple[tuple[int, ...], np.dtype[Any]]:
    """Shape and dtype of a .npy file, from its first bytes; the file is as long as they say."""
    check_file("rows", path)
    try:
        with path.open("rb") as file:
            found = read_header(file, path.stat().st_size)
    except (ValueError, OSError) as error:
        raise unreadable(path, "a .npy file", error) from error
    return found.shape, found.dtype


def _reopen(kind: str, name: str, *form: Any) -> Mapped:
    path = Path(name)
    stamp(path)  # refuses a file that is gone
    if kind == "file":
        found = Mapped.open(path)
        if found.shape != form[0]:
            raise changed(path)
        return found
    dtype, offset, shape = form
    try:
        return Mapped.of(np.memmap(name, dtype=dtype, mode="r", offset=offset, shape=shape))
    except ValueError:
        raise InvalidInput(
            "rows", f"{path} is too short for {shape[0]} rows by {shape[1]} features of {dtype}"
        ) from None
