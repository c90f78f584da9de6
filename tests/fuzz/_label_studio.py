"""Label Studio: its exports as files, and the requests it sends."""

from __future__ import annotations

import logging
import random
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aced.ledger import replay
from aced.project import Project
from tests.fuzz._asgi import Request, Server
from tests.fuzz._commands import command
from tests.fuzz._http import Errors, judge
from tests.fuzz._mutate import as_json, damaged, edited
from tests.fuzz._projects import make, put
from tests.fuzz._runner import REFUSED, TAKEN, Problem

ACTIONS = (
    "ANNOTATION_CREATED",
    "ANNOTATIONS_CREATED",
    "ANNOTATION_UPDATED",
    "ANNOTATION_DELETED",
    "ANNOTATIONS_DELETED",
    "START_TRAINING",
    "PROJECT_UPDATED",
    "",
    None,
)


@dataclass(frozen=True)
class Case:
    """An export (``where`` is "file"), or the bodies that are sent to a route, one after another."""

    where: str
    contents: tuple[bytes, ...]
    value: Any = None  # what the first body holds, if it is JSON

    def __repr__(self) -> str:
        return f"Case({self.where!r}, {[content[:1200] for content in self.contents]})"


class Boundary:
    def __init__(self, folder: Path) -> None:
        self.folder, self.path = folder, folder / "export.json"
        made = make(folder / "project")
        self.token = made.add_person("ann", "lead")
        made.close()
        self.files = {path.name: path.read_bytes() for path in (folder / "project").iterdir()}
        self.errors = Errors()
        logging.getLogger("aced.web").addHandler(self.errors)

    def case(self, rng: random.Random) -> Case:
        if rng.random() < 0.5:
            value = [_task(rng, number) for number in range(rng.randrange(1, 6))]
            if rng.random() < 0.8:
                value = edited(rng, value)
            content = as_json(value)
            if rng.random() < 0.2:
                return Case("file", (damaged(rng, content),))
            return Case("file", (content,), value)
        where = rng.choice(("webhook", "webhook", "webhook", "predict", "setup"))
        return Case(where, tuple(_body(rng, where) for _ in range(rng.randrange(1, 6))))

    def run(self, case: Case) -> str:
        copy = self.folder / "copy"
        put(self.files, copy)
        outcome = self._import(copy, case) if case.where == "file" else self._send(copy, case)
        problems = replay(copy / "ledger.sqlite").problems
        if problems:
            raise Problem(f"the ledger has problems afterwards: {problems[0]}")
        return outcome

    def close(self) -> None:
        pass

    # -- an export ------------------------------------------------------------------------

    def _import(self, copy: Path, case: Case) -> str:
        self.path.write_bytes(case.contents[0])
        before = _seq(copy)
        said = command("import", copy, self.path)
        after = _seq(copy)
        if said.code:
            if after != before:
                raise Problem("aced import refuses an export, but takes some of it")
            return REFUSED
        if case.value is not None:
            _all_counted(case.value, said.out)
        again = command("import", copy, self.path)
        if again.code or _seq(copy) != after:
            raise Problem(
                f"the same export is taken twice: {said.out!r}, then {again.out + again.err!r}"
            )
        return TAKEN

    # -- requests -------------------------------------------------------------------------

    def _send(self, copy: Path, case: Case) -> str:
        project = Project(copy)
        server = Server(project, tokens_required=True, label_studio=True)
        heads = (
            ("host", "x"),
            ("content-type", "application/json"),
            ("authorization", f"Bearer {self.token}"),
        )
        try:
            codes = []
            for content in case.contents:
                one = Request("POST", f"/label-studio/{case.where}", "", heads, (content,))
                response = server.send(one)
                judge(one, response)
                self.errors.check(f"POST {one.path}")
                codes.append(response.status)
        finally:
            server.close()
            project.close()
        return TAKEN if any(code < 300 for code in codes) else REFUSED


def _seq(folder: Path) -> int:
    project = Project(folder)
    try:
        return project.state.seq
    finally:
        project.close()


def _all_counted(value: Any, out: str) -> None:
    """Every annotation of a file that was taken is taken, known or left out, and said to be so."""
    listed = [value] if isinstance(value, dict) else value
    given = sum(len(task["annotations"]) for task in listed)
    words = out.replace(",", "").split()
    counted = int(words[0]) + int(words[3])
    if " left out: " in out:
        counted += int(out.splitlines()[1].split()[0])
    if counted != given:
        raise Problem(f"silent loss: {given} annotations are given, and the import says {out!r}")


# -- what Label Studio sends --------------------------------------------------------------


def _annotation(rng: random.Random, number: int) -> dict[str, Any]:
    choice = {"choices": [rng.choice(("no", "yes"))]}
    region = {
        "from_name": "label",
        "to_name": "item",
        "type": "choices",
        "value": choice,
        "origin": "manual",
    }
    return {
        "id": number,
        "completed_by": rng.choice((1, {"id": 2, "email": "a@example.org"}, None, {"id": 3})),
        "result": rng.choice(([region], [region], [region], [])),
        "was_cancelled": rng.random() < 0.1,
        "ground_truth": False,
        "created_at": f"2024-05-0{rng.randrange(1, 9)}T10:00:00.000000Z",
        "updated_at": f"2024-05-0{rng.randrange(1, 9)}T10:00:00.000000Z",
        "lead_time": rng.choice((1.5, 0, None, 20)),
        "parent_prediction": rng.choice((None, None, None, 7)),
        "task": number % 7,
    }


def _task(rng: random.Random, number: int) -> dict[str, Any]:
    row = rng.randrange(24)
    listed = [_annotation(rng, 10 * number + i) for i in range(rng.randrange(4))]
    data = {"text": "x", "aced_id": f"item-{row}", "aced_row": row, "draw_probability": 0.5}
    return {"id": number, "data": data, "annotations": listed, "predictions": [], "meta": {}}


def _body(rng: random.Random, where: str) -> bytes:
    task = _task(rng, rng.randrange(7))
    number = rng.randrange(20)
    value: dict[str, Any] = {"tasks": [task], "project": "1", "label_config": "<View/>"}
    if where == "webhook":
        value = {"action": rng.choice(ACTIONS), "annotation": _annotation(rng, number), "task": task}
        if rng.random() < 0.3:
            value = {
                "action": rng.choice(ACTIONS),
                "annotations": [{"id": number}],
                "annotation": [{"id": number}],
            }
    if rng.random() < 0.7:
        value = edited(rng, value)
    content = as_json(value)
    return damaged(rng, content) if rng.random() < 0.15 else content
