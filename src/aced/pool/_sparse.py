"""A scipy sparse matrix, kept as CSR in float32."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse

from aced._types import Array
from aced.pool._convert import refuse_non_finite
from aced.pool._free_memory import in_words
from aced.pool._stored import as_float32, unreadable

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
        _refuse_non_finite(given, values)
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


def _refuse_non_finite(given: Any, values: Array) -> None:
    """Refuse values that are not finite, naming the first; only its row is made dense."""
    finite = np.isfinite(values)
    if not finite.all():
        row = int(np.searchsorted(given.indptr, finite.argmin(), side="right")) - 1
        dense = given[row].toarray()
        refuse_non_finite(dense, as_float32(dense), None, first=row)


def load_sparse(path: Path) -> Any:
    """The matrix in a file that ``scipy.sparse.save_npz`` wrote."""
    try:
        return scipy.sparse.load_npz(path)
    except Exception as error:  # zip, header and key errors of many kinds
        raise unreadable(
            path, "a sparse .npz file (scipy.sparse.save_npz writes these)", error
        ) from error
