"""From what users pass as rows to a source of them."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse

from aced._errors import InvalidInput
from aced._types import Array
from aced.pool._blocks import Blocks, InMemory, Source
from aced.pool._convert import check_shape, refuse_dtype, refuse_non_finite, to_matrix
from aced.pool._mapped import Mapped
from aced.pool._sparse import Sparse

MOST_DENSE_BYTES = 2 * 1024**3
MOST_DENSE_FEATURES = 4096
"""A sparse matrix within both limits is stored densely: that is faster there."""


def to_source(rows: Any, names: list[str] | None) -> Source:
    """A source whose rows have been checked, or a sentence that says why not."""
    if isinstance(rows, str | os.PathLike):
        return _checked(_open(Path(rows)))
    if isinstance(rows, np.memmap):
        check_shape(rows)
        return _checked(Mapped.of(rows))
    if scipy.sparse.issparse(rows):
        refuse_dtype(rows.dtype)
        check_shape(rows)
        size = rows.shape[0] * rows.shape[1] * 4
        if rows.shape[1] > MOST_DENSE_FEATURES or size > MOST_DENSE_BYTES:
            return _checked(Sparse(rows))
        rows = rows.toarray()
    return InMemory(to_matrix(rows, names))


def _open(path: Path) -> Source:
    if not path.exists():
        raise InvalidInput(f"rows: {path} does not exist")
    if path.suffix == ".npy":
        return Mapped.open(path)
    raise InvalidInput(f"rows: {path} is neither a .npy file nor a folder of them")


def _checked(source: Source) -> Source:
    """The source, once all its rows have been seen to be finite."""
    data = Blocks(source)
    for index, rows in enumerate(data.slices):
        block = data.block(index)
        values: Array = block.data[None] if scipy.sparse.issparse(block) else block
        if not np.isfinite(values).all():
            dense = block.toarray() if scipy.sparse.issparse(block) else block
            refuse_non_finite(dense, dense, None, first=rows.start)
    return source
