"""The files of a project beside its ledger: items, features, embedding, memory and more."""

from __future__ import annotations

import json
import os
import random
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from aced import InvalidInput
from aced.project import Project
from tests.fuzz._arrays import bomb, damaged_npy, damaged_npz
from tests.fuzz._commands import command
from tests.fuzz._mutate import as_json, damaged, edited
from tests.fuzz._projects import Good, make, put
from tests.fuzz._runner import REFUSED, TAKEN, Problem

WORKS = ("none", "none", "classify", "refill", "designs", "label_studio")


@dataclass(frozen=True)
class Case:
    """``name`` is the file, ``how`` its damage, ``seed`` its details, ``work`` what follows."""

    name: str
    how: str
    seed: int
    order: tuple[str, ...]
    work: str


class Boundary:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        make(folder / "project").close()
        self.good = Good.of(folder / "project")
        self.names = sorted(name for name in self.good.files if not name.startswith("ledger.sqlite"))
        self.new = folder / "new.csv"
        self.new.write_text("id,text\na,red green\nb,old far\n")

    def case(self, rng: random.Random) -> Case:
        name = rng.choice(self.names)
        fitting = [how for how, ending in ENDINGS.items() if name.endswith(ending)]
        order = ["status", "export", "replay"]
        rng.shuffle(order)
        return Case(name, rng.choice(fitting), rng.randrange(2**32), tuple(order), rng.choice(WORKS))

    def run(self, case: Case) -> str:
        copy = self.folder / "copy"
        put(self.good.files, copy)
        DAMAGES[case.how](random.Random(case.seed), copy / case.name)
        outcome = self.good.compare(copy, list(case.order))
        return self._work(case.work, copy) if outcome == TAKEN else outcome

    def close(self) -> None:
        pass

    def _work(self, what: str, copy: Path) -> str:
        """What needs features, embedding and memory."""
        if what == "classify":
            return command("classify", copy, self.new, "--json").outcome
        if what == "designs":
            return command("replay", copy, "--designs").outcome
        if what == "label_studio":
            return command(
                "export", copy, "--format", "label-studio", "--out", self.folder / "out.json"
            ).outcome
        return _go_on(copy) if what == "refill" else TAKEN


def _go_on(copy: Path) -> str:
    """People go on labelling until a round has to be planned."""
    project = Project(copy)
    try:
        for number in range(8):
            project.refill(threads=1)
            for item in project.give("bob", 1):
                project.answer("bob", item.row, "label", "yes", key=f"more-{number}")
    except InvalidInput as error:
        if "\n" in str(error):
            raise Problem(f"the refusal is not one line: {str(error)!r}") from error
        return REFUSED
    finally:
        project.close()
    return TAKEN


# -- any file -----------------------------------------------------------------------------


def bytes_of_it(rng: random.Random, path: Path) -> None:
    path.write_bytes(damaged(rng, path.read_bytes()))


def removed(rng: random.Random, path: Path) -> None:
    path.unlink()


def replaced(rng: random.Random, path: Path) -> None:
    """A folder, a pipe, a device, a link that leads nowhere or to itself, another file."""
    other = path.with_name(rng.choice(sorted(file.name for file in path.parent.iterdir())))
    content = other.read_bytes()
    path.unlink()
    ways: tuple[Callable[[], object], ...] = (
        path.mkdir,
        lambda: os.mkfifo(path),
        lambda: path.symlink_to("/dev/zero"),
        lambda: path.symlink_to(path),
        lambda: path.symlink_to("nowhere"),
        lambda: path.write_bytes(content),
    )
    rng.choice(ways)()


# -- items --------------------------------------------------------------------------------


def lines_of_it(rng: random.Random, path: Path) -> None:
    lines = path.read_bytes().splitlines(keepends=True)
    place = rng.randrange(len(lines))
    ways: tuple[Callable[[], object], ...] = (
        lines.reverse,
        lambda: rng.shuffle(lines),
        lambda: lines.pop(place),
        lambda: lines.insert(place, lines[0]),
        lambda: lines.append(lines[place]),
        lambda: lines.__delitem__(slice(place, None)),
        lambda: lines.insert(place, b"\n"),
        lambda: lines.append(lines[place].replace(b"item-", b"new-")),
    )
    rng.choice(ways)()
    path.write_bytes(b"".join(lines))


def fields_of_it(rng: random.Random, path: Path) -> None:
    lines = [json.loads(line) for line in path.read_bytes().splitlines()]
    if rng.random() < 0.5:
        place = rng.randrange(len(lines))
        lines[place] = edited(rng, lines[place])
    else:
        one, other = rng.sample(lines, 2)
        name = rng.choice(("id", "content", "row"))
        one[name], other[name] = other[name], one[name]
    path.write_bytes(b"".join(as_json(line) + b"\n" for line in lines))


# -- arrays -------------------------------------------------------------------------------


def array_of_it(rng: random.Random, path: Path) -> None:
    path.write_bytes(damaged_npy(rng, path.read_bytes()))


def parts_of_it(rng: random.Random, path: Path) -> None:
    path.write_bytes(bomb() if rng.random() < 0.02 else damaged_npz(rng, path.read_bytes()))


DAMAGES: dict[str, Callable[[random.Random, Path], None]] = {
    function.__name__: function
    for function in (bytes_of_it, removed, replaced, lines_of_it, fields_of_it, array_of_it, parts_of_it)
}
ENDINGS = dict.fromkeys(DAMAGES, "") | {
    "lines_of_it": ".jsonl",
    "fields_of_it": ".jsonl",
    "array_of_it": ".npy",
    "parts_of_it": ".npz",
}
"""The files that a damage is for, by their ending."""
