"""Rows in pieces, one after the other: chunks of an array, files of a folder."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator

import numpy as np

from aced._types import Array, Float32, Ints
from aced.pool._blocks import BLOCK_ROWS


class Concatenated(ABC):
    """A source that knows where its pieces start, and joins the rows of a block from them."""

    block_rows = BLOCK_ROWS

    def __init__(self, starts: Ints, features: int) -> None:
        self.starts = starts  # piece k has the rows starts[k] to starts[k + 1]
        self.shape = (int(starts[-1]), features)

    @abstractmethod
    def _rows(self, index: int, rows: slice | Ints) -> Float32:
        """Rows of one piece, counted from its first row; a slice when they are read in order."""

    @abstractmethod
    def _raw(self, index: int, rows: slice) -> Array:
        """Rows of one piece as they are stored, in any dtype."""

    def _within(self, start: int, stop: int) -> Iterator[tuple[int, slice]]:
        """The pieces that hold these rows, and where in each piece they are."""
        index = int(np.searchsorted(self.starts, start, side="right")) - 1
        while start < stop:
            first, last = int(self.starts[index]), int(self.starts[index + 1])
            yield index, slice(start - first, min(stop, last) - first)
            start, index = last, index + 1

    def read(self, start: int, stop: int) -> Float32:
        out = np.empty((stop - start, self.shape[1]), np.float32)
        done = 0
        for index, rows in self._within(start, stop):
            size = rows.stop - rows.start
            out[done : done + size] = self._rows(index, rows)
            done += size
        return out

    def raw(self, start: int, stop: int) -> Array:
        """These rows before they are made float32, used only to say what is wrong with them."""
        return np.concatenate([self._raw(index, rows) for index, rows in self._within(start, stop)])

    def take(self, positions: Array) -> Float32:
        """The rows at these positions; only the pieces that hold them are read, each once."""
        wanted = _from_zero(positions, self.shape[0])
        out = np.empty((wanted.size, self.shape[1]), np.float32)
        flat = wanted.ravel()
        order = np.argsort(flat, kind="stable")
        piece = np.searchsorted(self.starts, flat[order], side="right") - 1
        for chosen in np.split(order, np.flatnonzero(np.diff(piece)) + 1) if len(order) else []:
            index = int(np.searchsorted(self.starts, flat[chosen[0]], side="right")) - 1
            out[chosen] = self._rows(index, flat[chosen] - self.starts[index])
        return out.reshape(*wanted.shape, self.shape[1])


def _from_zero(positions: Array, count: int) -> Ints:
    """Positions counted from the first row, from all that numpy takes: negative ones, or a mask."""
    if positions.dtype.kind == "b":
        if positions.shape != (count,):
            raise IndexError(f"a mask must have one value per row ({count}), got {positions.shape}")
        return np.flatnonzero(positions)
    if positions.size and positions.dtype.kind not in "iu":
        raise IndexError(f"positions must be integers, got {positions.dtype}")
    whole = positions.astype(np.int64)
    outside = (whole < -count) | (whole >= count)
    if outside.any():
        raise IndexError(f"position {whole[outside][0]} is not in a pool of {count} rows")
    return np.where(whole < 0, whole + count, whole)
