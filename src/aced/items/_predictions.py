"""Given predictions: a file with a class, and perhaps a confidence, for each item."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from aced._errors import InvalidInput
from aced._tables import read_table
from aced._types import Float64
from aced.items._cells import as_number, as_text

CLASS_NAMES = ("prediction", "predicted", "label", "class", "says")
SURE_NAMES = ("confidence", "sure", "probability", "score")
ID_NAMES = ("id", "item", "aced_id")


def read_predictions(
    path: str | os.PathLike[str],
    ids: Sequence[str],
    *,
    id_column: str | None = None,
    class_column: str | None = None,
    confidence_column: str | None = None,
) -> tuple[list[str], Float64 | None]:
    """The predicted class of each item of ``ids``, and how sure it is; None if the file does not say.

    Lines are matched by ``id_column`` (default: id, item or aced_id); a file without one has a line for
    each item, in their order. The class is in ``class_column`` (default: prediction, predicted, label,
    class or says), the confidence, from 0 to 1, in ``confidence_column`` (default: confidence, sure,
    probability or score, if there is one).
    """
    place = Path(path)
    table = read_table(place, "predictions")
    lines = list(table.lines())
    if not lines:
        raise InvalidInput("predictions", f"{place.name} has no rows; give it one for each item")
    key = _column(table.columns, id_column, ID_NAMES, place.name)
    said = _column(table.columns, class_column, CLASS_NAMES, place.name)
    sure = _column(table.columns, confidence_column, SURE_NAMES, place.name)
    if said is None:
        held = ", ".join(table.columns[:12])
        raise InvalidInput(
            "predictions",
            f"{place.name} has no column {' or '.join(CLASS_NAMES)}; name the column of classes, one of "
            f"{held}",
        )
    where = _matched(lines, key, ids, place.name)
    classes, numbers = [], []
    for name, line in zip(ids, where, strict=True):
        at, cells = lines[line]
        classes.append(as_text(cells[said]).strip())
        if not classes[-1]:
            raise InvalidInput("predictions", f"{at}: item {name[:80]!r} has no class; fill it in")
        if sure is not None:
            number = as_number(cells[sure])
            if number is None or not 0 <= number <= 1:
                raise InvalidInput(
                    "predictions",
                    f"{at}: {sure} must be a number from 0 to 1, got {str(cells[sure])[:40]!r}",
                )
            numbers.append(number)
    return classes, None if sure is None else np.array(numbers)


def columns_of(
    path: str | os.PathLike[str], *, class_column: str | None, confidence_column: str | None
) -> list[str]:
    """The columns of a file that hold classes and confidences."""
    table = read_table(Path(path), "predictions")
    found = [
        _column(table.columns, class_column, CLASS_NAMES, Path(path).name),
        _column(table.columns, confidence_column, SURE_NAMES, Path(path).name),
    ]
    return [name for name in found if name is not None]


def _column(columns: list[str], given: str | None, usual: Sequence[str], file: str) -> str | None:
    if given is not None:
        if given not in columns:
            held = ", ".join(columns[:12])
            raise InvalidInput("predictions", f"{file} has no column {given!r}; it has {held}")
        return given
    lower = {name.lower(): name for name in reversed(columns)}
    return next((lower[name] for name in usual if name in lower), None)


def _matched(
    lines: list[tuple[str, dict[str, object]]], key: str | None, ids: Sequence[str], file: str
) -> list[int]:
    """The line of each item."""
    if key is None:
        if len(lines) != len(ids):
            raise InvalidInput(
                "predictions",
                f"{file} has {len(lines)} rows and no column of ids, for {len(ids)} items; add ids, or "
                "a row for each item",
            )
        return list(range(len(ids)))
    found: dict[str, int] = {}
    for place, (at, cells) in enumerate(lines):
        name = as_text(cells[key]).strip()
        if name in found:
            raise InvalidInput("predictions", f"{at}: item {name[:80]!r} is there twice; keep one line")
        found[name] = place
    missing = next((name for name in ids if name not in found), None)
    if missing is not None:
        raise InvalidInput(
            "predictions",
            f"{file} has no line for item {missing[:80]!r}; predict every item, or leave it out",
        )
    return [found[name] for name in ids]
