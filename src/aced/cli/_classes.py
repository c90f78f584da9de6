"""aced classes: the classes of a project, and changes of them while people label."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from functools import partial
from typing import Annotated, Any

import typer

from aced._errors import InvalidInput
from aced.cli._project import Folder, Json, counted, local_name, print_json, say
from aced.project import (
    Changed,
    Project,
    add_class,
    class_table,
    labels_changed,
    merge_class,
    rename_class,
    undo_change,
)

SHOWN = 20
"""The most labels that are listed before a merge."""
LIBRARY = ("name", "from", "to", "into", "undo")


def classes(
    project: Folder,
    add: Annotated[str | None, typer.Option(metavar="NAME", help="Add a class.")] = None,
    rename: Annotated[
        tuple[str, str] | None, typer.Option(metavar="OLD NEW", help="Give a class another name.")
    ] = None,
    merge: Annotated[
        tuple[str, str] | None,
        typer.Option(metavar="OLD INTO", help="Let labels of OLD count as INTO, and retire OLD."),
    ] = None,
    undo: Annotated[bool, typer.Option("--undo", help="Take back the last change.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Merge without a question.")] = False,
    as_json: Json = False,
) -> None:
    """List the classes of a project, or change them. Pages that are open take the change up."""
    changes: dict[str, Callable[..., Changed]] = {}
    if add is not None:
        changes["add"] = partial(add_class, name=add)
    if rename is not None:
        changes["rename"] = partial(rename_class, old=rename[0], new=rename[1])
    if merge is not None:
        changes["merge"] = partial(merge_class, old=merge[0], into=merge[1])
    if undo:
        changes["undo"] = undo_change
    if len(changes) > 1:
        raise InvalidInput(" and ".join(changes), "are given together; make one change at a time")
    if yes and merge is None:
        raise InvalidInput("yes", "is for --merge only")
    with closing(Project(project)) as opened:
        record: dict[str, Any] = {}
        for name, change in changes.items():
            with _about(name):
                record = _make(opened, change, ask=name == "merge" and not yes, quiet=as_json)
        with opened.ledger.reading() as state:
            record = {"classes": class_table(state, opened.opinions(state).codes), **record}
    if as_json:
        print_json(record)
    else:
        for one in record["classes"]:
            former = f" (was {', '.join(one['former'])})" if one["former"] else ""
            say(f"{one['name']}{former}: {counted(one['labels'], 'item')}")


@contextmanager
def _about(option: str) -> Iterator[None]:
    """Say of the option what the library says of its parts."""
    try:
        yield
    except InvalidInput as error:
        if error.argument not in LIBRARY:
            raise
        raise InvalidInput(option, error.sentence) from error


def _make(project: Project, change: Callable[..., Changed], ask: bool, quiet: bool) -> dict[str, Any]:
    """Make the change, unless somebody has to say yes and does not."""
    change = partial(change, project.ledger, local_name())
    planned = change(dry=True)
    count = len(planned.labels)
    labels = labels_changed(project, planned, count if quiet else SHOWN)
    record = {"done": True, "count": count, "labels": labels}
    if ask:
        if quiet:
            return {**record, "done": False}
        for label in labels:
            say(f"{label['item']}: {label['label']}, by {label['annotator']}")
        if count > len(labels):
            say(f"and {count - len(labels)} more")
        if not sys.stdin.isatty():
            raise InvalidInput("yes", f"is needed: this changes {counted(count, 'label')}")
        typer.confirm(
            "Change this label?" if count == 1 else f"Change these {count} labels?", abort=True
        )
    change()
    return record
