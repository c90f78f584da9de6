"""Columns of a table that hold the names of the classes, or labels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from aced.items._cells import as_text
from aced.items._items import Items


def class_columns(items: Items, classes: Sequence[str]) -> list[str]:
    """The columns in which every cell is empty or the name of a class, whatever its case.

    Columns of ids and labels, and those that a person left out, are not looked at.
    """
    if items.source is None:
        return []
    names = {name.strip().casefold() for name in classes}
    table = items.source.table
    return [name for name in items.source.free if _are(table.column(name), names)]


def labels_of(items: Items) -> list[str]:
    """What the column of labels says of each item; empty where it says nothing."""
    source = items.source
    if source is None or source.label is None:
        return [""] * len(items)
    return [as_text(cell).strip() for cell in source.table.column(source.label)]


def _are(cells: list[Any], names: set[str]) -> bool:
    found = False
    for cell in cells:
        said = as_text(cell).strip().casefold()
        if said and said not in names:
            return False
        found = found or bool(said)
    return found
