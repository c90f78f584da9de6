"""Turn label values of any kind into codes 0 and 1, and back."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from enum import Enum
from typing import Any

import numpy as np

from aced._errors import InvalidInput
from aced._types import Array, Ints

Value = str | bool | int | float
BYTES = (bytes, bytearray, memoryview)
_MISSING = ("NoneType", "NAType", "NaTType")
"""The types of missing values in Python and pandas."""


def plain(value: Any, where: str) -> Value:
    """The value as a Python scalar; what cannot be a label is refused in a sentence about ``where``.

    A member of an Enum stands for its value. Numpy can hold the scalar without changing it, so
    predicted labels are equal to the labels that were told.
    """
    value = _bare(value)
    if isinstance(value, str):
        if "\0" in value:
            raise InvalidInput(where, f"is {value!r}; leave out the NUL character: numpy cuts it off")
        return value
    if type(value).__name__ in _MISSING or (isinstance(value, float) and np.isnan(value)):
        raise InvalidInput(where, "is missing; leave the row out instead")
    if not isinstance(value, bool | int | float):
        hint = "; decode it first, label.decode()" if isinstance(value, bytes) else ""
        kind = type(value).__name__
        raise InvalidInput(where, f"must be a string, a number or a bool, got {kind}{hint}")
    if isinstance(value, float) and not value.is_integer():
        raise InvalidInput(where, f"is {value!r}; use strings, bools or whole numbers for classes")
    if not -(2**63) <= value < 2**63:
        raise InvalidInput(where, "is a number that does not fit in 64 bits; use a string instead")
    return value


def _bare(value: Any) -> Any:
    """The value without a class of numpy, of an Enum or of the user's around it."""
    if isinstance(value, np.generic) and value.dtype.kind not in "mM":  # dates may become numbers
        value = value.item()
    if isinstance(value, str):
        return str.__str__(value)  # the characters themselves, whatever a subclass would print
    if isinstance(value, int) and not isinstance(value, bool):
        return int.__index__(value)
    if isinstance(value, float):
        return float.__float__(value) + 0.0  # -0.0 becomes 0.0
    return _bare(value.value) if isinstance(value, Enum) else value


def plain_labels(labels: Any) -> list[Value]:
    """One label or many, as a list of plain values."""
    if isinstance(labels, Set | Mapping):
        raise InvalidInput("labels", f"must be a list, in the order of the ids, got {labels!r:.60}")
    if hasattr(labels, "columns"):  # iterating over a frame gives the names of its columns
        raise InvalidInput("labels", "must be one column, got a whole frame; pass frame['name']")
    if isinstance(labels, np.ndarray) and labels.dtype.kind not in "mM":
        labels = np.atleast_1d(labels).tolist()  # masked labels become None
    elif isinstance(labels, BYTES):
        labels = [bytes(labels)]
    elif isinstance(labels, str) or not isinstance(labels, Iterable):
        labels = [labels]
    return [plain(label, f"labels[{i}]") for i, label in enumerate(labels)]


class Classes:
    """The two classes, given at the start or learnt from the labels as they come."""

    def __init__(self, values: Iterable[Any] | None = None) -> None:
        self.fixed = values is not None
        self.values: list[Value] = []
        if values is not None:
            unordered = isinstance(values, Set | Mapping)  # the same seed would give other rows
            if unordered or isinstance(values, (str, *BYTES)) or not isinstance(values, Iterable):
                raise InvalidInput("classes", f"must be a list of two values, got {values!r}")
            self.values = [plain(value, f"classes[{i}]") for i, value in enumerate(values)]
            if len(self.values) != 2 or self.values[0] == self.values[1]:
                raise InvalidInput("classes", f"must be two different values, got {self.values}")
            self._one_kind(self.values)

    def encode(self, labels: Any, held: list[Value]) -> tuple[Ints, list[Value]]:
        """The codes of these labels, and the classes known with them; ``held`` are the classes before.

        Classes learnt from the labels are kept in sorted order, so that the order in which
        labels arrive does not matter.
        """
        listed = plain_labels(labels)
        known = list(self.values if self.fixed else held)
        codes = np.empty(len(listed), np.int64)
        for i, value in enumerate(listed):
            if value not in known:
                if self.fixed or len(known) == 2:
                    raise InvalidInput(
                        f"labels[{i}]",
                        f"is {value!r}, which is not one of the classes {known[0]!r} and {known[1]!r}",
                    )
                known.append(value)
                self._one_kind(known)
            codes[i] = known.index(value)
        if not self.fixed and len(known) == 2 and known[1] < known[0]:  # type: ignore[operator]
            return 1 - codes, known[::-1]
        return codes, known

    def decode(self, codes: Ints) -> Array:
        return np.asarray(self.values)[codes]

    @staticmethod
    def _one_kind(values: list[Value]) -> None:
        if len({isinstance(value, str) for value in values}) > 1:
            raise InvalidInput("classes", f"must be of one kind, got {values[0]!r} and {values[1]!r}")
        if np.asarray(values).tolist() != values:  # a large integer beside a float
            raise InvalidInput(
                "classes", f"are {values[0]!r} and {values[1]!r}; pass integers or floats, not both"
            )
