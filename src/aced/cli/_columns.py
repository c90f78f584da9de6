"""The options that say what of a table or folder is read for what, and what is said of it."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from aced._errors import InvalidInput
from aced.cli._project import counted, say
from aced.items import BrokenImages, Items, class_columns
from aced.project import listed

FEW = 5
"""The most broken images that a line names."""

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

SkipBroken = Annotated[
    bool, typer.Option("--skip-broken", help="Leave out images that cannot be read, and count them.")
]


def check_skips(skip_broken: bool, features: Path | None) -> None:
    """Refuse features from a file where items may be left out: its rows would belong to others."""
    if skip_broken and features is not None:
        raise InvalidInput(
            "skip_broken and features",
            "are both given, and rows of features would lose their items; take the broken images out "
            "of the folder instead",
        )


@contextmanager
def may_skip() -> Iterator[None]:
    """Where images that cannot be read are refused, name the option that leaves them out."""
    try:
        yield
    except BrokenImages as error:
        sentence = f"{error.sentence}, or leave out what is broken with --skip-broken"
        raise InvalidInput(error.argument, sentence) from error


def broken_words(items: Items) -> str:
    """Which images were left out, as they cannot be read."""
    left = f"{counted(len(items.broken), 'broken image')} left out"
    few = ", ".join(items.broken[:FEW]) + (", …" if len(items.broken) > FEW else "")
    return f"{left} ({few})"


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
    found = [name for name in class_columns(items, classes) if name not in besides]
    if source is None or not found:
        return
    if len(found) > 1:
        say(
            f"columns {listed(found)} of {file} hold names of the classes: take one as labels with "
            "--label-column, or name them in --exclude",
            stderr=True,
        )
        return
    used = "shown and learned from" if found[0] in source.learned else "not used"
    used = "shown" if found[0] in source.shown else used
    say(
        f"column {found[0]} of {file} holds names of the classes and is {used}: take it as labels "
        "with --label-column, or name it in --exclude",
        stderr=True,
    )
