"""Checks of numbers and names that users pass: each returns the value or refuses it in one sentence."""

from __future__ import annotations

from collections.abc import Collection
from numbers import Integral, Real
from typing import Any

from aced._errors import InvalidInput

MOST_CLASSES = 100
"""The most classes of a task: memory and time of a design grow with their number."""


def is_whole(value: Any) -> bool:
    """Whether this is an integer of Python or numpy; a bool does not count as one.

    >>> [is_whole(value) for value in (3, True, 3.0)]
    [True, False, False]
    """
    return isinstance(value, Integral) and not isinstance(value, bool)


def whole(argument: str, value: Any, least: int, hint: str = "") -> int:
    """A whole number, at least ``least``; ``hint`` ends the sentence that refuses a smaller one."""
    if not is_whole(value):
        raise InvalidInput(argument, f"must be a whole number, got {value!r}")
    if value < least:
        raise InvalidInput(argument, f"must be at least {least}, got {value}{hint}")
    return int(value)


def fraction(argument: str, value: Any) -> float:
    """A number in [0, 1)."""
    if not _is_number(value) or not 0 <= value < 1:
        raise InvalidInput(argument, f"must be at least 0 and below 1, got {value!r}")
    return float(value)


def share(argument: str, value: Any) -> float:
    """A number in [0, 1]."""
    if not _is_number(value) or not 0 <= value <= 1:
        raise InvalidInput(argument, f"must be from 0 to 1, got {value!r}")
    return float(value)


def probability(argument: str, value: Any) -> float:
    """A number in (0, 1)."""
    if not _is_number(value) or not 0 < value < 1:
        raise InvalidInput(argument, f"must lie between 0 and 1, got {value!r}")
    return float(value)


def positive(argument: str, value: Any) -> float:
    """A number above 0, perhaps infinite."""
    if not _is_number(value) or not value > 0:
        raise InvalidInput(argument, f"must be positive, got {value!r}")
    return float(value)


def class_count(argument: str, number: int) -> int:
    """A number of classes, at least two and at most ``MOST_CLASSES``."""
    if number < 2:
        raise InvalidInput(argument, f"must be at least 2, got {number}")
    if number > MOST_CLASSES:
        raise InvalidInput(argument, f"are {number}; use at most {MOST_CLASSES}")
    return number


def choice(argument: str, value: Any, names: Collection[str]) -> str:
    """One of these names."""
    if value not in names:
        raise InvalidInput(argument, f"must be one of {', '.join(names)}; got {value!r}")
    return str(value)


def _is_number(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)
