"""Labelled pools for simulations: two of scikit-learn's, the paper's four tasks, files."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.model_selection import train_test_split

from aced._errors import InvalidInput
from aced.datasets._dataset import Dataset as Dataset, standardised
from aced.datasets._files import load_file
from aced.datasets._images import TASKS, load_task

NAMES = ("digits", "breast", *TASKS)
FILES = (".npz", ".csv", ".parquet")


def load_dataset(name: str, *, data_home: str | Path | None = None, label: str | None = None) -> Dataset:
    """A data set by name, or a file."""
    if name == "digits":
        return _digits()
    if name == "breast":
        return _breast()
    if name in TASKS:
        return load_task(name, None if data_home is None else Path(data_home))
    if Path(name).suffix in FILES:
        return load_file(Path(name), label)
    raise InvalidInput(
        "dataset",
        f"must be one of {', '.join(NAMES)} or a file ending in {', '.join(FILES)}; got {name!r}",
    )


def _digits() -> Dataset:
    """8 x 8 images of digits, 0-4 against 5-9, a quarter held out."""
    rows, digit = load_digits(return_X_y=True)
    parts = train_test_split(
        (rows / 16).astype(np.float32), digit >= 5, test_size=0.25, random_state=0, stratify=digit
    )
    X, X_test, y, y_test = parts
    return Dataset("digits", X, y.astype(np.int64), X_test, y_test.astype(np.int64))


def _breast() -> Dataset:
    """Wisconsin breast cancer, 30 standardised features, benign or malignant, a quarter held out."""
    rows, label = load_breast_cancer(return_X_y=True)
    X, X_test, y, y_test = train_test_split(rows, label, test_size=0.25, random_state=0, stratify=label)
    parts = [part.astype(np.float32) for part in standardised(X, X_test)]
    return Dataset("breast", parts[0], y.astype(np.int64), parts[1], y_test.astype(np.int64))
