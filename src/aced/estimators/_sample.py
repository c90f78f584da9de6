"""What t draws from a design gave."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from aced._check import probability
from aced._errors import InvalidInput
from aced._types import Array, Float64, Ints


def log_level(delta: float) -> float:
    """L = log(2/δ), for bounds that hold on both sides with probability 1 - δ."""
    return float(np.log(2 / probability("delta", delta)))


@dataclass(frozen=True)
class Sample:
    """How often each row was drawn from λ and the sum of its signed labels, y in [-1, 1]."""

    lam: Float64  # (n,)
    counts: Ints  # (n,)
    sums: Float64  # (n,)

    @property
    def t(self) -> int:
        """How many draws there were."""
        return int(self.counts.sum())

    @classmethod
    def of(cls, lam: Array, positions: Array, y: Array) -> Sample:
        """From the draws one by one; y = 2 label - 1."""
        n = len(lam)
        if len(positions) != len(y):
            raise InvalidInput("y", f"must have one entry a draw ({len(positions)}), got {len(y)}")
        if len(y) and not (np.abs(y) <= 1).all():
            raise InvalidInput("y", "must lie in [-1, 1]; write labels 0 and 1 as -1 and 1")
        if len(positions) and not (np.min(positions) >= 0 and np.max(positions) < n):
            raise InvalidInput("positions", f"must lie between 0 and {n - 1}, the rows of the design")
        counts = np.bincount(positions, minlength=n)
        sums = np.bincount(positions, weights=np.asarray(y, dtype=float), minlength=n).astype(float)
        return cls(np.asarray(lam, dtype=float), counts, sums)
