"""Turn label values of any kind into codes 0 and 1, and back."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from aced._errors import InvalidInput
from aced._types import Array, Ints

Value = str | bool | int | float


def plain(value: Any, where: str) -> Value:
    """The value as a Python scalar; what cannot be a label is refused in a sentence about ``where``."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or (isinstance(value, float) and np.isnan(value)):
        raise InvalidInput(where, "is missing; leave the row out instead")
    if isinstance(value, float) and not value.is_integer():
        raise InvalidInput(where, f"is {value!r}; use strings, bools or whole numbers for classes")
    if not isinstance(value, str | bool | int | float):
        raise InvalidInput(where, f"must be a string, a number or a bool, got {type(value).__name__}")
    return value


class Classes:
    """The two classes, given at the start or learnt from the labels as they come."""

    def __init__(self, values: Iterable[Any] | None = None) -> None:
        self.fixed = values is not None
        self.values: list[Value] = []
        if values is not None:
            if isinstance(values, str | bytes) or not isinstance(values, Iterable):
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
        listed = labels.tolist() if isinstance(labels, np.ndarray) else list(labels)
        known = list(self.values if self.fixed else held)
        codes = np.empty(len(listed), np.int64)
        for i, raw in enumerate(listed):
            value = plain(raw, f"labels[{i}]")
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
