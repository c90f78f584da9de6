"""A batch of rows to label, and how large it is."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from aced._types import Array, Float64

BATCH = 250
"""The paper's batch size, used from pools of 10000 rows up."""


@dataclass(frozen=True)
class Queries:
    """Rows to label: ids, and the probability with which each was drawn."""

    ids: Array
    probabilities: Float64

    def __len__(self) -> int:
        return len(self.ids)

    def __iter__(self) -> Iterator[tuple[Any, float]]:
        return zip(self.ids.tolist(), self.probabilities.tolist(), strict=True)


def default_batch(rows: int) -> int:
    """250 as in the paper; for smaller pools a fortieth of them, so that there are rounds.

    >>> default_batch(50_000), default_batch(1_000), default_batch(12)
    (250, 25, 1)
    """
    return max(1, min(BATCH, rows // 40))
