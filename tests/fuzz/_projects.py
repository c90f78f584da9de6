"""A good project as bytes, and what its commands say of it."""

from __future__ import annotations

import json
import random
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aced.project import Project, add_class, merge_class, rename_class, undo_change
from tests.fuzz._commands import Said, command
from tests.fuzz._runner import REFUSED, TAKEN, Problem

WORDS = ("red", "green", "blue", "sour", "sweet", "old", "new", "far", "near", "loud")
CLASSES = "no,yes"
Files = dict[str, bytes]


def texts(count: int = 24) -> list[str]:
    rng = random.Random(0)
    return [" ".join(rng.choices(WORDS, k=6)) + f" {i}" for i in range(count)]


def make(folder: Path) -> Project:
    """A project with two rounds, two people, and answers of every kind."""
    source = folder.with_suffix(".csv")
    lines = [f"item-{i},{text}" for i, text in enumerate([*texts(), texts()[0]])]
    source.write_text("id,text\n" + "\n".join(lines) + "\n")
    said = command("init", folder, "--items", source, "--classes", CLASSES, "--batch", "6")
    assert said.code == 0, said
    project = Project(folder)
    for name in ("ann", "bob"):
        project.add_person(name, "lead" if name == "ann" else "annotator")
    for number in range(14):
        project.refill(threads=1)
        _answer(project, ("ann", "bob")[number % 2], number)
    project.undo("ann", key="undo-1")
    project.add_person("eve")
    project.revoke("eve")
    _change_classes(project)
    return project


def _change_classes(project: Project) -> None:
    """A class is added, renamed, gets a label and is merged; another is added and taken back."""
    ledger = project.ledger
    add_class(ledger, "ann", "so-so")
    rename_class(ledger, "ann", "so-so", "maybe")
    row = next(iter(project.state.votes))
    with ledger.writing() as writing:
        writing.append("label", "bob", row, {"label": 2, "seconds": 1.0, "source": "page"})
    merge_class(ledger, "ann", "maybe", "yes")
    add_class(ledger, "ann", "never")
    undo_change(ledger, "ann")


def _answer(project: Project, who: str, number: int) -> None:
    for item in project.give(who, 1):
        kind = {3: "skip", 5: "skip", 8: "unsure"}.get(number, "label")
        label = ("no", "yes")[item.row % 2] if kind == "label" else None
        event, _ = project.answer(who, item.row, kind, label, seconds=1.5, key=f"key-{number}")
        if number == 3:
            project.put_back("ann", event.seq, key="back-1")


@dataclass(frozen=True)
class Good:
    """The files of a sound project, and what its commands say of it."""

    files: Files
    status: Any
    labels: bytes
    digest: Any

    @classmethod
    def of(cls, folder: Path) -> Good:
        files = {path.name: path.read_bytes() for path in folder.iterdir()}
        files.pop("ledger.sqlite-shm", None)  # gone after a kill of the machine; rebuilt when missing
        copy = folder.with_name("good")
        put(files, copy)
        status, labels, digest = (look(copy)[name] for name in ("status", "export", "replay"))
        shutil.rmtree(copy)
        return cls(files, status, labels, digest)

    def compare(self, folder: Path, order: list[str]) -> str:
        """What the commands say of a damaged copy. What they say with exit code 0 must be as before."""
        before = {"status": self.status, "export": self.labels, "replay": self.digest}
        found = look(folder, order)
        for name in order:
            if name in found and found[name] != before[name]:
                differs = _difference(before[name], found[name])
                raise Problem(f"silent loss: aced {name} ends with exit code 0, but {differs}")
        return TAKEN if len(found) == len(order) else REFUSED


def put(files: Files, folder: Path) -> None:
    """Write the files to a folder, which is made anew."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    for name, content in files.items():
        (folder / name).write_bytes(content)


def look(folder: Path, order: list[str] | None = None) -> dict[str, Any]:
    """What status, export and replay say of a folder; without those that refuse it."""
    out = folder.with_suffix(".jsonl")
    calls = {
        "status": ("status", folder, "--json"),
        "export": ("export", folder, "--out", out),
        "replay": ("replay", folder, "--json"),
    }
    found = {}
    for name in order or calls:
        said = command(*calls[name])
        if said.code == 0:
            found[name] = out.read_bytes() if name == "export" else _record(name, said)
    return found


def _record(name: str, said: Said) -> Any:
    record = json.loads(said.out)
    return record["digest"] if name == "replay" else record


def _difference(before: Any, found: Any) -> str:
    if isinstance(before, bytes):
        lost = len(set(before.splitlines()) - set(found.splitlines()))
        return f"{lost} of {len(before.splitlines())} lines are lost or changed"
    if isinstance(before, dict):
        differing = [key for key in before if before[key] != found.get(key)]
        return f"{differing} differ"
    return "the digest of the state differs"
