"""How right the classifier is on check rows, class by class.

The counts are those behind a round's estimate of accuracy: the label that people gave a check row, and
the class that a classifier trained on all other labels named. Classes that were merged since count
as the class they were merged into.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from aced._types import Ints
from aced.ledger import State
from aced.project._round import wilson


def confusion(state: State) -> Ints | None:
    """Check rows by the class that people named (rows) and a classifier named (columns), shape (K, K).

    They come from the last round with counts, in the order of ``state.codes``; None if there is none.
    """
    counts = next((one["confusion"] for one in reversed(state.rounds) if one.get("confusion")), None)
    if counts is None:
        return None
    place, stands = {code: i for i, code in enumerate(state.codes)}, state.stands
    table = np.zeros((len(place), len(place)), dtype=np.int64)
    for said, predicted, count in counts:
        row, column = place.get(stands[said]), place.get(stands[predicted])
        if row is not None and column is not None:  # not a class whose addition was taken back
            table[row, column] += count
    return table


def by_class(table: Ints | None, names: Sequence[str]) -> list[dict[str, Any]]:
    """Of the check rows of each class, the share that the classifier names rightly, with its interval.

    >>> for one in by_class(np.array([[9, 1], [0, 0]]), ["a", "b"]): print(list(one.values())[:3])
    ['a', 10, 0.9]
    ['b', 0, None]
    """
    if table is None:
        return []
    shown = []
    rights, totals = table.diagonal().tolist(), table.sum(axis=1).tolist()
    for name, right, of in zip(names, rights, totals, strict=True):
        low, high = wilson(right, of) if of else (None, None)
        estimate = right / of if of else None
        shown.append({"class": name, "checked": of, "estimate": estimate, "low": low, "high": high})
    return shown
