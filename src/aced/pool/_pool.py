"""Rows with stable ids, read in blocks."""

from __future__ import annotations

import copy
import hashlib
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse

from aced._check import is_whole
from aced._errors import InvalidInput
from aced._free_memory import room_for
from aced._types import Array, Ints
from aced.pool._blocks import Blocks, InMemory, Source
from aced.pool._convert import split_frame, text_array, to_ids
from aced.pool._parquet import Parquet
from aced.pool._to_source import to_source


class Pool:
    """All rows that may be asked for.

    ``rows`` is a two-dimensional array of numbers, a pandas or polars frame, or a scipy sparse matrix.
    It may also name rows that stay where they are and are read in blocks: the path of a .npy file, of a
    .parquet file (every column is a feature), of a .zarr folder, or of a folder of .npy or of .parquet
    files (in the order of their names); a memory-mapped array, a zarr array or a dask array. A sparse
    .npz file, given by its path, is read into memory. ``ids`` are distinct integers or strings
    (default: the pandas index of a frame or .parquet file, else 0, 1, …).

    Rows in memory are copied and kept as float32; a sparse matrix with many columns stays sparse. Rows
    on disk may have any real dtype and are made float32 as they are read; the files must not change.
    All rows are read once now. NaN, nulls and infinities are refused; constant columns are allowed and
    carry no information. The same numbers make the same pool wherever they are kept.

    >>> pool = Pool([[0.0, 1.0], [1.0, 0.0]], ids=["a", "b"])
    >>> len(pool), pool.features, pool.positions(["b"])
    (2, 2, array([1]))
    >>> pool
    Pool(2 rows x 2 features, float32, 16 bytes in memory, ids 'a' … 'b')
    """

    def __init__(self, rows: Any, ids: Any = None) -> None:
        rows, carried, names = split_frame(rows)
        source, self.largest = to_source(rows, names)
        self.data = Blocks(source)
        n = len(self.data)
        if ids is None and isinstance(source, Parquet):
            carried = source.carried()
        given = carried if ids is None else ids
        self.ids: Array = to_ids(given, n)
        self._counted = given is None or bool(
            self.ids.dtype.kind == "i" and np.array_equal(self.ids, np.arange(n))
        )

    def over(self, source: Source) -> Pool:
        """A pool with the same ids whose rows are those of another source."""
        other = copy.copy(self)
        for name in ("fingerprint", "_sorted"):
            other.__dict__.pop(name, None)
        other.data, other.largest = Blocks(source), 1.0
        return other

    def __len__(self) -> int:
        return len(self.data)

    def __repr__(self) -> str:
        shape = f"{len(self)} rows x {self.features} features"
        kept = getattr(self.data.source, "kept", "kept elsewhere")
        ids = "" if self._counted else f", ids {self.ids[0].item()!r} … {self.ids[-1].item()!r}"
        return f"Pool({shape}, {kept}{ids})"

    @property
    def features(self) -> int:
        return self.data.source.shape[1]

    @property
    def in_memory(self) -> bool:
        """Whether this process holds the rows as one matrix."""
        return isinstance(self.data.source, InMemory)

    @property
    def sparse(self) -> bool:
        """Whether blocks are scipy CSR matrices."""
        return bool(getattr(self.data.source, "sparse", False))

    @property
    def slices(self) -> tuple[slice, ...]:
        """The rows of each block."""
        return self.data.slices

    @property
    def parts(self) -> tuple[range, ...]:
        """The blocks of each part."""
        return self.data.parts

    @property
    def blocks(self) -> int:
        """How many blocks there are; every computation goes block by block."""
        return len(self.slices)

    def block(self, index: int) -> Any:
        """The rows of one block, a matrix of at most the source's ``block_rows`` rows."""
        return self.data.block(index)

    def rows(self, positions: Any = None) -> Any:
        """The rows at these positions; by default all rows, if they fit in memory."""
        source = self.data.source
        if positions is not None:
            return source.take(np.asarray(positions))
        if isinstance(source, InMemory):
            return source.matrix
        if not self.sparse:
            need = 4 * len(self) * self.features
            room_for(need, f"rows: this needs all {len(self)} rows in memory")
        return source.read(0, len(self))

    def positions(self, ids: Any) -> Ints:
        """Positions of the rows with these ids."""
        try:
            wanted = np.atleast_1d(np.asarray(ids))
            if wanted.dtype.kind in "Uu" and not isinstance(ids, np.ndarray):
                # numpy cuts off NUL characters, and makes texts of numbers that stand beside texts
                wanted = np.atleast_1d(np.asarray(ids, dtype=object))
        except ValueError:
            raise InvalidInput("ids", "must be a flat list of ids") from None
        if wanted.ndim != 1:
            raise InvalidInput("ids", f"must be a flat list, got shape {wanted.shape}")
        if len(wanted) and wanted.dtype.kind not in "iuUO":
            raise InvalidInput("ids", f"must be ids of rows, got values of type {wanted.dtype}")
        found = self._find(wanted)
        if (found < 0).any():
            unknown = wanted.tolist()[int((found < 0).argmax())]
            raise InvalidInput("ids", f"{unknown!r} is not in the pool")
        return found

    def _find(self, wanted: Array) -> Ints:
        """The positions of these ids, -1 where the pool has no such id."""
        text = self.ids.dtype.kind == "U"
        if wanted.dtype.kind in "Ou":
            listed = wanted.tolist()
            fits = [
                isinstance(v, str) and "\0" not in v if text else is_whole(v) and -(2**63) < v < 2**63
                for v in listed
            ]
            held = [v for v, fit in zip(listed, fits, strict=True) if fit]
            found = np.full(len(wanted), -1, dtype=np.int64)
            if held:
                found[fits] = self._find(text_array(held) if text else np.array(held, dtype=np.int64))
            return found
        if (wanted.dtype.kind == "U") != text or len(wanted) == 0:
            return np.full(len(wanted), -1, dtype=np.int64)
        if self._counted:
            return np.where((wanted >= 0) & (wanted < len(self)), wanted, -1).astype(np.int64)
        order, values = self._sorted
        place = np.minimum(np.searchsorted(values, wanted), len(values) - 1)
        return np.where(values[place] == wanted, order[place], -1).astype(np.int64)

    @cached_property
    def _sorted(self) -> tuple[Ints, Array]:
        order = np.argsort(self.ids, kind="stable")
        return order, self.ids[order]

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 of the rows and ids: tells whether a saved learner fits this pool."""
        digest = hashlib.sha256(repr((len(self), self.features)).encode())
        for index in range(self.blocks):
            block = self.block(index)
            if scipy.sparse.issparse(block):
                for array in (block.indptr.astype(np.int64), block.indices.astype(np.int64), block.data):
                    digest.update(array.tobytes())
            else:
                digest.update(np.ascontiguousarray(block).tobytes())
        digest.update(b"counted" if self._counted else repr(self.ids.tolist()).encode())
        return digest.hexdigest()
