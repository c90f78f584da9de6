"""How right the classifier is on check rows, class by class.

The counts are those behind a round's estimate of accuracy: the label that people gave a check row, and
the class that a classifier trained on all other labels named. Classes that were merged since count
as the class they were merged into. Classes that were merged when the round was planned, and no longer
are, cannot be told apart until the next round.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from aced._types import Ints
from aced.ledger import State
from aced.project._round import wilson


def last_estimate(state: State) -> dict[str, Any] | None:
    """The last round that estimated accuracy; None if there is none."""
    return next((one for one in reversed(state.rounds) if one.get("accuracy")), None)


def confusion(state: State, found: dict[str, Any] | None) -> Ints | None:
    """Check rows by the class that people named (rows) and a classifier named (columns), shape (K, K).

    They are those of the round ``found``, in the order of ``state.codes``; None if it has no counts.
    """
    if found is None or not found.get("confusion"):
        return None
    place, stands = {code: i for i, code in enumerate(state.codes)}, state.stands
    table = np.zeros((len(place), len(place)), dtype=np.int64)
    for said, predicted, count in found["confusion"]:
        row, column = place.get(stands[said]), place.get(stands[predicted])
        if row is not None and column is not None:  # not a class whose addition was taken back
            table[row, column] += count
    return table


def accuracy(state: State, found: dict[str, Any] | None) -> dict[str, float] | None:
    """The estimate of the round ``found``, from the same table if the classes have changed since."""
    if found is None or not found.get("accuracy"):
        return None
    table = None if found.get("classes") == state.codes else confusion(state, found)
    if table is None:
        return dict(found["accuracy"])
    right, of = int(table.trace()), int(table.sum())
    if not of:
        return None
    low, high = wilson(right, of)
    return {"estimate": right / of, "low": low, "high": high, "checked": of}


def knows_classes(state: State) -> bool:
    """Whether the last estimate tells apart all classes of now: none was added or merged back since."""
    found = last_estimate(state)
    return found is None or set(state.codes) <= set(found.get("classes", state.codes))


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
