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


def to_matrix(rows: Any) -> tuple[Array, Float32]:
    """The rows as one array, and as a C-ordered float32 matrix; what is no rectangle is refused."""
    refuse_masked(rows)
    try:
        array = np.asarray(rows)
    except ValueError as error:
        raise InvalidInput(
            "rows", "the rows have different lengths; pass a rectangle of numbers"
        ) from error
    check_shape(array)
    refuse_dtype(array.dtype)
    with np.errstate(all="ignore"):  # what does not fit is refused below
        matrix = np.array(array, dtype=np.float32, order="C")  # a copy: checked once, then ours
    return array, matrix


def refuse_masked(rows: Any) -> None:
    """Refuse masked values: the numbers below a mask mean nothing."""
    for place, part in enumerate(rows if isinstance(rows, list | tuple) else [rows]):
        if isinstance(part, np.ma.MaskedArray) and np.ma.is_masked(part):
            at = np.argwhere(np.ma.getmaskarray(part))[0].tolist()
            where = f"{[place, *at] if part is not rows else at}"
            raise InvalidInput(
                "rows", f"the value at {where} is masked; fill them first: rows.filled(value)"
            )


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


def text_array(values: list[str]) -> Array:
    """These texts as an array: their own characters, whatever an Enum or a subclass would print."""
    return np.array([str.__str__(value) for value in values], dtype=str)


def to_ids(ids: Any, count: int) -> Array:
    """The ids as an array of distinct integers or strings, one for each row."""
    if ids is None:
        return np.arange(count, dtype=np.int64)
    if np.ma.is_masked(ids):
        raise InvalidInput("ids", "must not be masked; every row needs one")
    try:
        array = np.asarray(ids, dtype=None if isinstance(ids, np.ndarray) else object)
    except ValueError:
        raise InvalidInput("ids", "must be a flat list of integers or strings") from None
    if array.ndim != 1 or len(array) != count:
        raise InvalidInput("ids", f"must be one value per row ({count}), got shape {array.shape}")
    listed = array.tolist()
    if all(isinstance(value, str) for value in listed):
        array = text_array(listed)
        cut = next((value for value in listed if "\0" in value), None)
        if cut is not None:
            raise InvalidInput("ids", f"{cut!r} has a NUL character, which numpy cuts off; leave it out")
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
