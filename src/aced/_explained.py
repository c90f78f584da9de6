"""What the record of a round says of the representation and of a random forest, in plain words.

A record is one of ``Learner.history``, or the design in an event of the ledger. Sentences are made from
its numbers alone, so that the command line, the page and the terminal say the same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

WAYS = {
    "linear": "taken as they are",
    "rbf": "compared by a Gaussian kernel",
    "weighted": "compared by a Gaussian kernel that weighs the columns",
}
OTHERS = {
    "linear": "rows as they are",
    "rbf": "a Gaussian kernel",
    "weighted": "a kernel that weighs the columns",
}
KEPT = ("labels", "width", "forest", "model", "advice")


def errors_of(record: Mapping[str, Any]) -> dict[str, float]:
    """The left-out errors in a record, by representation."""
    return {kind: float(record[name]) for kind in WAYS if _number(record.get(name := f"error_{kind}"))}


def explained(record: Mapping[str, Any]) -> str | None:
    """Which representation was used and what others would err; None if the record does not say.

    >>> explained({"representation": "rbf", "error_linear": 0.124, "error_rbf": 0.081})
    'Rows are compared by a Gaussian kernel (left-out error 0.081); rows as they are would err 0.124.'
    >>> explained({"representation": "linear", "error_linear": 0.124})
    'Rows are taken as they are (left-out error 0.124).'
    >>> explained({"representation": "linear", "error_linear": 0.124, "error_rbf": 0.119})[27:]
    '(left-out error 0.124); a Gaussian kernel would err 0.119, perhaps by chance.'
    >>> explained({"representation": "linear"})
    'Rows are taken as they are.'
    """
    used, errors = record.get("representation"), errors_of(record)
    if not isinstance(used, str) or used not in WAYS:
        return None
    if used not in errors:
        return f"Rows are {WAYS[used]}."  # there were no labels of two classes to compare by
    rest = [
        f"{OTHERS[kind]} would err {error:.3f}{', perhaps by chance' if error < errors[used] else ''}"
        for kind, error in errors.items()
        if kind != used
    ]
    others = f"; {' and '.join(rest)}" if rest else ""
    return f"Rows are {WAYS[used]} (left-out error {errors[used]:.3f}){others}."


def since(records: Sequence[Mapping[str, Any]]) -> int | None:
    """The place of the first of the last records that have the same representation; None without one.

    >>> since([{"representation": "linear"}, {"representation": "rbf"}, {}, {"representation": "rbf"}])
    1
    """
    first = used = None
    for place in range(len(records) - 1, -1, -1):
        found = records[place].get("representation")
        if found is None:  # a round without a design says nothing
            continue
        if used is not None and found != used:
            break
        first, used = place, found
    return first


def compared(record: Mapping[str, Any]) -> str | None:
    """That a random forest is clearly better; None where it is not, or was not tried.

    >>> compared({"forest": 0.931, "model": 0.9, "advice": "…"})
    'A random forest would be right on 0.93 of left-out labels, this model on 0.90'
    """
    forest, model = record.get("forest"), record.get("model")
    if not (record.get("advice") and _number(forest) and _number(model)):
        return None
    return (
        f"A random forest would be right on {forest:.2f} of left-out labels, this model on {model:.2f}"
    )


def numbers(record: Mapping[str, Any]) -> dict[str, Any] | None:
    """The part of a record that is about the representation; None without one."""
    sentence = explained(record)
    if sentence is None:
        return None
    kept = {name: record[name] for name in KEPT if name in record}
    return {"used": record["representation"], **kept, "errors": errors_of(record), "sentence": sentence}


def _number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
