"""From what users hold in memory (arrays, frames) to one float32 matrix."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from aced._check import is_whole
from aced._errors import InvalidInput
from aced._types import Array, Float32


def is_made_by(library: str, kind: str, value: Any) -> bool:
    """Whether ``value`` is a ``kind`` of a library, if somebody has imported that library."""
    module = sys.modules.get(library)
    return module is not None and isinstance(value, getattr(module, kind))


def split_frame(rows: Any) -> tuple[Any, Array | None, list[str] | None]:
    """The rows, the ids that they carry (a pandas index) and the names of columns, if any."""
    if is_made_by("pandas", "DataFrame", rows):
        names = [str(column) for column in rows.columns]
        refuse_columns(names, [_is_number(dtype) for dtype in rows.dtypes])
        return rows.to_numpy(dtype=np.float64, na_value=np.nan), np.asarray(rows.index), names
    if is_made_by("polars", "DataFrame", rows):
        names = list(rows.columns)
        refuse_columns(names, [dtype.is_numeric() or str(dtype) == "Boolean" for dtype in rows.dtypes])
        numbers = [rows[name].cast(sys.modules["polars"].Float64).to_numpy() for name in names]
        return (np.column_stack(numbers) if names else np.zeros((len(rows), 0))), None, names
    return rows, None, None


def _is_number(dtype: Any) -> bool:
    """Whether a pandas column holds real numbers; nullable types have a numpy one inside."""
    return getattr(getattr(dtype, "numpy_dtype", dtype), "kind", "O") in "biuf"


def refuse_columns(names: list[str], numeric: list[bool]) -> None:
    bad = [name for name, good in zip(names, numeric, strict=True) if not good]
    if bad:
        raise InvalidInput(
            "rows",
            f"column {bad[0]!r} is not numeric"
            + (f" (nor are {len(bad) - 1} others)" if len(bad) > 1 else "")
            + "; drop it or encode it as numbers first",
        )


def to_matrix(rows: Any, names: list[str] | None) -> Float32:
    """The rows as a finite, C-ordered float32 matrix; other rows are refused in a sentence."""
    try:
        array = np.asarray(rows)
    except ValueError as error:
        raise InvalidInput(
            "rows", "the rows have different lengths; pass a rectangle of numbers"
        ) from error
    check_shape(array)
    refuse_dtype(array.dtype)
    with np.errstate(over="ignore"):
        matrix = np.array(array, dtype=np.float32, order="C")  # a copy: checked once, then ours
    refuse_non_finite(array, matrix, names)
    return matrix


def check_shape(array: Any) -> None:
    """Refuse an array that is not rows x features, with at least one of each."""
    if array.ndim != 2:
        hint = "; use rows.reshape(len(rows), -1)" if array.ndim in (1, 3, 4) else ""
        raise InvalidInput(
            "rows", f"must be two-dimensional (rows x features), got {array.ndim} dimension(s){hint}"
        )
    if array.shape[0] == 0:
        raise InvalidInput("rows", "the pool is empty; pass at least one row")
    if array.shape[1] == 0:
        raise InvalidInput("rows", "there are no features; pass at least one column")


def refuse_dtype(dtype: Any) -> None:
    """Refuse a dtype that is not of real numbers."""
    if dtype.kind not in "biuf":
        raise InvalidInput(
            "rows",
            f"must hold real numbers, got dtype {dtype}; convert them, "
            "for example with rows.astype(float)",
        )


def refuse_non_finite(array: Array, matrix: Float32, names: list[str] | None, first: int = 0) -> None:
    """Refuse values that are not finite, naming the first one; ``first`` is the first row's number."""
    for start in range(0, len(matrix), 65536):
        finite = np.isfinite(matrix[start : start + 65536])
        if finite.all():
            continue
        row, column = (int(i) for i in np.argwhere(~finite)[0])
        value = array[start + row, column]
        where = f"row {first + start + row}, column {names[column] if names else column}"
        if np.isnan(value):
            raise InvalidInput("rows", f"{where} is NaN; fill or drop missing values first")
        if np.isinf(value):
            raise InvalidInput("rows", f"{where} is infinite; clip or drop such values first")
        raise InvalidInput("rows", f"{where} is {value:g}, too large for float32; rescale the features")


def to_ids(ids: Any, count: int) -> Array:
    """The ids as an array of distinct integers or strings, one for each row."""
    if ids is None:
        return np.arange(count, dtype=np.int64)
    try:
        array = np.asarray(ids, dtype=None if isinstance(ids, np.ndarray) else object)
    except ValueError:
        raise InvalidInput("ids", "must be a flat list of integers or strings") from None
    if array.ndim != 1 or len(array) != count:
        raise InvalidInput("ids", f"must be one value per row ({count}), got shape {array.shape}")
    listed = array.tolist()
    if all(isinstance(value, str) for value in listed):
        array = array.astype(str)
    elif all(map(is_whole, listed)):
        if max(map(abs, listed)) >= 2**63:
            raise InvalidInput("ids", "integers must fit in 64 bits; use strings instead")
        array = array.astype(np.int64)
    else:
        raise InvalidInput("ids", "must be all integers or all strings")
    values, counts = np.unique(array, return_counts=True)
    if len(values) != count:
        twice = values[counts > 1][0]
        raise InvalidInput(
            "ids", f"{twice.item()!r} stands for {counts.max()} rows; ids must be distinct"
        )
    return array
