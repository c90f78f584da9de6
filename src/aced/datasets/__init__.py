"""Labelled pools for simulations: two of scikit-learn's data sets, tasks of images, the tasks of the
field, and files."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.model_selection import train_test_split

from aced._errors import InvalidInput
from aced.datasets._dataset import Dataset as Dataset, standardised
from aced.datasets._field import (
    DEVELOPMENT as DEVELOPMENT,
    FIELD as FIELD,
    HALVES as HALVES,
    PREFIX as PREFIX,
    UNSEEN as UNSEEN,
    FieldTask as FieldTask,
    load_field,
)
from aced.datasets._files import load_file
from aced.datasets._images import PIXELS, TASKS, load_pixels, load_task

SHIPPED = ("digits", "digits10", "breast")
NAMES = (*SHIPPED, *TASKS)
FILES = (".npz", ".csv", ".parquet")


def load_dataset(name: str, *, data_home: str | Path | None = None, label: str | None = None) -> Dataset:
    """A data set by ``name``, or a file. ``data_home`` has the images; ``label`` is a column."""
    if name in SHIPPED:
        return _shipped(name)
    if name in TASKS:
        return load_task(name, None if data_home is None else Path(data_home))
    if name.removesuffix(PIXELS) in TASKS:
        return load_pixels(name, None if data_home is None else Path(data_home))
    if name in FIELD:
        return load_field(name, None if data_home is None else Path(data_home))
    if name.startswith(PREFIX) and Path(name).suffix not in FILES:
        raise InvalidInput("dataset", f"the field has no {name!r}; it has {', '.join(FIELD)}")
    if Path(name).suffix in FILES:
        return load_file(Path(name), label)
    raise InvalidInput(
        "dataset",
        f"must be one of {', '.join(NAMES)}, a task of the field ({PREFIX}…) or a file ending in "
        f"{', '.join(FILES)}; got {name!r}",
    )


def _shipped(name: str) -> Dataset:
    """A data set of scikit-learn, a quarter held out. digits: 8 x 8 images, 0-4 against 5-9; digits10:
    the same with a class for each digit; breast: Wisconsin breast cancer, 30 standardised features,
    benign or malignant."""
    rows, label = (load_breast_cancer if name == "breast" else load_digits)(return_X_y=True)
    X, X_test, y, y_test = train_test_split(rows, label, test_size=0.25, random_state=0, stratify=label)
    if name == "breast":
        X, X_test = standardised(X, X_test)
    else:
        X, X_test = X / 16, X_test / 16
    if name == "digits":
        y, y_test = y >= 5, y_test >= 5
    X, X_test = X.astype(np.float32), X_test.astype(np.float32)
    return Dataset(name, X, y.astype(np.int64), X_test, y_test.astype(np.int64))
