"""Files of saved learners."""

from __future__ import annotations

import random
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from aced import InvalidInput, Learner, Pool
from tests.fuzz._arrays import bomb, damaged_npz
from tests.fuzz._mutate import damaged
from tests.fuzz._runner import REFUSED, TAKEN, Problem

STRATEGIES = ("aced", "passive", "margin", "core-set", "iwal1")
LABELS = (("no", "yes"), (0, 1), (False, True), (-1, 1))


@dataclass(frozen=True)
class Case:
    """The saved learner to damage, how, and the bytes that this gives."""

    which: int
    how: str
    content: bytes

    def __repr__(self) -> str:
        return f"Case({STRATEGIES[self.which]!r}, {self.how!r}, {len(self.content)} bytes)"


class Boundary:
    def __init__(self, folder: Path) -> None:
        rng = np.random.default_rng(0)
        rows = rng.normal(size=(60, 3))
        self.pool, self.path = Pool(rows), folder / "learner.npz"
        self.saved, self.known = [], []
        for place, name in enumerate(STRATEGIES):
            truth = np.array(LABELS[place % len(LABELS)])[(rows[:, 0] > 0).astype(int)]
            learner = Learner(self.pool, strategy=name, batch_size=10, budget=40, threads=1)
            for _ in range(2):
                asked = learner.ask()
                learner.tell(asked.ids, truth[asked.ids])
            learner.ask(3)
            learner.exclude([59])
            learner.save(self.path)
            self.saved.append(self.path.read_bytes())
            self.known.append(_known(learner))

    def case(self, rng: random.Random) -> Case:
        which = rng.randrange(len(STRATEGIES))
        how = rng.choices(("bytes", "parts", "bomb"), (40, 60, 1))[0]
        good = self.saved[which]
        made = {"bytes": damaged, "parts": damaged_npz, "bomb": lambda *_: bomb()}
        return Case(which, how, made[how](rng, good))

    def run(self, case: Case) -> str:
        self.path.write_bytes(case.content)
        try:
            learner = Learner.load(self.path, self.pool, threads=1)
            if case.how == "bytes" and _known(learner) != self.known[case.which]:
                raise Problem("silent loss: a damaged file is read, and its labels are others")
            _use(learner, self.path)
        except InvalidInput as error:
            return _one_line(error)
        return TAKEN

    def close(self) -> None:
        pass


def _known(learner: Learner) -> list[Any]:
    return [part.tolist() for part in learner.labelled()]


def _use(learner: Learner, path: Path) -> None:
    """All that one does with a learner once."""
    repr(learner)
    learner.labelled()
    asked = learner.ask(2)
    if len(learner.classes) == 2:
        learner.tell(asked.ids, [learner.classes[0]] * len(asked.ids))
        if learner.classifier is not None:
            learner.classifier.predict(learner.pool.rows()[:2])
    learner.release(learner.pending)
    learner.save(path)


def _one_line(error: InvalidInput) -> str:
    if "\n" in str(error) or not str(error).strip():
        raise Problem(f"the refusal is not one sentence: {str(error)!r}")
    return REFUSED
