"""Whether float32 can hold the numbers of a pool and compute with them."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from aced._errors import InvalidInput
from aced._types import Array, Bools, Float32

MOST, LEAST = 2.0**60, 2.0**-40
"""The largest number of a pool lies between these, so that float32 holds sums of squares of a pool's
numbers, and the squares stay far above the 1e-30 that keeps online learners from dividing by zero."""

NARROW = 2.0**-12
"""A column whose range is below this share of its largest number may collapse in float32."""
SAMPLED_BLOCKS, MOST_COUNTED = 8, 256
"""The values of so many blocks and columns at most are counted, to see whether a column collapses."""

Raw = Callable[[int, int], Array]
"""Rows start to stop as they were before they were made float32."""


def reach(numbers: Array) -> float:
    """The largest absolute value; NaN or infinite if a number is."""
    if not numbers.size:
        return 0.0
    return float(max(numbers.max(), -numbers.min(), key=_nan_first))


def _nan_first(value: Any) -> float:
    return np.inf if np.isnan(value) else float(value)


def refuse_numbers(array: Array, matrix: Float32, names: list[str] | None, first: int = 0) -> None:
    """Refuse numbers that are too large or not finite, naming the first of them.

    ``matrix`` is ``array`` as float32, and ``first`` is the number of its first row.
    """
    for start in range(0, len(matrix), 65536):
        good: Bools = np.abs(matrix[start : start + 65536]) <= MOST
        if good.all():
            continue
        row, column = (int(i) for i in np.argwhere(~good)[0])
        value = array[start + row, column]
        where = f"row {first + start + row}, column {names[column] if names else column}"
        if np.isnan(value):
            raise InvalidInput("rows", f"{where} is NaN; fill or drop missing values first")
        if np.isinf(value):
            raise InvalidInput("rows", f"{where} is infinite; clip or drop such values first")
        raise InvalidInput(
            "rows", f"{where} is {value:g}, too large for float32 arithmetic; rescale the features"
        )


def refuse_tiny(largest: float, before: Callable[[], float]) -> None:
    """Refuse a pool of numbers that are all tiny, but not all zero.

    ``before`` finds the largest number as it was before the rows were made float32.
    """
    if largest >= LEAST:
        return
    largest = largest or before()
    if largest > 0:
        raise InvalidInput(
            "rows",
            f"the largest number is {largest:.1e}, too small for float32 arithmetic; "
            f"multiply all rows by a constant such as {1 / max(largest, 1e-300):.0e}",
        )


class Columns:
    """The columns of a sample of blocks, to find those of which float32 leaves few values."""

    def __init__(self, slices: tuple[slice, ...], features: int) -> None:
        chosen = np.linspace(0, len(slices) - 1, SAMPLED_BLOCKS).astype(int)
        self.sampled = {int(index): slices[index] for index in chosen}
        self.low = np.full(features, np.inf, np.float32)
        self.high = -self.low

    def see(self, index: int, block: Float32) -> None:
        """Take in a block of the pool, if it belongs to the sample."""
        if index in self.sampled:
            np.minimum(self.low, block.min(axis=0), out=self.low)
            np.maximum(self.high, block.max(axis=0), out=self.high)

    def warn(self, raw: Raw, names: list[str] | None) -> None:
        """Warn of columns with many values of which float32 leaves few, such as times in seconds."""
        size = np.maximum(np.abs(self.low), np.abs(self.high))
        suspect = (self.high - self.low < NARROW * size) | (size < np.finfo(np.float32).tiny)
        columns = np.flatnonzero(suspect)[:MOST_COUNTED]
        if not len(columns):
            return
        stored = np.concatenate([raw(s.start, s.stop)[:, columns] for s in self.sampled.values()])
        values, left = (
            np.array([len(np.unique(column)) for column in held.T])
            for held in (stored, stored.astype(np.float32))
        )
        lost = np.flatnonzero(2 * left <= values)
        if len(lost):
            first, column = lost[0], columns[lost[0]]
            others = f", and {len(lost) - 1} other columns are like it" if len(lost) > 1 else ""
            warnings.warn(
                f"rows: float32 makes {left[first]} values of the {values[first]} in column "
                f"{names[column] if names else column}{others}; subtract a constant from such a column "
                "first, for example its smallest value",
                stacklevel=5,
            )
