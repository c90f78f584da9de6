"""A .npy file read through a memory map, in any real dtype."""

from __future__ import annotations

import mmap
from pathlib import Path
from typing import Any

import numpy as np

from aced._errors import InvalidInput
from aced._types import Array, Float32
from aced.pool._blocks import BLOCK_ROWS
from aced.pool._convert import check_shape, refuse_dtype

AHEAD_BYTES = 16 * 1024**2
"""The kernel is asked to read so much ahead of a block."""


class Mapped:
    """Rows of a map, made float32 a block at a time; pickled as the file's name."""

    block_rows = BLOCK_ROWS

    def __init__(self, array: Array, origin: tuple[Any, ...] | None) -> None:
        refuse_dtype(array.dtype)
        self.array, self._origin = array, origin
        self.shape = (int(array.shape[0]), int(array.shape[1]))
        base = array
        while isinstance(base, np.ndarray) and base.base is not None:
            base = base.base
        self._map = base if isinstance(base, mmap.mmap) else None
        self._row = array.dtype.itemsize * self.shape[1]
        self._told = -1

    @classmethod
    def open(cls, path: Path) -> Mapped:
        try:
            array = np.load(path, mmap_mode="r", allow_pickle=False)
        except ValueError as error:
            raise InvalidInput(f"rows: {path} cannot be read as a .npy file: {error}") from None
        check_shape(array)
        return cls(array, ("file", str(path.resolve())))

    @classmethod
    def of(cls, array: np.memmap[Any, Any]) -> Mapped:
        """A map that the caller made. A whole one is known by its file, a view of one is not."""
        whole = isinstance(array.base, mmap.mmap) and array.filename is not None
        origin = None
        if whole and array.flags.c_contiguous:
            name, dtype = str(Path(str(array.filename)).resolve()), array.dtype.str
            origin = ("raw", name, dtype, int(array.offset), tuple(map(int, array.shape)))
        return cls(array, origin)

    def __reduce__(self) -> tuple[Any, ...]:
        if self._origin is None:
            return Mapped, (np.asarray(self.array), None)
        return _reopen, self._origin

    @property
    def origin(self) -> tuple[Any, ...] | None:
        """How another process opens the same rows; None if it cannot."""
        return self._origin

    def read(self, start: int, stop: int) -> Float32:
        self._read_ahead(stop)
        return np.ascontiguousarray(self.array[start:stop], dtype=np.float32)

    def _read_ahead(self, stop: int) -> None:
        """Tell the kernel once for every AHEAD_BYTES which come next."""
        if self._map is None or not self.array.flags.c_contiguous:
            return
        chunk = stop * self._row // AHEAD_BYTES
        if chunk == self._told:
            return
        self._told = chunk
        begin = (chunk + 1) * AHEAD_BYTES // mmap.PAGESIZE * mmap.PAGESIZE
        if begin + AHEAD_BYTES < len(self._map) and hasattr(self._map, "madvise"):
            self._map.madvise(mmap.MADV_WILLNEED, begin, AHEAD_BYTES)

    def take(self, positions: Array) -> Float32:
        return np.asarray(self.array[positions], dtype=np.float32)


def _reopen(kind: str, name: str, *form: Any) -> Mapped:
    if kind == "file":
        return Mapped.open(Path(name))
    dtype, offset, shape = form
    return Mapped.of(np.memmap(name, dtype=dtype, mode="r", offset=offset, shape=shape))
