"""Rows with stable ids, read in blocks."""

from __future__ import annotations

import hashlib
from functools import cached_property
from typing import Any

import numpy as np

from aced._errors import InvalidInput
from aced._types import Array, Float32, Ints
from aced.pool._convert import split_frame, to_ids, to_matrix

BLOCK_ROWS = 1024


class Pool:
    """Unlabelled rows to choose from.

    ``rows`` is a two-dimensional array of numbers, a pandas or polars frame, or a scipy
    sparse matrix; ``ids`` are distinct integers or strings (default: a pandas index,
    else 0, 1, …). Rows are copied and kept as float32. NaN and infinities are refused; constant
    columns are allowed and carry no information.

    >>> pool = Pool([[0.0, 1.0], [1.0, 0.0]], ids=["a", "b"])
    >>> len(pool), pool.features, pool.positions(["b"])
    (2, 2, array([1]))
    """

    def __init__(self, rows: Any, ids: Any = None) -> None:
        rows, carried, names = split_frame(rows)
        self._matrix = to_matrix(rows, names)
        self.ids: Array = to_ids(carried if ids is None else ids, len(self._matrix))
        edges = range(0, len(self._matrix), BLOCK_ROWS)
        self.slices = tuple(slice(i, min(i + BLOCK_ROWS, len(self._matrix))) for i in edges)

    def __len__(self) -> int:
        return len(self._matrix)

    def __repr__(self) -> str:
        return f"Pool({len(self)} rows, {self.features} features)"

    @property
    def features(self) -> int:
        return int(self._matrix.shape[1])

    @property
    def blocks(self) -> int:
        """How many blocks there are; every computation goes block by block."""
        return len(self.slices)

    def block(self, index: int) -> Float32:
        """Rows of one block, shape (at most BLOCK_ROWS, features)."""
        return self._matrix[self.slices[index]]

    def rows(self, positions: Any = None) -> Float32:
        """The rows at these positions (all of them by default)."""
        return self._matrix if positions is None else self._matrix[positions]

    def positions(self, ids: Any) -> Ints:
        """Positions of the rows with these ids."""
        try:
            wanted = np.atleast_1d(np.asarray(ids))
        except ValueError:
            raise InvalidInput("ids must be a flat list of ids") from None
        if wanted.ndim != 1:
            raise InvalidInput(f"ids must be a flat list, got shape {wanted.shape}")
        if len(wanted) and wanted.dtype.kind not in "iuUO":
            raise InvalidInput(f"ids must be ids of rows, got values of type {wanted.dtype}")
        lookup = self._lookup
        try:
            return np.array([lookup[value] for value in wanted.tolist()], dtype=np.int64)
        except (KeyError, TypeError):
            unknown = next(v for v in wanted.tolist() if not _known(v, lookup))
            raise InvalidInput(f"ids: {unknown!r} is not in the pool") from None

    @cached_property
    def _lookup(self) -> dict[Any, int]:
        return {value: position for position, value in enumerate(self.ids.tolist())}

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 of the rows and ids: tells whether a saved learner fits this pool."""
        digest = hashlib.sha256(repr(self._matrix.shape).encode())
        for index in range(self.blocks):
            digest.update(self.block(index).tobytes())
        digest.update(repr(self.ids.tolist()).encode())
        return digest.hexdigest()


def _known(value: Any, lookup: dict[Any, int]) -> bool:
    try:
        return value in lookup
    except TypeError:
        return False
