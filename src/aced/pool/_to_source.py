"""Make a source from what users pass as rows."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse

from aced._errors import InvalidInput
from aced._files import check_file
from aced._free_memory import room_for
from aced.pool._blocks import Blocks, InMemory, Source
from aced.pool._convert import check_shape, is_made_by, refuse_dtype, to_matrix
from aced.pool._dask import Dask
from aced.pool._mapped import Mapped
from aced.pool._npy_folder import NpyFolder
from aced.pool._numbers import MOST, Raw, Sample, reach, refuse_numbers, refuse_tiny
from aced.pool._parquet import Parquet
from aced.pool._sparse import Sparse, check_sparse, load_sparse
from aced.pool._zarr import MARKS, Zarr

MOST_DENSE_BYTES = 2 * 1024**3
MOST_DENSE_FEATURES = 4096
"""A sparse matrix within both limits is stored densely, which is then faster."""


def to_source(rows: Any, names: list[str] | None) -> tuple[Source, float]:
    """A source whose rows have been checked, and its largest number; other rows are refused."""
    if isinstance(rows, str | os.PathLike):
        path = Path(rows)
        if not path.exists():
            raise InvalidInput("rows", f"{path} does not exist")
        if path.suffix.lower() != ".npz":
            return _checked_file(_open(path))
        rows = load_sparse(path)
    if isinstance(rows, np.memmap):
        check_shape(rows)
        return _checked_file(Mapped.of(rows))
    if is_made_by("zarr", "Array", rows):
        return _checked_file(Zarr(rows))
    if is_made_by("dask.array", "Array", rows):
        return _checked_file(Dask(rows))
    if scipy.sparse.issparse(rows):
        refuse_dtype(rows.dtype)
        check_shape(rows)
        check_sparse(rows)
        count = rows.shape[0] * rows.shape[1]
        if rows.shape[1] > MOST_DENSE_FEATURES or 4 * count > MOST_DENSE_BYTES:
            held = Sparse(rows)
            refuse_tiny(held.largest, lambda: reach(rows.tocsr().data))
            return held, held.largest
        room_for(count * (4 + rows.dtype.itemsize), "rows: as dense rows these need")
        if rows.dtype == np.float16 or not rows.dtype.isnative:  # scipy cannot make these dense
            rows = rows.astype(np.float64)
        rows = rows.toarray()
    array, matrix = to_matrix(rows)
    return _checked(InMemory(matrix), lambda start, stop: array[start:stop], names)


def _open(path: Path) -> Source:
    kind = path.suffix.lower()
    if not path.is_dir():
        check_file("rows", path)
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
    files = sorted(path for path in folder.iterdir() if path.name[0] not in "._" and not path.is_dir())
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


def _checked_file(source: Any) -> tuple[Source, float]:
    return _checked(source, source.raw, getattr(source, "names", None))


def _checked(source: Any, raw: Raw, names: list[str] | None) -> tuple[Source, float]:
    """The source and its largest number, after a check of its numbers, block by block."""
    data, largest = Blocks(source), 0.0
    sample = Sample(data.slices, source.shape[1])
    for index, rows in enumerate(data.slices):
        block = data.block(index)
        highest = reach(block)
        if not highest <= MOST:
            refuse_numbers(raw(rows.start, rows.stop), block, names, first=rows.start)
        largest = max(largest, highest)
        sample.see(index, block)
    refuse_tiny(largest, lambda: max(reach(raw(rows.start, rows.stop)) for rows in data.slices))
    sample.warn_of_collapse(raw, names)
    checked: Source = source
    return checked, largest
