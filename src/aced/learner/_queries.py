"""The rows that a learner asks for, and how many they are by default."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

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
