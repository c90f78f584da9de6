"""Take the answers that people gave in Label Studio.

The id of an annotation makes the key of its answer: the first version has the key
``label-studio:ID:0``, the next version with another answer ``label-studio:ID:1``, and so on.
Reading the same export twice therefore changes nothing, and an older export does not
take back the answers of a newer one.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from aced._errors import InvalidInput
from aced._tables import read_bytes
from aced.adapters.label_studio._tasks import LABEL
from aced.ledger import Event, State, Transaction
from aced.project import (
    Given,
    Imported,
    LeftOut,
    Project,
    as_seconds,
    check_name,
    counted_as,
    from_prediction,
    made_by_machine,
    row_finder,
    write_answer,
)

SOURCE = "label-studio"


@dataclass(frozen=True)
class Annotation:
    """One person's answer to one task. Sorting by ``made`` sorts by time."""

    id: str
    made: str
    given: Given
    place: str


def load_export(path: str | os.PathLike[str]) -> Any:
    """The JSON value in a file."""
    content = read_bytes(Path(path), "file")
    try:
        return json.loads(content.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise InvalidInput("file", f"{path} is not JSON; export from Label Studio as JSON") from error


def read_export(
    project: Project, export: Any, *, who: str | None = None, skip_bad: bool = False
) -> Imported:
    """Take the annotations of Label Studio's JSON export, all of them or none.

    ``skip_bad`` leaves out tasks and annotations that cannot be used, which are else refused.

    A cancelled annotation is a skip, an empty one is an "unsure". Ground truth counts like any other
    annotation. An annotation that Label Studio made from a prediction, without a person, is ignored: it
    is our own guess. ``who`` is the annotator of annotations that name none.
    """
    listed = [export] if isinstance(export, dict) else export
    if not isinstance(listed, list) or not all(isinstance(task, dict) for task in listed):
        raise InvalidInput("file", "must be a list of tasks; export from Label Studio as JSON")
    where, left = row_finder(project), LeftOut(skip_bad)
    read: list[Annotation] = []
    ignored = 0
    with project.ledger.reading() as state:
        known = frozenset(state.people)
        for number, task in enumerate(listed, 1):
            row, place = -1, ""
            annotations: list[Any] = []  # of a task that is left out: none
            with left.another():
                row, annotations, place = _task(task, number, where)
            for one in annotations:
                with left.another():
                    annotation = _annotation(state, one, row, place, known, who or SOURCE)
                    read += [] if annotation is None else [annotation]
                    ignored += annotation is None
    found = _without_contradictions(read, left)
    found.sort(key=lambda annotation: annotation.made)
    people: list[str] = []
    taken = 0
    with project.ledger.writing() as writing:
        for annotation in found:
            given = None
            with left.another():
                given = _news(project, writing.state, annotation)
            if given is None:
                continue
            if write_answer(writing, given, SOURCE):
                people.append(given.who)
            taken += 1
    return Imported(taken, len(found) - taken, people, ignored, left.sentences)


def _without_contradictions(read: Sequence[Annotation], left: LeftOut) -> list[Annotation]:
    """Those that are not two answers of one time with one id: each import would take both again."""
    seen: dict[tuple[str, str], list[Annotation]] = {}
    for one in read:
        seen.setdefault((one.id, one.made), []).append(one)
    found: list[Annotation] = []
    for same in seen.values():
        said = {(one.given.row, one.given.kind, one.given.code) for one in same}
        if len(said) == 1:
            found += same
            continue
        with left.another():
            sentence = "stands there twice, with other answers of the same time; remove one"
            raise InvalidInput("file", f"{same[-1].place} {sentence}")
    return found


def delete(project: Project, ids: Iterable[Any]) -> int:
    """Take back the answers of deleted annotations, unless their author gave another answer since."""
    undone = 0
    with project.ledger.writing() as writing:
        for name in ids:
            for event in reversed(_versions(project, annotation_id(name, "the request"))):
                if _is_last(writing, event):
                    body = {"of": event.seq, "source": SOURCE}
                    writing.append("undo", event.who, event.row, body)
                    undone += 1
    return undone


def _is_last(writing: Transaction, event: Event) -> bool:
    """Whether the event is this person's last answer about this row that was not undone."""
    state = writing.state
    standing = (
        seq
        for seq, (_, row, who) in state.given.items()
        if seq >= event.seq and row == event.row and who == event.who and seq not in state.undone
    )
    return max(standing, default=-1) == event.seq


def _versions(project: Project, annotation: str) -> list[Event]:
    found: list[Event] = []
    while (event := project.ledger.find(f"{SOURCE}:{annotation}:{len(found)}")) is not None:
        found.append(event)
    return found


def _news(project: Project, state: State, annotation: Annotation) -> Given | None:
    """The answer to write; None if the annotation says nothing new."""
    given, versions = annotation.given, _versions(project, annotation.id)
    if versions:
        last = versions[-1]
        if last.row != given.row:
            sentence = "was another item's before; a project takes annotations of one Label Studio"
            raise InvalidInput("file", f"{annotation.place} {sentence}")
        said = last.body.get("label")
        counts_as = None if said is None else state.stands[said]
        same = last.kind == given.kind and counts_as == given.code
        if same or annotation.made < last.body.get("made", ""):
            return None
        given = replace(given, who=last.who)
    key = f"{SOURCE}:{annotation.id}:{len(versions)}"
    return replace(given, key=key, notes={**given.notes, "made": annotation.made})


def _task(
    task: dict[str, Any], position: int, where: Callable[[str], int | None]
) -> tuple[int, list[Any], str]:
    """The row of a task, its annotations, and where it stands."""
    place = f"task {_quoted(task.get('id', position))}"
    listed, data = task.get("annotations"), task.get("data")
    if not isinstance(listed, list) or not isinstance(data, dict):
        raise InvalidInput("file", f"{place} has no data or annotations; export as JSON, not JSON-MIN")
    row = row_of(data, where)
    if row is None or data.get("aced_row", row) != row:
        raise InvalidInput(
            "file",
            f"{place} is not an item of this project (aced_id {str(data.get('aced_id'))[:80]!r}); "
            "remove it, or import into the project it was drawn from",
        )
    return row, listed, place


def _annotation(
    state: State, one: Any, row: int, place: str, known: frozenset[str], default: str
) -> Annotation | None:
    """An annotation of a task; None for one that no person made."""
    if not isinstance(one, dict):
        raise InvalidInput("file", f"{place} has an annotation that is no object; export as JSON")
    number = annotation_id(one.get("id"), place)
    spot = f"{place}, annotation {number}"
    if made_by_machine(one, spot):
        return None
    kind, code = _answer(state, one, spot)
    marks = {"ground_truth": one.get("ground_truth"), "from_prediction": from_prediction(one)}
    given = Given(
        row=row,
        who=_author(one.get("completed_by"), known, default, spot),
        kind=kind,
        code=code,
        seconds=as_seconds(one.get("lead_time"), f"{spot}: lead_time"),
        notes={name: True for name, holds in marks.items() if holds},
    )
    return Annotation(number, _time(one), given, spot)


def row_of(data: Any, where: Callable[[str], int | None]) -> int | None:
    """The row that a task's data name; None if it is no row of this project."""
    name = data.get("aced_id") if isinstance(data, dict) else None
    return where(name) if isinstance(name, str) else None


def annotation_id(value: Any, place: str) -> str:
    """The id as text. Exports have numbers; Label Studio's documentation has texts."""
    name = str(value) if isinstance(value, int | str) else ""
    if not (0 < len(name) <= 64 and name.isprintable()):
        raise InvalidInput(
            "file", f"{place}: the id of an annotation must be a number, got {_quoted(value)}"
        )
    return name


def _quoted(value: Any) -> str:
    return str(value) if isinstance(value, int) else ascii(value)[:80]


def _answer(state: State, one: dict[str, Any], place: str) -> tuple[str, int | None]:
    if one.get("was_cancelled"):
        return "skip", None
    regions = one.get("result") or []
    if not isinstance(regions, list) or not all(isinstance(region, dict) for region in regions):
        raise InvalidInput("file", f"{place}: result must be a list of objects; export as JSON")
    picked = [region for region in regions if region.get("type") == "choices"]
    ours = [region for region in picked if region.get("from_name") == LABEL] or picked
    choices: list[str] = []
    for region in ours:
        value = region.get("value")
        said = value.get("choices") if isinstance(value, dict) else None
        choices += [str(name) for name in said] if isinstance(said, list) else []
    if not choices:
        return "unsure", None
    if len(set(choices)) > 1:
        raise InvalidInput("file", f"{place} chooses {_quoted(choices[:4])}; let it choose one")
    return "label", counted_as(state, choices, place)


def _author(person: Any, known: frozenset[str], default: str, place: str) -> str:
    """The e-mail address if there is one, else "label-studio NUMBER". A name used before is kept."""
    if isinstance(person, dict):
        number, mail = person.get("id"), person.get("email")
        name = f"{SOURCE} {number}"
        if isinstance(mail, str) and mail.strip() and name not in known:
            name = mail.strip()
        elif number is None:
            name = default
    else:
        name = default if person is None else f"{SOURCE} {person}"
    try:
        check_name(name)
    except InvalidInput as error:
        raise InvalidInput("file", f"{place}: completed_by: {error}") from error
    return name


def _time(one: dict[str, Any]) -> str:
    """When the annotation was last changed, in UTC and sortable; empty if unknown."""
    said = str(one.get("updated_at") or one.get("created_at") or "")
    try:
        moment = datetime.fromisoformat(said.replace("Z", "+00:00"))
        moment = moment if moment.tzinfo else moment.replace(tzinfo=timezone.utc)
        return moment.astimezone(timezone.utc).isoformat(timespec="microseconds")
    except (ValueError, OverflowError):
        return ""
