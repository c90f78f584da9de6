"""Make a source from what users pass as rows."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse

from aced._errors import InvalidInput
from aced.pool._blocks import Blocks, InMemory, Source
from aced.pool._convert import check_shape, is_made_by, refuse_dtype, refuse_non_finite, to_matrix
from aced.pool._dask import Dask
from aced.pool._mapped import Mapped
from aced.pool._npy_folder import NpyFolder
from aced.pool._parquet import Parquet
from aced.pool._sparse import Sparse, load_sparse
from aced.pool._zarr import MARKS, Zarr

MOST_DENSE_BYTES = 2 * 1024**3
MOST_DENSE_FEATURES = 4096
"""A sparse matrix within both limits is stored densely, which is then faster."""


def to_source(rows: Any, names: list[str] | None) -> Source:
    """A source whose rows have been checked; other rows are refused in a sentence."""
    if isinstance(rows, str | os.PathLike):
        path = Path(rows)
        if not path.exists():
            raise InvalidInput("rows", f"{path} does not exist")
        if path.suffix.lower() != ".npz":
            return _checked(_open(path))
        rows = load_sparse(path)
    if isinstance(rows, np.memmap):
        check_shape(rows)
        return _checked(Mapped.of(rows))
    if is_made_by("zarr", "Array", rows):
        return _checked(Zarr(rows))
    if is_made_by("dask.array", "Array", rows):
        return _checked(Dask(rows))
    if scipy.sparse.issparse(rows):
        refuse_dtype(rows.dtype)
        check_shape(rows)
        size = rows.shape[0] * rows.shape[1] * 4
        if rows.shape[1] > MOST_DENSE_FEATURES or size > MOST_DENSE_BYTES:
            return Sparse(rows)
        rows = rows.toarray()
    return InMemory(to_matrix(rows, names))


def _open(path: Path) -> Source:
    kind = path.suffix.lower()
    if kind == ".zarr" or any((path / mark).exists() for mark in MARKS):
        return Zarr.open(path)
    if path.is_dir():
        return _open_folder(path)
    if kind == ".npy":
        return Mapped.open(path)
    if kind == ".parquet":
        return Parquet.open([path])
    raise InvalidInput(
        "rows",
        f"{path} is of no known kind; pass a .npy, .parquet or sparse .npz file, a .zarr folder, "
        "or a folder of .npy or of .parquet files",
    )


def _open_folder(folder: Path) -> Source:
    """The source of a folder; files whose names begin with a dot or _ are notes, not rows."""
    files = sorted(path for path in folder.iterdir() if path.is_file() and path.name[0] not in "._")
    maps = [path for path in files if path.suffix.lower() == ".npy"]
    tables = [path for path in files if path.suffix.lower() == ".parquet"]
    if maps and tables:
        raise InvalidInput(
            "rows",
            f"{folder} holds both .npy and .parquet files ({maps[0].name}, {tables[0].name}); "
            "keep one kind in it",
        )
    if not maps and not tables:
        raise InvalidInput("rows", f"{folder} holds no .npy and no .parquet files; put some there")
    return NpyFolder.open(maps) if maps else Parquet.open(tables)


def _checked(source: Any) -> Source:
    """The source, after a check, block by block, that all its rows are finite."""
    data = Blocks(source)
    for index, rows in enumerate(data.slices):
        block = data.block(index)
        if not np.isfinite(block).all():
            stored, names = source.raw(rows.start, rows.stop), getattr(source, "names", None)
            refuse_non_finite(stored, block, names, first=rows.start)
    checked: Source = source
    return checked
