"""The options that say what the columns of a table are for, and what is said of them."""

from __future__ import annotations

import shlex
from typing import Annotated

import typer

from aced.cli._project import say
from aced.items import Items, class_columns
from aced.project import listed

Columns = Annotated[
    list[str] | None,
    typer.Option(
        metavar="A,B",
        help="The columns to learn from: they make one text, or are the features of a row.",
    ),
]
Show = Annotated[
    list[str] | None,
    typer.Option(metavar="A,B", help="Columns that people see with an item; not learned from."),
]
Exclude = Annotated[
    list[str] | None,
    typer.Option(metavar="A,B", help="Columns that are neither shown nor learned from."),
]
LabelColumn = Annotated[
    str | None,
    typer.Option(help="The column of labels that are there already; an empty cell is no label."),
]


def reading_words(items: Items) -> str:
    """Which columns the items were read from, and which columns of text were left, for the report."""
    source = items.source
    if source is None:
        return ""
    parts = []
    if items.kind == "text":
        many = "s" * (len(source.learned) > 1)
        parts.append(f", column{many} {listed(source.learned)}")
    if source.shown:
        parts.append(f"; {listed(source.shown)} shown with each")
    return "".join(parts)


def choice_words(items: Items) -> str | None:
    """What the reader chose by itself among several columns of text; None if there was no choice."""
    source = items.source
    if source is None or source.named or not source.left:
        return None
    left = listed(source.left)
    if items.kind == "text":
        one = len(source.left) == 1
        said = f"{left} {'holds' if one else 'hold'} texts too, and {'is' if one else 'are'} left out"
        return f"{said}; {_typed([*source.learned, *source.left])} makes one text of all"
    if len(source.left) == 1:
        return None
    return (
        f"{left} hold texts, and each of their values counts as a category; "
        f"{_typed(source.left)} makes texts of them"
    )


def _typed(names: list[str]) -> str:
    """The option that names these columns, as it is typed."""
    if any("," in name for name in names):
        return " ".join(f"--columns {shlex.quote(name)}" for name in names)
    return f"--columns {shlex.quote(','.join(names))}"


def warn_of_classes(items: Items, classes: list[str], file: str, besides: list[str]) -> None:
    """Say on standard error which columns hold the classes. ``besides`` hold them for a good reason."""
    source = items.source
    if source is None:
        return
    for name in class_columns(items, classes):
        if name in besides:
            continue
        used = "shown and learned from" if name in source.learned else "not used"
        used = "shown" if name in source.shown else used
        say(
            f"column {name!r} of {file} holds names of the classes and is {used}: take them as labels "
            "with --label-column, or name the column in --exclude",
            stderr=True,
        )
