"""Whether float32 can hold the numbers of a pool and compute with them."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from aced._errors import InvalidInput
from aced._types import Array, Bools, Float32, Ints

MOST, LEAST = 2.0**60, 2.0**-40
"""The largest number of a pool lies between these, so that float32 holds sums of squares of a pool's
numbers, and the squares stay far above the 1e-30 that keeps online learners from dividing by zero."""

SAMPLED_BLOCKS, SAMPLED_ROWS, MOST_COUNTED = 8, 1024, 256
"""The values in so many blocks, rows and columns are looked at, to see whether a column collapses."""
SAMPLED_CELLS, FEWEST_ROWS = 2**21, 64
"""With many columns fewer rows are looked at, so that memory and time are bounded."""
CLOSE = 8 * float(np.finfo(np.float32).eps)
"""Numbers of float32 with a smaller relative distance are close together."""

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


class Sample:
    """Some rows of some blocks, to find columns of which float32 leaves few values."""

    def __init__(self, slices: tuple[slice, ...], features: int) -> None:
        chosen = sorted(set(np.linspace(0, len(slices) - 1, SAMPLED_BLOCKS).astype(int).tolist()))
        rows = max(1, min(SAMPLED_ROWS, max(FEWEST_ROWS, SAMPLED_CELLS // features)) // len(chosen))
        self._slices = {
            i: slice(slices[i].start, min(slices[i].stop, slices[i].start + rows)) for i in chosen
        }
        self._seen: list[Float32] = []

    def see(self, index: int, block: Float32) -> None:
        """Take in a block of the pool, if it belongs to the sample."""
        if index in self._slices:
            rows = self._slices[index]
            self._seen.append(block[: rows.stop - rows.start].copy())

    def warn_of_collapse(self, raw: Raw, names: list[str] | None) -> None:
        """Warn of columns with many values of which float32 leaves few, such as times in seconds."""
        columns = np.flatnonzero(_may_collapse(np.concatenate(self._seen)))[:MOST_COUNTED]
        if not len(columns):
            return
        stored = [raw(rows.start, rows.stop)[:, columns] for rows in self._slices.values()]
        ordered = np.sort(np.concatenate(stored), axis=0)  # rounding keeps the order
        values, left = _distinct(ordered), _distinct(ordered.astype(np.float32))
        lost = np.flatnonzero(2 * left <= values)
        if len(lost):
            first, column = lost[0], columns[lost[0]]
            others = f", and {len(lost) - 1} other columns are like it" if len(lost) > 1 else ""
            warnings.warn(
                f"rows: float32 makes {left[first]} of the {values[first]} values looked at in column "
                f"{names[column] if names else column}{others}; subtract a constant from such a column "
                "first, for example its smallest value",
                stacklevel=5,
            )


def _may_collapse(rows: Float32) -> Bools:
    """Whether the values of each column are as close together as numbers of float32 can be."""
    if len(rows) < 2:
        return np.zeros(rows.shape[1], bool)
    ordered = np.sort(rows, axis=0)
    size = np.maximum(np.abs(ordered[0]), np.abs(ordered[-1]))
    gaps = np.diff(ordered, axis=0)
    gaps[gaps == 0] = np.inf
    count = np.isfinite(gaps).sum(axis=0)
    median = np.take_along_axis(np.sort(gaps, axis=0), count[None, :] // 2, axis=0)[0]
    close: Bools = (count == 0) | (median <= CLOSE * size)
    return close


def _distinct(ordered: Array) -> Ints:
    """How many different values each column has; the columns are sorted."""
    count: Ints = 1 + np.count_nonzero(ordered[1:] != ordered[:-1], axis=0)
    return count
