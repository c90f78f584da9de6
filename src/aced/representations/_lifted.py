"""The rows of a pool, lifted: held in memory where they fit, else computed block by block when read.

Both give the same bits, because rows are lifted in the pool's blocks whoever asks for them: a product of
more or fewer rows may round differently.
"""

from __future__ import annotations

import numpy as np

from aced._errors import InvalidInput
from aced._types import Array
from aced._workers import Workers
from aced.pool import Dask, InMemory, Pool, Source, available_memory, in_words
from aced.representations._lift import Lift, lift_block

SHARE = 4
"""Lifted rows are held if they take at most one part in this many of the free memory."""


class Held(InMemory):
    """Lifted rows, kept."""

    @property
    def kept(self) -> str:
        return f"lifted, {in_words(self.matrix.nbytes)} in memory"


class Lifted:
    """The rows of another source, lifted when they are read."""

    def __init__(self, source: Source, lift: Lift) -> None:
        self._source, self._lift = source, lift
        self.block_rows = source.block_rows
        self.shape = (source.shape[0], lift.columns)
        self.kept = "lifted when read"

    def read(self, start: int, stop: int) -> Array:
        """Rows from the beginning of a block on, lifted block by block."""
        found = np.empty((stop - start, self.shape[1]), np.float32)
        for first in range(start, stop, self.block_rows):
            last = min(first + self.block_rows, stop)
            found[first - start : last - start] = self._lift.apply(self._source.read(first, last))
        return found

    def take(self, positions: Array) -> Array:
        """Rows by their positions, lifted with their whole blocks."""
        found = np.empty((len(positions), self.shape[1]), np.float32)
        blocks = np.asarray(positions) // self.block_rows
        for block in np.unique(blocks):
            start, here = int(block) * self.block_rows, blocks == block
            rows = self.read(start, min(start + self.block_rows, self.shape[0]))
            found[here] = rows[positions[here] - start]
        return found


def lifted_pool(pool: Pool, lift: Lift, workers: Workers) -> Pool:
    """A pool of the same rows, lifted. A cluster's array must fit in this machine's memory."""
    if is_held(len(pool), lift.columns):
        (rows,) = workers.each(lift_block, pool, lift)
        return pool.over(Held(rows))
    if isinstance(pool.data.source, Dask):
        need = in_words(4 * len(pool) * lift.columns)
        raise InvalidInput(
            "representation",
            f"lifted rows need {need}, and {in_words(available_memory())} are free; "
            'use representation="linear", or a pool in files, which workers can lift as they read',
        )
    return pool.over(Lifted(pool.data.source, lift))


def can_lift(pool: Pool, columns: int) -> bool:
    """Whether a pool can be lifted: sparse rows stay as they are, and so does a large cluster array."""
    if pool.sparse:
        return False
    return is_held(len(pool), columns) or not isinstance(pool.data.source, Dask)


def is_held(rows: int, columns: int) -> bool:
    """Whether so many lifted rows and columns are kept in memory."""
    return 4 * rows * columns <= available_memory() // SHARE


def is_lifted(pool: Pool) -> bool:
    """Whether the rows of a pool are lifted ones."""
    return isinstance(pool.data.source, Held | Lifted)
