"""A labelled pool to simulate on, with or without a holdout."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import issparse

from aced._check import MOST_CLASSES
from aced._errors import InvalidInput
from aced._types import Array, Float64
from aced.pool import unit


@dataclass(frozen=True)
class Dataset:
    """Rows X with labels y of two to 100 classes, and perhaps a holdout X_test with labels y_test.

    Rows may be sparse.
    """

    name: str
    X: Array
    y: Array
    X_test: Array | None = None
    y_test: Array | None = None

    def __post_init__(self) -> None:
        _check_labels("y", self.X, self.y)
        classes = np.unique(self.y)
        count, wanted = len(classes), "take a label column with two or more classes"
        if count == 0:
            raise InvalidInput("y", f"there are no labels; {wanted}")
        if count == 1:
            raise InvalidInput("y", f"all rows have the label {classes[0].item()!r}; {wanted}")
        if count > MOST_CLASSES:
            said = f"there are {count} different labels, and {MOST_CLASSES} is the most"
            raise InvalidInput("y", f"{said}; merge or drop some")
        if (self.X_test is None) != (self.y_test is None):
            raise InvalidInput("X_test and y_test", "must both be given, or neither")
        if self.X_test is not None and self.y_test is not None:
            if np.ndim(self.X_test) != 2 or self.X_test.shape[1] != self.X.shape[1]:
                raise InvalidInput(
                    "X_test", f"has shape {np.shape(self.X_test)}, but X has {self.X.shape[1]} features"
                )
            _check_labels("y_test", self.X_test, self.y_test)
            if self.X_test.dtype.kind not in "biuf":
                raise InvalidInput("X_test", f"must hold real numbers, got dtype {self.X_test.dtype}")
            values = self.X_test.data if issparse(self.X_test) else self.X_test
            if not (np.abs(values) <= np.finfo(np.float32).max).all():
                raise InvalidInput(
                    "X_test", "holds NaN, infinite or too large values; fill or drop them first"
                )
            if not np.isin(self.y_test, classes).all():
                raise InvalidInput("y_test", "holds labels that do not occur in y")


def standardised(X: Float64, *others: Float64) -> list[Float64]:
    """All arrays, standardised by the means and spreads of X, so that units do not matter."""
    if not len(X):
        return [X, *others]
    mean = X.mean(axis=0)
    spread = unit(X.std(axis=0), mean, len(X))
    return [np.asarray((part - mean) / spread) for part in (X, *others)]


def _check_labels(name: str, rows: Array, labels: Array) -> None:
    count = np.shape(rows)[0]
    if labels.ndim != 1 or len(labels) != count:
        raise InvalidInput(name, f"must be one label per row ({count}), got shape {labels.shape}")
    if labels.dtype.kind not in "biufU":
        raise InvalidInput(name, f"must hold strings, numbers or bools, got dtype {labels.dtype}")
    if labels.dtype.kind == "f" and np.isnan(labels).any():
        raise InvalidInput(name, f"row {int(np.isnan(labels).argmax())} has no label (NaN)")
