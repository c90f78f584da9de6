"""Take labels made elsewhere: all labels of a file in one transaction, or none."""

from __future__ import annotations

import hashlib
import math
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from aced._errors import InvalidInput
from aced._tables import FORMATS, read_bytes, read_table
from aced.ledger import Transaction
from aced.project._classes import counted_as
from aced.project._export import original
from aced.project._history import PASSED
from aced.project._people import check_name
from aced.project._project import Project

LABEL_STUDIO = {"annotation_id", "lead_time"}
"""Columns that every table exported by Label Studio has."""
UNNAMED = "import"
"""The annotator, if a file does not name one."""


@dataclass(frozen=True)
class Given:
    """One answer from elsewhere. ``kind`` is label, skip or unsure; only a label has a ``code``."""

    row: int
    who: str
    kind: str = "label"
    code: int | None = None
    seconds: float = 0.0
    key: str | None = None
    notes: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Imported:
    """What an import did: ``taken`` answers are new, ``known`` ones are not; ``people`` are new names.

    ``ignored`` annotations were made from predictions, not by people.
    """

    taken: int
    known: int
    people: list[str]
    ignored: int = 0


def import_labels(
    project: Project,
    path: str | os.PathLike[str],
    *,
    who: str | None = None,
    form: str | None = None,
) -> Imported:
    """Take the labels of a .csv, .tsv, .jsonl or .parquet file.

    ``path`` has the columns ``item`` (or ``id``) and ``label``, perhaps ``annotator`` and ``seconds``.
    In Label Studio's exports ``aced_id`` is the item and ``lead_time`` the seconds. A line without a
    label whose ``answer`` is skip or unsure is one, unless the annotator has an answer already. ``who``
    is the annotator of lines that name none. ``form`` is the format (default: by the file's ending). A
    label that stands already is left as it is. A file that was imported before changes nothing. Items
    that were never drawn may have labels too, without a draw probability.
    """
    path = Path(path)
    content = read_bytes(path, "file")
    table = read_table(path, "file", form, content)
    if not table.rows:
        raise InvalidInput("file", f"{path.name} has no labels; give it a heading and some lines")
    heads = table.columns
    key = next((name for name in ("aced_id", "item", "id") if name in heads), None)
    if set(heads) >= LABEL_STUDIO and key not in ("aced_id", "item"):
        raise InvalidInput(
            "file",
            f"{path.name} is an export of Label Studio without the column aced_id, which names the "
            "items; annotate tasks that aced export wrote, or add a column item",
        )
    if key is None or "label" not in heads:
        held = ", ".join(sorted(heads)[:8]) or "none"
        raise InvalidInput(
            "file", f"{path.name} must have columns item (or id) and label; its columns are {held}"
        )
    stamp = hashlib.sha256(content).hexdigest()[:32]
    where = row_finder(project)
    ours = (form or FORMATS[path.suffix.lower()]) == "csv" and not set(heads) >= LABEL_STUDIO
    meant = partial(_meant, neutral=ours)
    found: dict[tuple[int, str], tuple[Given, str]] = {}
    lines = list(table.lines())
    by_people = [line for line in lines if not made_by_machine(line[1], line[0])]
    for place, cells in by_people:
        given = _given(project, place, cells, where, meant, key, who or UNNAMED, stamp)
        before = found.setdefault((given.row, given.who), (given, place))
        if (before[0].kind, before[0].code) != (given.kind, given.code):
            raise InvalidInput(
                "file",
                f"{place} says {_word(project, given)} where {before[1]} says "
                f"{_word(project, before[0])}, for the same item and annotator; "
                "remove one",
            )
    people, taken, ignored = [], 0, len(lines) - len(by_people)
    whole = f"import:{stamp}:{who or UNNAMED}"
    with project.ledger.writing() as writing:
        if project.ledger.find(whole) is not None:
            return Imported(0, len(found), [], ignored)
        writing.append("imported", who or UNNAMED, body={"labels": len(found)}, key=whole)
        for given, _ in found.values():
            standing = writing.state.votes.get(given.row, {}).get(given.who)
            if standing is not None and writing.state.stands[standing.code] == given.code:
                continue
            if given.code is None and writing.state.said_something(given.who, given.row):
                continue
            if given.key is not None and project.ledger.find(given.key) is not None:
                continue
            if write_answer(writing, given, "import"):
                people.append(given.who)
            taken += 1
    return Imported(taken, len(found) - taken, people, ignored)


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
    asked = hashlib.sha256(f"{row} {who}".encode()).hexdigest()[:32]
    notes = {"from_prediction": True} if from_prediction(cells) else {}
    return Given(row, who, kind if passed else "label", code, seconds, f"import:{stamp}:{asked}", notes)


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


def write_answer(writing: Transaction, given: Given, source: str) -> bool:
    """Write an answer; return whether the person was unknown and is now let in.

    A person whose access was revoked stays revoked; the answer counts all the same.
    """
    unknown = given.who not in writing.state.people
    if unknown:
        person = {"name": given.who, "role": "annotator", "token": None}
        writing.append("annotator", given.who, body=person)
    label = {} if given.code is None else {"label": writing.state.stands[given.code]}
    body = {"seconds": round(given.seconds, 3), "source": source, **label, **given.notes}
    writing.append(given.kind, given.who, given.row, body, given.key)
    return unknown
