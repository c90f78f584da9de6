"""CAL over a stream (Cohn, Atlas, Ladner 1994): ask where two classifiers that fit all labels differ.

Let h be the best classifier on the labels so far, and h' the best of those that label row x the other
way. Row x is asked for when err(h') ≤ err(h) + slack. CAL is made for tasks that some classifier
solves without error; on other tasks it stops asking too early, or with a slack too late.
"""

from __future__ import annotations

from typing import Any

from aced._errors import InvalidInput
from aced._types import Float64, Ints
from aced.strategies._iwal import Iwal


class Cal(Iwal):
    """Ask for every row of the region of disagreement and for no other.

    ``slack`` is a share of the rows passed; ``passes``, ``seeds`` and ``classifier`` are as in ``Iwal``.
    """

    def __init__(
        self, slack: float = 0.0, *, passes: int = 1, seeds: int | None = None, classifier: Any = None
    ) -> None:
        if not slack >= 0:
            raise InvalidInput("slack", f"must not be negative, got {slack}")
        super().__init__(1.0, passes=passes, seeds=seeds, lag=0.0, classifier=classifier)
        self.name, self.slack = "cal", float(slack)

    def _probabilities_of(self, rows: Ints) -> Float64:
        assert self._erm is not None
        best = self._erm.error()
        allowed = best + self.slack * max(self._k, 1)
        return (self._erm.rivals(rows) <= allowed * (1 + 1e-9)).astype(float)
