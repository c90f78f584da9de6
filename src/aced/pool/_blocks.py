"""The rows of a source, in blocks; every computation goes block by block."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from aced._free_memory import in_words
from aced._types import Array

BLOCK_ROWS = 1024
PART_BLOCKS = 16
MOST_PARTS = 32
"""A part has PART_BLOCKS blocks, or more where there would otherwise be more parts than this."""


class Source(Protocol):
    """Where the rows are. A source on disk is pickled as the name of its file, without the rows."""

    shape: tuple[int, int]
    block_rows: int
    """How many rows a block has: the same wherever rows are kept, so that results are the same."""

    def read(self, start: int, stop: int) -> Any:
        """Rows start to stop: a float32 matrix in C order, or a scipy CSR matrix of float32."""

    def take(self, positions: Array) -> Any:
        """The rows at these positions, in this order."""


class Blocks:
    """A source in blocks and parts: what workers need of a pool."""

    def __init__(self, source: Source) -> None:
        self.source = source
        n, size = source.shape[0], source.block_rows
        self.slices = tuple(slice(i, min(i + size, n)) for i in range(0, n, size))
        count = len(self.slices)
        step = max(PART_BLOCKS, -(-count // MOST_PARTS))
        self.parts = tuple(range(i, min(i + step, count)) for i in range(0, count, step))

    def __reduce__(self) -> tuple[Any, ...]:
        return Blocks, (self.source,)

    def __len__(self) -> int:
        return self.source.shape[0]

    def rows_of(self, part: range) -> slice:
        """The rows of one part."""
        return slice(self.slices[part[0]].start, self.slices[part[-1]].stop)

    def block(self, index: int) -> Any:
        rows = self.slices[index]
        return self.source.read(rows.start, rows.stop)


class InMemory:
    """A float32 matrix that this process holds."""

    block_rows = BLOCK_ROWS

    def __init__(self, matrix: Array) -> None:
        self.matrix = matrix
        self.shape = (int(matrix.shape[0]), int(matrix.shape[1]))

    @property
    def kept(self) -> str:
        """The type of the rows and where they are, for people."""
        return f"float32, {in_words(self.matrix.nbytes)} in memory"

    def read(self, start: int, stop: int) -> Array:
        return self.matrix[start:stop]

    def take(self, positions: Array) -> Array:
        return np.asarray(self.matrix[positions])
