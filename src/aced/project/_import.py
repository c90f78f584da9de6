"""Take labels made elsewhere: all labels of a file in one transaction, or none."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from aced._errors import InvalidInput
from aced._tables import FORMATS, Table, read_bytes, read_table
from aced.project._classes import counted_as
from aced.project._export import original
from aced.project._history import PASSED
from aced.project._people import check_name
from aced.project._project import Project
from aced.project._take import UNNAMED, Given, Imported, LeftOut, answer_key, stamp_of, take

LABEL_STUDIO = {"annotation_id", "lead_time"}
"""Columns that every table exported by Label Studio has."""


def import_labels(
    project: Project,
    path: str | os.PathLike[str],
    *,
    who: str | None = None,
    form: str | None = None,
    skip_bad: bool = False,
) -> Imported:
    """Take the labels of a .csv, .tsv, .jsonl, .parquet or .xlsx file.

    ``path`` has the columns ``item`` (or ``id``) and ``label``, perhaps ``annotator`` and ``seconds``.
    In Label Studio's exports ``aced_id`` is the item and ``lead_time`` the seconds. A line without a
    label whose ``answer`` is skip or unsure is one, unless the annotator has an answer already. ``who``
    is the annotator of lines that name none. ``form`` is the format (default: by the file's ending). A
    label that stands already is left as it is. A file that was imported before changes nothing. Items
    that were never drawn may have labels too, without a draw probability. ``skip_bad`` leaves out lines
    that cannot be used, which are else refused; once they can be, the same file may be imported again.
    """
    path = Path(path)
    content = read_bytes(path, "file")
    table = read_table(path, "file", form, content)
    key = _item_column(table, path.name)
    stamp = stamp_of(content)
    where = row_finder(project)
    ours = (form or FORMATS[path.suffix.lower()]) == "csv" and not set(table.columns) >= LABEL_STUDIO
    meant = partial(_meant, neutral=ours)
    left, ignored = LeftOut(skip_bad), 0
    read: dict[int, tuple[str, Given]] = {}  # by the number of the line: its place and what it says
    for number, (place, cells) in enumerate(table.lines()):
        with left.line(number):
            if made_by_machine(cells, place):
                ignored += 1
                continue
            read[number] = place, _given(project, place, cells, where, meant, key, who or UNNAMED, stamp)
    found = _without_contradictions(project, read, left)
    taken, people = take(project, found, left, stamp, who or UNNAMED)
    return Imported(taken, len(found) - taken, people, ignored, left.sentences)


def _item_column(table: Table, file: str) -> str:
    """The column that names the items."""
    heads = table.columns
    if not table.rows:
        raise InvalidInput("file", f"{file} has no labels; give it a heading and some lines")
    key = next((name for name in ("aced_id", "item", "id") if name in heads), None)
    if set(heads) >= LABEL_STUDIO and key not in ("aced_id", "item"):
        raise InvalidInput(
            "file",
            f"{file} is an export of Label Studio without the column aced_id, which names the "
            "items; annotate tasks that aced export wrote, or add a column item",
        )
    if key is None or "label" not in heads:
        held = ", ".join(sorted(heads)[:8]) or "none"
        raise InvalidInput(
            "file", f"{file} must have columns item (or id) and label; its columns are {held}"
        )
    return key


def _without_contradictions(
    project: Project, read: Mapping[int, tuple[str, Given]], left: LeftOut
) -> dict[int, Given]:
    """What each person says of each row, once. Where lines say two things, all of them are bad."""
    groups: dict[tuple[int, str], list[int]] = {}
    for number, (_, given) in read.items():
        groups.setdefault((given.row, given.who), []).append(number)
    said = {number: (given.kind, given.code) for number, (_, given) in read.items()}
    found: dict[int, Given] = {}
    for numbers in groups.values():
        for number in reversed(numbers):  # a later line is said to contradict an earlier one
            other = next((one for one in numbers if said[one] != said[number]), None)
            if other is None:
                found[numbers[0]] = read[numbers[0]][1]
                break
            with left.line(number):
                raise InvalidInput("file", _contradiction(project, read[number], read[other]))
    return found


def _contradiction(project: Project, one: tuple[str, Given], other: tuple[str, Given]) -> str:
    said, before = (_word(project, given) for _, given in (one, other))
    return (
        f"{one[0]} says {said} where {other[0]} says {before}, for the same item and annotator; "
        "remove one"
    )


def row_finder(project: Project) -> Callable[[str], int | None]:
    """A function from an item's id to its row."""
    return {item["id"]: int(item["row"]) for item in project.items}.get


def _given(
    project: Project,
    place: str,
    cells: dict[str, Any],
    where: Callable[[str], int | None],
    meant: Callable[[str], Sequence[str]],
    key: str,
    default: str,
    stamp: str,
) -> Given:
    item = _text(cells.get(key))
    row = next((found for name in meant(item) if (found := where(name)) is not None), None)
    if row is None:
        raise InvalidInput("file", f"{place}: there is no item {item[:80]!r}; remove the line")
    label, kind = _text(cells.get("label")), _text(cells.get("answer"))
    passed = kind in PASSED and not label
    code = None if passed else counted_as(project.ledger.state, meant(label), place)
    who = meant(_text(cells.get("annotator")))[0] or default
    if cells.keys() >= LABEL_STUDIO and who.isdecimal():
        who = f"label-studio {who}"  # the same name as from its JSON
    try:
        check_name(who)
    except InvalidInput as error:
        raise InvalidInput("file", f"{place}: annotator {error}") from error
    name = "seconds" if "seconds" in cells else "lead_time"
    seconds = as_seconds(cells.get(name), f"{place}: {name}")
    notes = {"from_prediction": True} if from_prediction(cells) else {}
    kind = kind if passed else "label"
    return Given(row, who, kind, code, seconds, answer_key(stamp, row, who), notes)


def _word(project: Project, given: Given) -> str:
    return given.kind if given.code is None else repr(project.names[given.code])


def from_prediction(annotation: Mapping[str, Any]) -> bool:
    """Whether an annotation of Label Studio began as a prediction, changed by a person or not."""
    regions = annotation.get("result")
    regions = [one for one in regions if isinstance(one, dict)] if isinstance(regions, list) else []
    unchanged = bool(regions) and all(one.get("origin") == "prediction" for one in regions)
    return unchanged or annotation.get("parent_prediction") not in (None, "")


def made_by_machine(annotation: Mapping[str, Any], place: str) -> bool:
    """Whether an annotation is a prediction that no person spent time on."""
    seconds = annotation.get("lead_time")
    return from_prediction(annotation) and not as_seconds(seconds, f"{place}: lead_time")


def _text(value: Any) -> str:
    return "" if value is None else str(value)


def _meant(text: str, neutral: bool) -> Sequence[str]:
    """What a cell may stand for, the likelier reading first.

    An export to CSV puts an apostrophe before formulas, so there ``'=1`` stands for ``=1``. Other
    files hold cells as they are. The second reading is for files that somebody wrote by hand.
    """
    plain = original(text)
    readings = (plain, text) if neutral else (text, plain)
    return readings if plain != text else (text,)


def as_seconds(value: Any, place: str) -> float:
    """The seconds that an answer took; 0 if the file does not say."""
    if value is None or value == "":
        return 0.0
    try:
        seconds = math.nan if isinstance(value, bool) else float(value)
    except (TypeError, ValueError, OverflowError):
        seconds = math.nan
    if not 0 <= seconds < 1e7:
        raise InvalidInput("file", f"{place} must be a number from 0 up, got {str(value)[:80]!r}")
    return seconds
