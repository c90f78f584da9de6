"""What a cell of a table holds: a number, nothing, or words."""

from __future__ import annotations

import json
import math
from typing import Any

from aced._errors import InvalidInput

EMPTY = frozenset({"", "na", "n/a", "nan", "null", "none"})
"""How an empty cell is written in a column of numbers."""


def as_number(value: Any) -> float | None:
    """The number in a cell, NaN if the cell is empty, None if it holds something else.

    >>> as_number(" 2.5 "), as_number("n/a"), as_number(True), as_number("two")
    (2.5, nan, 1.0, None)
    """
    if value is None:
        return math.nan
    if isinstance(value, bool | int | float):
        try:
            return float(value)
        except OverflowError:
            return math.inf if value > 0 else -math.inf
    text = str(value).strip()
    if text.lower() in EMPTY:
        return math.nan
    if "_" in text:  # only Python reads 1_000 as a number
        return None
    try:
        return float(text)
    except ValueError:
        return None


def all_numbers(values: list[Any]) -> bool:
    """Whether a column holds numbers and empty cells, and at least one number."""
    found = False
    for value in values:
        number = as_number(value)
        if number is None:
            return False
        found = found or not math.isnan(number)
    return found


def as_text(value: Any) -> str:
    """A cell as text; an empty cell is an empty text."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    return value if isinstance(value, str) else str(value)


def plain(value: Any, where: str) -> Any:
    """The value as a text, a number, a bool or None; lists and records become JSON texts."""
    if value is None or isinstance(value, bool | int | float):
        return value
    if isinstance(value, str):
        if "\0" in value:
            raise InvalidInput(where, "holds a NUL character; remove it")
        return value.encode("utf-8", "replace").decode()  # JSON can hold half a surrogate pair
    if isinstance(value, bytes | bytearray | memoryview):
        raise InvalidInput(where, "holds bytes; write images as files to a folder, texts as strings")
    if isinstance(value, list | dict):
        return json.dumps(value, ensure_ascii=False, default=lambda inner: plain(inner, where))
    return str(value)
