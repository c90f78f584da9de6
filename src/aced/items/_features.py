"""Features that a user brings: an array or frame, or a file of numbers."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np

from aced._archive import plain_arrays
from aced._errors import InvalidInput
from aced._files import check_file
from aced._tables import is_numeric, read_parquet, records
from aced._types import Array, Float32
from aced.items._cells import as_number
from aced.pool import Pool


def features_from(path_or_array: Any, count: int) -> Float32:
    """A finite float32 matrix with ``count`` rows, one for each item, from an array, a frame or a file.

    >>> features_from([[0, 1], [2, 3]], count=2)
    array([[0., 1.],
           [2., 3.]], dtype=float32)
    """
    if not isinstance(path_or_array, str | os.PathLike):
        return checked(path_or_array, count, "features")
    path = Path(path_or_array)
    check_file("features", path)
    read = READERS.get(path.suffix.lower())
    if read is None:
        raise InvalidInput("features", f"{path.name} does not end in {', '.join(READERS)}")
    return checked(read(path), count, "features")


def checked(rows: Any, count: int, argument: str) -> Float32:
    """The rows as a matrix that a pool takes, with one row for each of ``count`` items."""
    try:
        pool = Pool(rows)
        if pool.sparse:
            raise InvalidInput(
                "rows",
                f"{pool.features} sparse columns are too many for a project; reduce them first, "
                "for example with TruncatedSVD",
            )
        matrix: Float32 = pool.rows()
    except InvalidInput as error:
        raise InvalidInput(argument, error.sentence) from error
    if len(matrix) != count:
        raise InvalidInput(
            argument, f"{len(matrix)} rows for {count} items; pass one row for each item, in order"
        )
    return matrix


def _from_numpy(path: Path) -> Array:
    arrays = plain_arrays(path, "features")
    if len(arrays) != 1:
        names = ", ".join(arrays) or "none"
        raise InvalidInput("features", f"{path.name} must hold one array; it holds {names}")
    return next(iter(arrays.values()))


def _from_records(path: Path) -> Array:
    """The numbers of a table, with or without a line of names above them."""
    found, _ = records(path, "features")
    if not found:
        raise InvalidInput("features", f"{path.name} is empty; give it at least one row")
    named = any(as_number(cell) is None for cell in found[0])
    names = found[0] if named else [str(place) for place in range(len(found[0]))]
    rows = np.empty((len(found) - named, len(names)))
    for place, record in enumerate(found[named:]):
        for column, cell in enumerate(record):
            number = as_number(cell)
            if number is None:
                raise InvalidInput(
                    "features",
                    f"row {place}, column {names[column]} of {path.name} "
                    f"holds {cell[:40]!r}, which is no number; drop or encode that column",
                )
            rows[place, column] = number
    return rows


def _from_parquet(path: Path) -> Array:
    """Columns of numbers, or one column with a list of numbers in each row."""
    table = read_parquet(path, "features")
    import pyarrow as pa

    lists = (pa.ListType, pa.LargeListType, pa.FixedSizeListType)
    if table.num_columns == 1 and isinstance(table.schema.types[0], lists):
        return _stacked(table.columns[0].to_pylist(), path)
    columns = []
    for name, column in zip(table.column_names, table.columns, strict=True):
        if not is_numeric(column.type):
            raise InvalidInput(
                "features", f"column {name!r} of {path.name} is not numeric; drop or encode it"
            )
        columns.append(np.array(column.to_pylist(), dtype=float))  # nulls become NaN
    return np.column_stack(columns) if columns else np.zeros((table.num_rows, 0))


def _stacked(lists: list[Any], path: Path) -> Array:
    try:
        return np.array(lists, dtype=float).reshape(len(lists), -1)
    except (ValueError, TypeError) as error:
        raise InvalidInput(
            "features", f"the lists in {path.name} are not numbers of one length; make them equally long"
        ) from error


READERS = {
    ".npy": _from_numpy,
    ".npz": _from_numpy,
    ".csv": _from_records,
    ".tsv": _from_records,
    ".parquet": _from_parquet,
}
