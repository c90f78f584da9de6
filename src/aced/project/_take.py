"""Write answers from elsewhere into a ledger, where no draw asked for them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from aced._errors import InvalidInput
from aced._tables import read_bytes
from aced.ledger import Event, Transaction
from aced.project._classes import listed
from aced.project._project import Project

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

    ``ignored`` annotations were made from predictions, not by people. ``left`` says of each line that
    was left out why it cannot be used.
    """

    taken: int
    known: int
    people: list[str]
    ignored: int = 0
    left: Sequence[str] = ()


class LeftOut:
    """The bad lines of a file. Unless they are to be skipped, the first one is refused."""

    def __init__(self, skip: bool) -> None:
        self._skip = skip
        self._why: dict[int, str] = {}

    @contextmanager
    def line(self, number: int) -> Iterator[None]:
        """Whatever is refused within, the line with this number is left out for it."""
        try:
            yield
        except InvalidInput as error:
            if not self._skip:
                raise
            self._why[number] = " ".join(error.sentence.splitlines())

    def another(self) -> AbstractContextManager[None]:
        """The same for something that has no number."""
        return self.line(len(self._why))

    @property
    def numbers(self) -> list[int]:
        return sorted(self._why)

    @property
    def sentences(self) -> list[str]:
        return [self._why[number] for number in self.numbers]


def take(
    project: Project, found: Mapping[int, Given], left: LeftOut, stamp: str, who: str
) -> tuple[int, list[str]]:
    """Take the answers of a file, by the number of their line; return how many are new, and new people.

    ``stamp`` is the file's hash. A file that was taken before says nothing new, but for lines that were
    left out then.
    """
    people: list[str] = []
    taken = 0
    with project.ledger.writing() as writing:
        earlier = _earlier(project, f"import:{stamp}:{who}")
        still = None if not earlier else set(earlier[-1].body.get("left", []))
        fresh = {n: one for n, one in found.items() if still is None or n in still}
        if earlier and not fresh:
            return 0, []
        key = f"import:{stamp}:{who}" + (f":{len(earlier)}" if earlier else "")
        more = {"left": left.numbers} if left.numbers else {}
        writing.append("imported", who, body={"labels": len(fresh), **more}, key=key)
        for given in fresh.values():
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
    return taken, people


def labels_by_row(
    labels: Sequence[str], rows: Sequence[int], ids: Sequence[str], classes: Sequence[str]
) -> dict[int, str]:
    """The labels that came with the items, one for each item (empty: none), by their row of the pool."""
    found: dict[int, tuple[str, str]] = {}
    for label, row, name in zip(labels, rows, ids, strict=True):
        if not label:
            continue
        if label not in classes:
            raise InvalidInput(
                "label_column",
                f"item {name[:80]!r} has the label {label[:80]!r}, and the classes are "
                f"{listed(classes)}; name it among the classes, or empty the cell",
            )
        before, other = found.setdefault(row, (label, name))
        if before != label:
            raise InvalidInput(
                "label_column",
                f"items {other[:80]!r} and {name[:80]!r} are the same, but have the labels {before!r} "
                f"and {label!r}; repair one of them",
            )
    return {row: label for row, (label, _) in found.items()}


def take_labels(project: Project, labels: Mapping[int, str], path: Path, who: str = UNNAMED) -> int:
    """Take labels of these rows as an import of the file ``path`` would; return how many there are.

    No draw asked for them: a certificate counts their rows as known, and no more; no round draws them.
    """
    names, stamp = project.names, stamp_of(read_bytes(path, "items"))
    found = {
        row: Given(row, who, code=names.index(label), key=answer_key(stamp, row, who))
        for row, label in labels.items()
    }
    return take(project, found, LeftOut(False), stamp, who)[0]


def stamp_of(content: bytes) -> str:
    """What tells a file from all others."""
    return hashlib.sha256(content).hexdigest()[:32]


def answer_key(stamp: str, row: int, who: str) -> str:
    """The key of what somebody says of a row in the file with this hash."""
    return f"import:{stamp}:{hashlib.sha256(f'{row} {who}'.encode()).hexdigest()[:32]}"


def _earlier(project: Project, key: str) -> list[Event]:
    """The events of earlier imports of the same file."""
    found: list[Event] = []
    while (event := project.ledger.find(f"{key}:{len(found)}" if found else key)) is not None:
        found.append(event)
    return found


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
