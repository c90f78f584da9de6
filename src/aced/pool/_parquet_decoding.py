"""Reading .parquet files with pyarrow: their forms, and matrices from their row groups."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from aced._errors import InvalidInput
from aced._files import check_file
from aced._optional import needed
from aced._tables import is_numeric
from aced._types import Array
from aced.pool._convert import refuse_columns
from aced.pool._stored import changed, unreadable


class Form(NamedTuple):
    """What a file says of itself: all that is needed to plan how it is read."""

    groups: tuple[int, ...]
    """Rows of each row group."""
    columns: tuple[str, ...]
    """The features."""
    ids: tuple[Any, ...]
    """What pandas noted as index: names of columns, or a range as a dict."""


def open_parquet(path: Path, footer: Any = None, whole: bool = False) -> Any:
    parquet = needed("rows", "pyarrow.parquet", "reading .parquet files", "tables")
    check_file("rows", path)
    with _decoding(path):
        # a whole group is fetched at once; a group read in parts is fetched a page per column at a time
        if whole:
            return parquet.ParquetFile(path, metadata=footer, pre_buffer=True)
        return parquet.ParquetFile(path, metadata=footer, pre_buffer=False, buffer_size=2**16)


@contextmanager
def _decoding(path: Any) -> Iterator[None]:
    arrow = needed("rows", "pyarrow", "reading .parquet files", "tables")
    try:
        yield
    except (OSError, UnicodeError, arrow.ArrowException) as error:
        raise unreadable(path, "a .parquet file", error) from error


def form_of(file: Any) -> Form:
    """The form of a file; columns that are not numbers are refused, in the same words as for frames."""
    footer, schema = file.metadata, file.schema_arrow
    index = tuple(item for item in _noted(schema) if isinstance(item, dict) or item in schema.names)
    features = [field for field in schema if field.name not in index]
    refuse_columns([field.name for field in features], [is_numeric(field.type) for field in features])
    groups = tuple(footer.row_group(k).num_rows for k in range(footer.num_row_groups))
    return Form(groups, tuple(field.name for field in features), index)


def _noted(schema: Any) -> list[Any]:
    """What pandas noted about the index; nothing if another program wrote the note."""
    try:
        noted = schema.pandas_metadata["index_columns"]
    except (KeyError, TypeError, ValueError, RecursionError):
        return []
    return noted if isinstance(noted, list) else []


def refuse_other_columns(one: Path, form: Form, other: Path, its: Form) -> None:
    if len(form.columns) != len(its.columns):
        raise InvalidInput(
            "rows",
            f"{one} has {len(form.columns)} columns and {other} has {len(its.columns)}; "
            "files of one pool must have the same",
        )
    for a, b in zip(form.columns, its.columns, strict=True):
        if a != b:
            raise InvalidInput(
                "rows",
                f"where {one} has the column {a!r}, {other} has {b!r}; "
                "files of one pool must have the same, in the same order",
            )


def decoded(
    file: Any, path: Any, group: int, sizes: list[int], columns: Any, features: int, dtype: Any
) -> Iterator[Array]:
    """Matrices with these numbers of rows, one after the other, that make up a row group."""
    with file:
        batches = file.iter_batches(batch_size=max(sizes), row_groups=[group], columns=columns)
        batch = None
        for size in sizes:
            out = np.empty((size, features), dtype)
            done = 0
            while done < size:
                if batch is None or batch.num_rows == 0:
                    with _decoding(path):
                        batch = next(batches, None)
                    if batch is None:
                        raise changed(path)
                part = batch.slice(0, size - done)
                batch = batch.slice(part.num_rows)
                for j, column in enumerate(part.columns):
                    with np.errstate(over="ignore"):  # it becomes infinite, and the check names it
                        out[done : done + part.num_rows, j] = _numbers(column)
                done += part.num_rows
            yield out


def _numbers(column: Any) -> Array:
    """A column as numbers, nulls as NaN."""
    values: Array = column.to_numpy(zero_copy_only=False)
    return values.astype(np.float64) if values.dtype.kind == "O" else values  # O: bools with nulls


def read_column(file: Any, path: Any, name: str) -> Array:
    """One column of a whole file."""
    with file, _decoding(path):
        values: Array = file.read(columns=[name]).column(0).to_numpy()
    return values
