"""The suite "field": every strategy and every peer on the tasks of the field.

Each task has one budget and one batch; ``docs/field.md`` lists them and says when they were fixed.
Over the tasks there are batches of 5, 25, 100 and the paper's 250. Where batches are of 25, the first
is of 10. A seed redraws nothing of the data: it seeds the learner, or the peer, alone.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from aced._check import choice, whole
from aced.bench._peers import PEERS
from aced.bench._suites import OURS, Job, check_known
from aced.datasets import DEVELOPMENT, FIELD, HALVES, PREFIX as PREFIX
from aced.strategies import STRATEGIES

SEEDS = 10
REPRESENTATIONS = ("auto", "linear", "rbf")
COMPARED = ("blend", "bait", "strata", "aced", "passive", "margin", "ridge-margin", "badge", "core-set")
"""Our strategies that run unless others are named; any that is no stream may be."""

FEW = (100, 5, None)  # budget, batch, first batch
SOME = (310, 25, 10)
MANY = (600, 100, None)
PAPER = (1500, 250, None)
SCHEDULES = {
    "rings": FEW, "pocket": FEW, "titanic": FEW, "embedded-numpy": FEW, "wild": FEW,
    "docs-numpy": SOME, "docs-python": SOME, "mnist-4-9": SOME, "digits10": SOME, "svhn": SOME,
    "rare": SOME, "flipped": SOME, "xor": SOME,
    "diamonds": MANY, "chile": MANY, "insurance": MANY, "mnist-halves": PAPER,
    "spirals": FEW, "pockets": FEW, "repeated": FEW, "embedded-sklearn": FEW, "catsup": FEW,
    "docs-sklearn": SOME, "docs-scipy": SOME, "cifar": SOME, "wide": SOME, "rare-digit": SOME,
    "flipped-fashion": SOME, "checkerboard": SOME, "computers": SOME,
    "chains": MANY, "movies": MANY, "mnist10": PAPER,
}  # fmt: skip


def field_jobs(
    half: str = DEVELOPMENT,
    tasks: list[str] | None = None,
    strategies: list[str] | None = None,
    seeds: int | None = None,
    representation: str = "auto",
) -> list[Job]:
    """The jobs of one half, task by task.

    ``strategies`` names ours, peers (in all their ways) or a peer in one way: skactiveml-badge/own.
    A peer that brings its own classifier has no ``representation``. With "rbf" a sparse task, which
    cannot be lifted, is left out unless it is named.
    """
    choice("half", half, HALVES)
    choice("representation", representation, REPRESENTATIONS)
    seeds = SEEDS if seeds is None else whole("seeds", seeds, 1)
    mine = [name for name, task in FIELD.items() if task.half == half]
    whole_half = [n for n in mine if not (representation == "rbf" and FIELD[n].stays_sparse)]
    check_known(f"the {half} half of the field", "tasks", tasks, mine)
    ways = {f"{name}/{way}": (name, way) for name, found in PEERS.items() for way in found}
    ours = [name for name in STRATEGIES if _asks_in_batches(name)]
    check_known("field", "strategies", strategies, [*ours, *PEERS, *ways])
    wanted = [*COMPARED, *PEERS] if strategies is None else strategies
    chosen = [(name, OURS) for name in ours if name in wanted]
    chosen += [pair for way, pair in ways.items() if way in wanted or pair[0] in wanted]
    found = []
    for task in whole_half if tasks is None else [name for name in mine if name in tasks]:
        budget, batch, first = SCHEDULES[task.removeprefix(PREFIX)]
        for strategy, classifier in chosen:
            lifted = representation if classifier == OURS else None
            found += [
                Job(task, strategy, seed, budget, batch, None, {}, first, lifted, classifier)
                for seed in range(seeds)
            ]
    return found


def _asks_in_batches(name: str) -> bool:
    """Whether a strategy is no stream and does without the labels of all rows."""
    made = STRATEGIES[name]
    kind: Any = made.func if isinstance(made, partial) else made
    return not (kind.stream or kind.needs_all_labels)
