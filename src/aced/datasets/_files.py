"""Labelled pools from a user's own .npz, .csv or .parquet files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from aced._archive import plain_arrays
from aced._errors import InvalidInput, reason
from aced._files import check_file
from aced._optional import needed
from aced._tables import check_distinct, encoding, is_numeric, read_parquet
from aced._types import Array, Float64
from aced.datasets._dataset import Dataset, standardised

LARGEST = 1e150
"""The squares of larger numbers do not fit in float64, and columns are standardised."""


def load_file(path: Path, label: str | None) -> Dataset:
    """Read a file by its ending; ``label`` is the column of labels in a table."""
    check_file("dataset", path)
    if path.suffix == ".npz":
        return _load_npz(path)
    try:
        return _load_table(path, label)
    except InvalidInput as error:
        if error.argument == "y":  # the user named a column
            raise InvalidInput("label", error.sentence) from None
        raise


def _load_npz(path: Path) -> Dataset:
    arrays = plain_arrays(path, "dataset")
    missing = [name for name in ("X", "y") if name not in arrays]
    if missing:
        held = ", ".join(arrays) or "nothing"
        raise InvalidInput("dataset", f"{path} has no array {missing[0]!r}; it holds {held}")
    X = arrays["X"]
    if X.ndim != 2:
        raise InvalidInput("X", f"must be two-dimensional (rows x features), got shape {X.shape}")
    return Dataset(path.stem, X, arrays["y"], arrays.get("X_test"), arrays.get("y_test"))


def _load_table(path: Path, label: str | None) -> Dataset:
    table = _read_table(path)
    check_distinct(table.column_names, path, "dataset")
    if label is None:
        raise InvalidInput("label", f"name the column of {path.name} that holds the labels")
    if label not in table.column_names:
        names = ", ".join(table.column_names[:8])
        raise InvalidInput("label", f"{path.name} has no column {label!r}; it has {names}")
    y = _labels(table[label], label)
    columns = [name for name in table.column_names if name != label]
    if not columns:
        raise InvalidInput("dataset", f"{path.name} has no feature columns besides {label!r}")
    X = np.column_stack([_numbers(table[name], name) for name in columns])
    return Dataset(path.stem, standardised(X)[0], y)


def _read_table(path: Path) -> Any:
    if path.suffix == ".parquet":
        return read_parquet(path, "dataset")
    csv = needed("dataset", "pyarrow.csv", f"reading {path.suffix} files", "tables")
    import pyarrow as pa

    try:
        with path.open("rb") as file:
            written = encoding(file.read(4))
        options = csv.ReadOptions(encoding="utf8" if written == "utf-8-sig" else written)
        table = csv.read_csv(path, read_options=options)
        list(table.column_names)  # names that are not UTF-8 are noticed here
        return table
    except UnicodeError as error:
        raise InvalidInput("dataset", f"{path} is not UTF-8; save it as UTF-8") from error
    except (pa.ArrowException, OSError) as error:
        raise InvalidInput("dataset", f"{path} could not be read: {reason(error)}") from error


def _numbers(column: Any, name: str) -> Float64:
    if not is_numeric(column.type):
        raise InvalidInput("dataset", f"column {name!r} is not numeric; drop it or encode it first")
    if column.null_count:
        raise InvalidInput(
            "dataset", f"column {name!r} has {column.null_count} missing values; fill or drop them"
        )
    array = np.asarray(column.to_numpy(), dtype=float)
    if not np.isfinite(array).all():
        raise InvalidInput("dataset", f"column {name!r} holds NaN or infinite values; fill or drop them")
    largest = float(np.abs(array).max(initial=0.0))
    if largest > LARGEST:
        raise InvalidInput(
            "dataset", f"column {name!r} holds {largest:g}, which is too large; rescale it"
        )
    return array


def _labels(column: Any, name: str) -> Array:
    import pyarrow as pa

    from aced.learner import plain  # takes long to load

    if column.null_count:
        raise InvalidInput("label", f"column {name!r} has {column.null_count} missing labels")
    try:
        values = column.to_pylist()
        for value in column.unique().to_pylist():
            plain(value, f"column {name!r}")
    except InvalidInput as error:
        raise InvalidInput("label", str(error)) from error
    except (pa.ArrowException, OverflowError, ValueError, NotImplementedError) as error:
        kind = f"column {name!r} holds values of type {column.type}"
        raise InvalidInput("label", f"{kind}; use strings, bools or whole numbers") from error
    return np.asarray(values)
