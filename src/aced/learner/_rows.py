"""What a learner knows of each row: whether it was asked for, its label, its draw probability."""

from __future__ import annotations

from typing import Any

import numpy as np

from aced._errors import InvalidInput
from aced._types import Array, Bools, Float64, Ints
from aced.learner._labels import Classes, moves
from aced.pool import Pool

UNASKED, PENDING, LABELLED, EXCLUDED = 0, 1, 2, 3


class Rows:
    """The status, code and draw probability of each row (NaN where a row was not asked for)."""

    def __init__(self, pool: Pool, classes: Classes) -> None:
        n = len(pool)
        self.pool, self.classes = pool, classes
        self.status = np.zeros(n, np.int8)
        self.codes = np.zeros(n, np.int64)
        self.probabilities = np.full(n, np.nan)
        self.queue: list[int] = []  # drawn, and not asked for yet

    def having(self, status: int) -> Bools:
        return np.asarray(self.status == status)

    @property
    def labelled(self) -> Ints:
        """Positions of the rows with a label, in order."""
        return np.flatnonzero(self.status == LABELLED)

    def labels(self, positions: Ints) -> Array:
        return self.classes.decode(self.codes[positions])

    @property
    def asked(self) -> int:
        """How many rows count against the budget."""
        return int(((self.status != UNASKED) & ~np.isnan(self.probabilities)).sum())

    def ask(self, count: int) -> tuple[Ints, Float64]:
        """The next rows of the queue, which are pending from now on, and their probabilities."""
        positions = np.array(self.queue[:count], dtype=np.int64)
        self.status[positions] = PENDING
        self.queue = self.queue[count:]
        return positions, self.probabilities[positions]

    def tell(self, positions: Ints, labels: Any, overwrite: bool) -> Ints:
        """Take all these labels, or none if one of them is refused; return the codes' :func:`moves`."""
        before = self.classes.values
        held = before
        if overwrite:  # a class that no other row has may be dropped
            others = self.having(LABELLED)
            others[positions] = False
            held = [before[code] for code in np.unique(self.codes[others])]
        codes, known = self.classes.encode(labels, held)
        if len(positions) != len(codes):
            raise InvalidInput("labels", f"got {len(codes)} labels for {len(positions)} ids")
        now = moves(before, known)
        current = now[self.codes]  # a new class may sort before another
        self._refuse_two_labels(positions, codes)
        if not overwrite:
            self._refuse_contradictions(positions, codes, current, known)
        self.classes.values, self.codes = known, current
        self.codes[positions] = codes
        unasked = np.isin(self.status[positions], (UNASKED, EXCLUDED))
        self.probabilities[positions[unasked]] = np.nan
        self.status[positions] = LABELLED
        self._leave_queue(positions)
        return now

    def _refuse_two_labels(self, positions: Ints, codes: Ints) -> None:
        order = np.argsort(positions, kind="stable")
        same_row = np.diff(positions[order]) == 0
        clash = np.flatnonzero(same_row & (np.diff(codes[order]) != 0))
        if len(clash):
            row = self.pool.ids[positions[order][clash[0]]].item()
            raise InvalidInput("labels", f"{row!r} is given two different labels in one call")

    def _refuse_contradictions(
        self, positions: Ints, codes: Ints, current: Ints, known: list[Any]
    ) -> None:
        differs = (self.status[positions] == LABELLED) & (current[positions] != codes)
        if differs.any():
            first = int(np.flatnonzero(differs)[0])
            row = self.pool.ids[positions[first]].item()
            raise InvalidInput(
                "labels",
                f"{row!r} was told {known[current[positions[first]]]!r} before and "
                f"{known[codes[first]]!r} now; pass overwrite=True to correct it",
            )

    def release(self, positions: Ints) -> None:
        if (self.status[positions] == LABELLED).any():
            raise InvalidInput("ids", "a row that has a label cannot be released")
        self._put_back(positions[self.status[positions] == PENDING], UNASKED)

    def exclude(self, positions: Ints, awaited: bool = False) -> None:
        unlabelled = positions[self.status[positions] != LABELLED]
        self._put_back(unlabelled, PENDING if awaited else EXCLUDED)

    def _put_back(self, positions: Ints, status: int) -> None:
        self.status[positions] = status
        self.probabilities[positions] = np.nan
        self._leave_queue(positions)

    def _leave_queue(self, positions: Ints) -> None:
        gone = set(positions.tolist())
        self.queue = [position for position in self.queue if position not in gone]

    # -- saving -----------------------------------------------------------------

    def arrays(self) -> dict[str, Array]:
        return {
            "status": self.status,
            "codes": self.codes,
            "probabilities": self.probabilities,
            "queue": np.array(self.queue, dtype=np.int64),
        }

    def restore(self, arrays: dict[str, Array]) -> None:
        self.status, self.codes = arrays["status"], arrays["codes"]
        self.probabilities, self.queue = arrays["probabilities"], arrays["queue"].tolist()
