"""How right the classifier is, in all and class by class, as the classes stand now.

A round records certificates (:mod:`aced.certificates`): of accuracy, and of each class the share of its
rows that the classifier finds, and the share that is right of those that it takes for the class. Beside
these it records how many rows of the pool have which class and are taken for which: an estimate.

When classes are merged, errors between them are none any more. Until the next round the least accuracy
stands, the largest is 1, and the estimate follows from the counts. Of a class that was merged or added
since, nothing is known until then.

Rounds that an earlier version planned counted check rows; their intervals are Wilson's.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from aced._types import Ints
from aced.ledger import State
from aced.project._round import CERTIFIED, wilson


def last_estimate(state: State) -> dict[str, Any] | None:
    """The last round that estimated accuracy; None if there is none."""
    return next((one for one in reversed(state.rounds) if one.get("accuracy")), None)


def confusion(state: State, found: dict[str, Any] | None) -> Ints | None:
    """Rows by the class that people named (rows) and a classifier named (columns), shape (K, K).

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
    """The estimate of the round ``found``, for the classes of now."""
    if found is None or not found.get("accuracy"):
        return None
    before: dict[str, float] = found["accuracy"]
    table = None if found.get("classes") == state.codes else confusion(state, found)
    if table is None:
        return dict(before)
    right, of = int(table.trace()), int(table.sum())
    if not of:
        return None
    if not certified(found):
        low, high = wilson(right, of)
        return {"estimate": right / of, "low": low, "high": high, "checked": of}
    if not set(state.codes) <= set(found["classes"]):
        return dict(before)
    return {**before, "estimate": max(right / of, before["low"]), "high": 1.0}


def certified(found: dict[str, Any]) -> bool:
    """Whether the estimates of this round are certificates."""
    return bool(found.get("planner", 1) >= CERTIFIED)


def knows_classes(state: State) -> bool:
    """Whether the last estimate tells apart all classes of now: none was added or merged back since."""
    found = last_estimate(state)
    return found is None or set(state.codes) <= set(found.get("classes", state.codes))


def by_class(state: State, found: dict[str, Any] | None, names: Sequence[str]) -> list[dict[str, Any]]:
    """Of the rows of each class the share that the classifier finds, and its ``precision``.

    ``names`` are those of ``state.codes``. What is not known is None.
    """
    if found is None or not found.get("confusion"):
        return []
    if not certified(found):
        return by_check_rows(confusion(state, found), names)
    stands = [state.stands[code] for code in found["classes"]]
    known = {one["code"]: one for one in found.get("by_class") or [] if stands.count(one["code"]) == 1}
    return [
        {"class": name, **known[code]["recall"], "precision": known[code]["precision"]}
        if code in known
        else {"class": name, "checked": 0, **UNKNOWN}
        for code, name in zip(state.codes, names, strict=True)
    ]


UNKNOWN: dict[str, None] = {"estimate": None, "low": None, "high": None, "precision": None}


def by_check_rows(table: Ints | None, names: Sequence[str]) -> list[dict[str, Any]]:
    """The same from counts of check rows, with Wilson's intervals.

    >>> for one in by_check_rows(np.array([[9, 1], [0, 0]]), ["a", "b"]): print(list(one.values())[:3])
    ['a', 10, 0.9]
    ['b', 0, None]
    """
    if table is None:
        return []
    shown = []
    rights, totals = table.diagonal().tolist(), table.sum(axis=1).tolist()
    for name, right, of in zip(names, rights, totals, strict=True):
        one: dict[str, Any] = {"class": name, "checked": of, **UNKNOWN}
        if of:
            low, high = wilson(right, of)
            one |= {"estimate": right / of, "low": low, "high": high}
        shown.append(one)
    return shown
