"""What t draws from a design gave.

With K classes a draw of row i shows its whole label Y, which counts as y_c = 1{Y = c} - 1{Y = 0} for the
classes c = 1 … K-1. For two classes that is y = ±1. Its mean is μ_ic = η_ic - η_i0, and whatever two
labelings say, 1{Y = h(i)} - 1{Y = h'(i)} = y_{h(i)} - y_{h'(i)} (y_0 = 0) lies in [-1, 1].
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from aced._check import class_count, probability
from aced._errors import InvalidInput
from aced._labelings import columns_of, one_hot
from aced._types import Array, Float64, Ints


def log_level(delta: float) -> float:
    """L = log(2/δ), for bounds that hold on both sides with probability 1 - δ."""
    return float(np.log(2 / probability("delta", delta)))


@dataclass(frozen=True)
class Sample:
    """How often each row was drawn from λ and the sum of its labels y, numbers in [-1, 1]."""

    lam: Float64  # (n,)
    counts: Ints  # (n,)
    sums: Float64  # (n,) for two classes, (n, K - 1) for K

    @property
    def t(self) -> int:
        """How many draws there were."""
        return int(self.counts.sum())

    @property
    def classes(self) -> int:
        """K."""
        return 2 if self.sums.ndim == 1 else self.sums.shape[1] + 1

    def per_row(self, values: Array) -> Array:
        """One number a row, in a shape that ``sums`` can be divided by."""
        return values.reshape(values.shape + (1,) * (self.sums.ndim - 1))

    @classmethod
    def of(cls, lam: Array, positions: Array, y: Array) -> Sample:
        """From the draws one by one; y = 2 label - 1 for two classes, (t,), or (t, K - 1) for K."""
        n = len(lam)
        if len(positions) != len(y):
            raise InvalidInput("y", f"must have one entry a draw ({len(positions)}), got {len(y)}")
        if len(y) and not (np.abs(y) <= 1).all():
            raise InvalidInput("y", "must lie in [-1, 1]; write labels 0 and 1 as -1 and 1")
        if len(positions) and not (np.min(positions) >= 0 and np.max(positions) < n):
            raise InvalidInput("positions", f"must lie between 0 and {n - 1}, the rows of the design")
        counts = np.bincount(positions, minlength=n)
        parts = [np.bincount(positions, weights=part, minlength=n) for part in columns_of(y).T]
        sums = parts[0] if np.ndim(y) == 1 else np.stack(parts, axis=1)
        return cls(np.asarray(lam, dtype=float), counts, sums.astype(float))

    @classmethod
    def of_codes(cls, lam: Array, positions: Array, codes: Array, classes: int) -> Sample:
        """From the draws one by one, with their labels as codes 0 … K-1."""
        class_count("classes", classes)
        given = np.asarray(codes)
        if len(given) and not ((given >= 0) & (given < classes)).all():
            raise InvalidInput("codes", f"must lie between 0 and {classes - 1}, the classes")
        return cls.of(lam, positions, one_hot(given, classes))
