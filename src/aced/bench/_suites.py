"""The jobs of each suite. Every job gives one record.

The suites "paper" and "full" have the paper's settings. The suite "classes" has two tasks with ten
classes and the default classifier, whose penalty is chosen from the labels. The suite "field" is in
:mod:`aced.bench._field`.

The paper's settings are unpenalised logistic regression, batches of 250, and the C0 grids and
numbers of passes in the tables of its appendix.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from typing import Any

from aced._check import choice, whole
from aced._errors import InvalidInput

# task: (budget, passes of the streams)
PAPER = {"cifar": (6000, 2), "svhn": (7000, 2), "fashion": (11000, 2), "mnist": (12000, 1)}
STREAMED = {"cifar": 7000, "svhn": 9500, "fashion": 11000, "mnist": 18000}
"""Budgets of the streams: where the paper's figures end."""
LAG = 0.005
"""How far an IWAL judgement may lag behind the examples; 0 is the paper's order, and slower."""
SMOKE = {"digits": (400, 1), "breast": (150, 1)}
TEN = {"digits10": (600, 30), "mnist10": (6000, 500)}
"""Tasks with ten classes: budget and batch."""
SEEDED = ("aced", "passive", "margin", "ridge-margin")
COMPARED = ("aced", "margin", "ridge-margin", "entropy", "badge", "core-set", "passive")
"""The strategies that are compared on ten classes."""
HEURISTICS = ("entropy", "least-confidence", "committee", "core-set", "badge", "density")
STREAMS = ("iwal0", "iwal1", "ora-iwal0", "ora-iwal1")
FIXED_C0 = {"oac": 0.03, "oac-vw": 0.03}
OTHER_C0 = 1e-4
"""One C0 for all tasks: what a user could have set without knowing the labels."""

FIELD = "field"
"""The suite whose jobs :mod:`aced.bench._field` has."""
OURS = "ours"
"""The learner's own classifier, whose penalty is ``l2`` or chosen from the labels."""
LATER = {"first": None, "representation": None, "classifier": OURS}
"""Fields that jobs did not always have, with what they were then."""


@dataclass(frozen=True)
class Job:
    """One strategy, with its options, on one task with one seed."""

    task: str
    strategy: str
    seed: int
    budget: int
    batch: int
    l2: float | None  # None: chosen from the labels
    options: dict[str, Any] = field(default_factory=dict)
    first: int | None = None  # the first batch, where it is not like the others
    representation: str | None = None  # of the learner; None: linear
    classifier: str = OURS  # or one that comes with a peer

    def to_json(self) -> dict[str, Any]:
        """The fields, but later ones only where they are set: older jobs keep their keys."""
        found = asdict(self)
        return {k: v for k, v in found.items() if k not in LATER or v != LATER[k]}

    @property
    def key(self) -> str:
        """A hash that is the same whenever and wherever the job is run."""
        return hashlib.sha256(json.dumps(self.to_json(), sort_keys=True).encode()).hexdigest()[:16]

    @property
    def label(self) -> str:
        """The strategy, and what sets it apart from other jobs with the same strategy on the task."""
        c0 = self.options.get("c0")
        if c0 is not None:
            return f"{self.strategy} C0={c0:g}"
        if self.classifier != OURS:
            return f"{self.strategy}/{self.classifier}"
        plain = self.representation in (None, "auto")
        return self.strategy if plain else f"{self.strategy} ({self.representation})"


def grid(strategy: str, task: str) -> list[float]:
    """The C0 values of the appendix; none if the paper did not run the strategy."""
    if strategy == "oac":
        searched = {"svhn": (0.01, 0.03, 0.1, 0.3), "fashion": (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0)}
        return list(searched.get(task, (0.001, 0.003, 0.01, 0.03)))
    if strategy.startswith("ora-"):
        if task == "mnist":
            return []
        low, high = (-8, 0) if task == "fashion" else (-4, -1)
    else:
        low, high = (-8, 0) if task == "fashion" else (-7, 0)
    return [10.0**power for power in range(low, high + 1)]


def jobs(
    suite: str,
    tasks: list[str] | None = None,
    strategies: list[str] | None = None,
    seeds: int | None = None,
) -> list[Job]:
    """The jobs of a suite, cheap tasks first; ``tasks`` and ``strategies`` select some of them.

    The suite "field" has jobs of its own: :func:`aced.bench.field_jobs`.
    """
    builders = {"smoke": _smoke, "paper": _paper, "full": _full, "classes": _classes}
    choice("suite", suite, [*builders, FIELD])
    if seeds is not None:
        whole("seeds", seeds, 1)
    if suite == FIELD:
        raise InvalidInput("suite", "field has jobs of its own; call field_jobs")
    every = builders[suite](seeds)
    kept = every
    for name, field_name, wanted in (("tasks", "task", tasks), ("strategies", "strategy", strategies)):
        known = dict.fromkeys(sorted({getattr(job, field_name) for job in every}))
        check_known(suite, name, wanted, known)
        kept = [job for job in kept if wanted is None or getattr(job, field_name) in wanted]
    return kept


def check_known(suite: str, argument: str, wanted: list[str] | None, known: Iterable[str]) -> None:
    """Refuse a name that the suite does not have."""
    if unknown := sorted(set(wanted or []) - set(known)):
        raise InvalidInput(argument, f"{suite} has no {unknown[0]!r}; it has {', '.join(known)}")


def _smoke(seeds: int | None) -> list[Job]:
    found = []
    for task, (budget, passes) in SMOKE.items():
        batch = max(10, budget // 16)
        for strategy in (*SEEDED, "aced-paper", *HEURISTICS):
            found += [Job(task, strategy, seed, budget, batch, 1.0) for seed in range(seeds or 3)]
        for strategy in (*STREAMS, "oac", "cal"):
            for c0 in {"cal": (None,), "oac": (0.03, 0.1)}.get(strategy, (1e-4, 1e-2)):
                options = {"passes": passes, **({} if c0 is None else {"c0": c0})}
                found.append(Job(task, strategy, 0, budget, batch, 1.0, options))
    return found


def _paper(seeds: int | None) -> list[Job]:
    found = []
    for task, (budget, passes) in PAPER.items():
        for strategy in SEEDED:
            found += [Job(task, strategy, seed, budget, 250, 0.0) for seed in range(seeds or 3)]
        found += _covers(task, "oac")
        for strategy in STREAMS:
            for c0 in grid(strategy, task):
                options = {"passes": passes, "c0": c0, "lag": LAG}
                found.append(Job(task, strategy, 0, STREAMED[task], 250, 0.0, options))
    return found


def _covers(task: str, strategy: str) -> list[Job]:
    shared = {"passes": 5 if task == "mnist" else 10, "rate": 0.5 if task == "cifar" else 1.0}
    return [
        Job(task, strategy, 0, STREAMED[task], 250, 0.0, {**shared, "c0": c0})
        for c0 in grid("oac", task)
    ]


def _full(seeds: int | None) -> list[Job]:
    found = _paper(seeds)
    for task, (budget, passes) in PAPER.items():
        for strategy in ("aced-paper", *HEURISTICS):
            found += [Job(task, strategy, seed, budget, 250, 0.0) for seed in range(seeds or 3)]
        found.append(Job(task, "cal", 0, STREAMED[task], 250, 0.0, {"passes": passes}))
        found += _covers(task, "oac-vw")
    return found


def _classes(seeds: int | None) -> list[Job]:
    return [
        Job(task, strategy, seed, budget, batch, None)
        for task, (budget, batch) in TEN.items()
        for strategy in COMPARED
        for seed in range(seeds or 5)
    ]
