"""Turn label values of any kind into codes 0 … K - 1, and back."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from enum import Enum
from typing import Any

import numpy as np

from aced._check import MOST_CLASSES, class_count
from aced._errors import InvalidInput
from aced._types import Array, Ints

Value = str | bool | int | float
BYTES = (bytes, bytearray, memoryview)
_MISSING = ("NoneType", "NAType", "NaTType")
"""The types of missing values in Python and pandas."""
NAMED = 6
"""How many classes a sentence names."""
ONLY_TWO = "is made for two classes only; use a strategy for more, such as aced"


def _kind(value: Value) -> str:
    return "text" if isinstance(value, str) else "number"


def plain(value: Any, where: str, what: str = "the row") -> Value:
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
        raise InvalidInput(where, f"is missing; leave {what} out instead")
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


def listed(values: Sequence[Value]) -> str:
    """Classes as a sentence names them; of many, the first few.

    >>> listed(["a", "b", "c"]), listed(range(30))
    ("'a', 'b' and 'c'", '0, 1, 2, 3, 4, 5 and 24 more')
    """
    if len(values) > NAMED + 1:
        return f"{', '.join(map(repr, values[:NAMED]))} and {len(values) - NAMED} more"
    head = ", ".join(map(repr, values[:-1]))
    return f"{head} and {values[-1]!r}" if head else repr(values[-1])


class Classes:
    """The classes, given at the start or learnt from the labels as they come.

    ``two_for`` is the name of a strategy that is made for two classes only; a third is then refused.
    """

    def __init__(self, values: Iterable[Any] | None = None, two_for: str | None = None) -> None:
        self.fixed = values is not None
        self.values: list[Value] = []
        self.kept: list[Value] = []  # classes that stay, whether a label has them or not
        self._two_for = two_for
        if values is None:
            return
        unordered = isinstance(values, Set | Mapping)  # the same seed would give other rows
        if unordered or isinstance(values, (str, *BYTES)) or not isinstance(values, Iterable):
            raise InvalidInput("classes", f"must be a list of two or more values, got {values!r:.60}")
        self.values = [plain(value, f"classes[{i}]", "the class") for i, value in enumerate(values)]
        if len(set(self.values)) < len(self.values):
            first = next(v for i, v in enumerate(self.values) if v in self.values[:i])
            raise InvalidInput("classes", f"{first!r} is given twice; give each class once")
        if len(self.values) < 2:
            only = f"only {self.values[0]!r}" if self.values else "none"
            raise InvalidInput("classes", f"must be at least two different values, got {only}")
        class_count("classes", len(self.values))
        self._one_kind(self.values)
        self.restore(self.values)

    def restore(self, values: list[Value]) -> None:
        """Take classes that were known before."""
        if self._two_for is not None and len(values) > 2:
            raise InvalidInput("classes", f"are {len(values)}, but {self._two_for} {ONLY_TWO}")
        self.values = values

    @property
    def count(self) -> int:
        """K: how many classes are known, and 2 while there are fewer."""
        return max(2, len(self.values))

    def encode(self, labels: Any, held: list[Value]) -> tuple[Ints, list[Value]]:
        """The codes of these labels, and the classes known with them; ``held`` are the classes before.

        Classes learnt from the labels are kept in sorted order, so that the order in which
        labels arrive does not matter.
        """
        values = plain_labels(labels)
        known = list(self.values if self.fixed else dict.fromkeys([*held, *self.kept]))
        places = {value: code for code, value in enumerate(known)}
        for i, value in enumerate(values):
            if value not in places:
                self._refuse_new(f"labels[{i}]", value, known)
                places[value] = len(known)
                known.append(value)
                self._one_kind(known, f"labels[{i}]")
        if not self.fixed:
            known.sort()
            places = {value: code for code, value in enumerate(known)}
        return np.array([places[value] for value in values], dtype=np.int64), known

    def _refuse_new(self, where: str, value: Value, known: list[Value]) -> None:
        """Refuse a class beside these, if there may be no other."""
        if self.fixed:
            hint = next((k for k in known if str(k) == str(value)), None)
            said = f"is {value!r}, which is not one of the classes {listed(known)}"
            also = "" if hint is None else f"; pass {hint!r}, a {_kind(hint)}, not a {_kind(value)}"
            raise InvalidInput(where, said + also)
        if self._two_for is not None and len(known) == 2:
            beside = f"is {value!r}, a third class beside {listed(known)}"
            raise InvalidInput(where, f"{beside}, but {self._two_for} {ONLY_TWO}")
        if len(known) == MOST_CLASSES:
            more = f"is {value!r}, one class more than the {MOST_CLASSES} that there may be"
            raise InvalidInput(where, f"{more}; merge some of them")

    def decode(self, codes: Ints) -> Array:
        return np.asarray(self.values)[codes]

    @staticmethod
    def _one_kind(values: list[Value], where: str = "classes") -> None:
        other = next((v for v in values if isinstance(v, str) != isinstance(values[0], str)), None)
        if other is not None:
            both = f"{values[0]!r} and {other!r}"
            raise InvalidInput(
                where, f"classes must be of one kind, all texts or all numbers, got {both}"
            )
        if np.asarray(values).tolist() != values:  # a large integer beside a float
            raise InvalidInput("classes", f"are {listed(values)}; pass integers or floats, not both")


def moves(before: list[Value], known: list[Value]) -> Ints:
    """The code now of each code before, when the classes ``known`` take the place of ``before``.

    Two codes stand for classes even before any is known. A code whose class is not known takes a code
    that no class before has now, if there is one.

    >>> moves(["b", "d"], ["a", "b", "c", "d"]), moves(["b"], ["a", "b"]), moves([], ["a"])
    (array([1, 3]), array([1, 0]), array([0, 1]))
    """
    found = [known.index(value) if value in known else None for value in before]
    found += [None] * (2 - len(before))
    free = (code for code in range(max(2, len(known))) if code not in found)
    return np.array([next(free, 0) if code is None else code for code in found], dtype=np.int64)
