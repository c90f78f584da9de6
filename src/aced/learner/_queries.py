"""The rows that a learner asks for, and how many they are by default."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from aced._check import whole
from aced._errors import InvalidInput
from aced._types import Array, Float64

BATCH = 250
"""The paper's batch size, used for pools of 10000 rows or more."""


@dataclass(frozen=True)
class Queries:
    """The ids of rows to label, and the draw probability of each."""

    ids: Array
    probabilities: Float64

    def __len__(self) -> int:
        return len(self.ids)

    def __iter__(self) -> Iterator[tuple[Any, float]]:
        return zip(self.ids.tolist(), self.probabilities.tolist(), strict=True)


def default_batch(rows: int) -> int:
    """The batch for a pool of ``rows`` rows: 250 as in the paper, but at most a fortieth of the pool.

    >>> default_batch(50_000), default_batch(1_000), default_batch(12)
    (250, 25, 1)
    """
    return max(1, min(BATCH, rows // 40))


def batch_of(batch_size: int | None, budget: int | None, tolerance: float, rows: int) -> int:
    """How many rows are drawn from one design, for these arguments of a learner over ``rows`` rows."""
    most = rows if budget is None else budget
    if batch_size is not None:
        size = whole("batch_size", batch_size, 1)
        if size > most:
            raise InvalidInput("batch_size", f"is {size}, but the budget is {most}; use at most that")
        return size
    if budget is not None and tolerance > 0:
        return max(1, int(budget / max(1.0, np.log2(1 / tolerance))))
    return min(default_batch(rows), most)
