"""A scipy sparse matrix, kept as CSR in float32."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse

from aced._errors import InvalidInput
from aced._files import check_file
from aced._free_memory import in_words
from aced._npy import check_npz
from aced._types import Array
from aced.pool._numbers import MOST, reach, refuse_numbers
from aced.pool._stored import as_float32, room_for_many, unreadable

SPARSE_BLOCK_ROWS = 16384
"""Rows of a block. Its results have as many rows as there are features, so blocks are few and tall."""


class Sparse:
    """CSR rows that this process holds; all numbers are finite."""

    block_rows = SPARSE_BLOCK_ROWS
    sparse = True

    def __init__(self, rows: Any) -> None:
        given = scipy.sparse.csr_matrix(rows)
        if not given.has_canonical_format:
            given = given.copy()
            given.sum_duplicates()
        values = as_float32(given.data)
        self.largest = reach(values)
        if not self.largest <= MOST:
            _refuse_numbers(given, values)
        own = (values, given.indices, given.indptr)
        self.matrix = scipy.sparse.csr_matrix(own, shape=given.shape, copy=True)
        self.shape = (int(given.shape[0]), int(given.shape[1]))

    @property
    def nbytes(self) -> int:
        return int(self.matrix.data.nbytes + self.matrix.indices.nbytes + self.matrix.indptr.nbytes)

    @property
    def kept(self) -> str:
        density = self.matrix.nnz / (self.shape[0] * self.shape[1])
        return f"sparse float32, {in_words(self.nbytes)} in memory, density {density:.2g}"

    def read(self, start: int, stop: int) -> Any:
        """A view of the matrix: indices and values are not copied."""
        m = self.matrix
        first, last = int(m.indptr[start]), int(m.indptr[stop])
        indptr = m.indptr[start : stop + 1] - first
        return scipy.sparse.csr_matrix(
            (m.data[first:last], m.indices[first:last], indptr),
            shape=(stop - start, m.shape[1]),
            copy=False,
        )

    def take(self, positions: Array) -> Any:
        return self.matrix[positions]


def _refuse_numbers(given: Any, values: Array) -> None:
    """Refuse values that are too large or not finite, naming the first; only its row is made dense."""
    bad = ~(np.abs(values) <= MOST)
    row = int(np.searchsorted(given.indptr, bad.argmax(), side="right")) - 1
    dense = given[row].toarray()
    refuse_numbers(dense, as_float32(dense), None, first=row)


def check_sparse(rows: Any) -> None:
    """Refuse a matrix with more rows or columns than there is memory for, or with wrong indices.

    scipy checks neither the order of ``indptr`` nor the range of ``indices``, and would read elsewhere.
    """
    for count, name in zip(rows.shape, ("rows", "columns"), strict=True):
        room_for_many(count, f"the sparse matrix claims {count} {name}")
    if rows.format in ("csr", "csc", "bsr") and not _consistent(rows):
        raise InvalidInput("rows", "the sparse matrix is damaged: its indices point outside it")


def _consistent(rows: Any) -> bool:
    """Whether a CSR, CSC or BSR matrix points at its own rows and columns only."""
    height, width = getattr(rows, "blocksize", (1, 1))
    lines, across = rows.shape[0] // height, rows.shape[1] // width
    if rows.format == "csc":
        lines, across = across, lines
    ends, places = rows.indptr, rows.indices
    if ends.dtype.kind not in "iu" or places.dtype.kind not in "iu" or len(ends) != lines + 1:
        return False
    if ends[0] != 0 or (ends[1:] < ends[:-1]).any() or ends[-1] > min(len(places), len(rows.data)):
        return False
    used = places[: ends[-1]]
    return not len(used) or bool(used.min() >= 0 and used.max() < across)


def load_sparse(path: Path) -> Any:
    """The matrix in a file that ``scipy.sparse.save_npz`` wrote."""
    check_file("rows", path)
    try:
        with zipfile.ZipFile(path) as archive:
            check_npz(archive, f"rows: the arrays in {path} have to fit in memory")
        return scipy.sparse.load_npz(path)
    except InvalidInput:
        raise
    except Exception as error:  # zip, header and key errors of many kinds
        raise unreadable(
            path, "a sparse .npz file (scipy.sparse.save_npz writes these)", error
        ) from error
