"""A scipy sparse matrix, kept as CSR in float32."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse

from aced._types import Array

SPARSE_BLOCK_ROWS = 16384
"""A block's results have as many rows as there are features, so blocks are few and tall."""


class Sparse:
    """CSR rows that this process holds."""

    block_rows = SPARSE_BLOCK_ROWS
    sparse = True

    def __init__(self, rows: Any) -> None:
        matrix = scipy.sparse.csr_matrix(rows, dtype=np.float32, copy=True)
        matrix.sum_duplicates()
        self.matrix = matrix
        self.shape = (int(matrix.shape[0]), int(matrix.shape[1]))

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
