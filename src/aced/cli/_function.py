"""Check that a function of the user's own is the one that made a project's features."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from aced._errors import InvalidInput
from aced._types import Float32
from aced.cli._project import counted, say
from aced.items import Items, embed_with
from aced.project import FUNCTION, Project

CHECKED = 5
"""How many items of the project the function is tried on."""


def check_function(project: Project, function: str) -> None:
    """Refuse a function that does not give the project's items the features that they have.

    If images are gone, only its name is compared with the name that the project recorded, if any.
    """
    rows = np.unique(np.linspace(0, project.settings.rows - 1, CHECKED).astype(int))
    items, made_with = _items(project, rows), _made_with(project)
    other = made_with not in (None, function)
    what_to_do = (
        f"name {made_with}, which made the project's features"
        if other
        else "it must be the unchanged function that made the project's features, and give an item "
        "the same row whatever other items it is called with"
    )
    gone = [name for name in items.contents if items.root and not (items.root / str(name)).is_file()]
    if gone:
        said = f"{function} cannot be checked: {items.root} no longer holds the image {gone[0]}"
        if other:
            raise InvalidInput("embed", f"{said}; {what_to_do}")
        say(said, stderr=True)
        return
    difference = _difference(items, embed_with(function, items), project.features[rows])
    if difference:
        raise InvalidInput("embed", f"{function} gives {difference}; {what_to_do}")


def _items(project: Project, rows: np.ndarray) -> Items:
    held, root = [project.item(int(row)) for row in rows], project.settings.root
    return Items(
        kind=project.settings.kind,
        ids=[one.id for one in held],
        contents=[one.content for one in held],
        root=None if root is None else Path(root),
        columns=None,
        same_as=np.arange(len(held)),
    )


def _made_with(project: Project) -> str | None:
    """The recorded name of the function; None in projects of earlier versions."""
    path = project.folder / FUNCTION
    try:
        return str(json.loads(path.read_text())["function"]) if path.is_file() else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _difference(items: Items, found: Float32, stored: Float32) -> str | None:
    """The first difference that rounding does not explain, in words; None if there is none."""
    if found.shape != stored.shape:
        return f"{counted(found.shape[1], 'column')}, and the project has {stored.shape[1]}"
    apart = np.abs(found - stored) > 1e-3 * np.abs(stored).max(axis=0) + 1e-6
    if not apart.any():
        return None
    row, column = np.argwhere(apart)[0]
    return (
        f"item {items.ids[row]!r} the value {found[row, column]:.6g} in column {column}, "
        f"where the project has {stored[row, column]:.6g}"
    )
