"""How many seconds a round will take, measured on this machine with a few blocks of its shape."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse

from aced._types import Array, Float64, Rng
from aced._workers import Blocks as AnyBlocks, Kernel, Workers
from aced.cost._cost import Cost
from aced.cost._work import Pass
from aced.design import (
    Design,
    Dinkelbach,
    Problem,
    Report,
    certify,
    draw,
    draw_noise,
    sensitivity_of,
    waterfill,
)
from aced.pool import BLOCK_ROWS, SPARSE_BLOCK_ROWS, Blocks, Pool, Sparse
from aced.representations import Choice, Representations, components

SAMPLE_OPERATIONS = 6e9
"""The rows that are measured take about this many operations: less than a second."""
SAMPLE_BYTES = 2**28
"""The rows that are measured need no more memory than this, beyond a block for each thread."""
LABELS = 250
"""How many rows have a label while a round is measured."""
DRAWN = 2**17
"""How many rows a batch is drawn from when the draw is timed."""


Ask = Callable[[Pool, Workers, Cost, "Measuring", int], float]
"""Asks for a round over a pool with this many labels; returns when, by the clock, it began."""


@dataclass(frozen=True)
class Speed:
    """The seconds that each part of a round takes on this machine."""

    row: dict[tuple[str, int], float]  # for a row, by kernel and number of separators
    once: float  # for the rest of finding the incumbent
    step: float  # for the rest of a step of the design: solving with H, most of all
    normal: float  # for drawing a number
    drawn: float  # for a row when the batch is drawn

    def of(self, one: Pass) -> float:
        """The seconds of a pass: all its rows, as often as it is made."""
        return one.times * one.rows * self.row[one.kernel, one.draws]

    def redrawing(self, cost: Cost) -> float:
        """The seconds for drawing noise again where it is not kept."""
        return cost.redrawn * self.normal

    def rest(self, cost: Cost) -> float:
        """The seconds of everything that is not a pass over rows."""
        steps = cost.solver.rounds * (2 if cost.sampled else 1)
        return self.once + steps * self.step + cost.rows * self.drawn

    def total(self, cost: Cost) -> float:
        """The seconds of a round. Workers share the rows; what they send each other is left out."""
        passes = sum(self.of(one) for one in cost.passes) + self.redrawing(cost)
        return passes / cost.workers + self.rest(cost)


class Timed(Workers):
    """Threads that note how often each kernel is called and how long it takes."""

    def __init__(self, threads: int) -> None:
        super().__init__(threads)
        self.taken: defaultdict[str, float] = defaultdict(float)
        self.calls: defaultdict[str, int] = defaultdict(int)

    def fold(self, kernel: Kernel, data: AnyBlocks, *args: Any) -> tuple[Float64, ...]:
        began = time.perf_counter()
        found = super().fold(kernel, data, *args)
        self._note(kernel, began)
        return found

    def each(self, kernel: Kernel, data: AnyBlocks, *args: Any) -> tuple[Array, ...]:
        began = time.perf_counter()
        found = super().each(kernel, data, *args)
        self._note(kernel, began)
        return found

    def _note(self, kernel: Kernel, began: float) -> None:
        self.taken[kernel.__name__] += time.perf_counter() - began
        self.calls[kernel.__name__] += 1

    def take(self) -> tuple[dict[str, float], float]:
        """Seconds of one call of each kernel, and of all calls, since this was last asked."""
        mean = {name: taken / self.calls[name] for name, taken in self.taken.items()}
        total = sum(self.taken.values())
        self.taken.clear()
        self.calls.clear()
        return mean, total


def miniature(cost: Cost) -> Cost:
    """A round of the same shape over a few blocks of rows in their representation.

    There is one step of the design, with one search.
    """
    size = SPARSE_BLOCK_ROWS if cost.sparse else BLOCK_ROWS
    few = replace(cost.over(cost.rows), search=Dinkelbach(steps=1, scales=(), far=()), workers=1)
    few = replace(few, solver=replace(cost.solver, rounds=1))
    per_row = sum(one.times * one.operations for one in few.passes) / cost.rows
    per_block = max(1, few.row_bytes * size // cost.rows)
    blocks = min(SAMPLE_OPERATIONS / (per_row * size), SAMPLE_BYTES / per_block, 64 * cost.threads)
    return _cut(few, size * max(cost.threads, round(blocks)))


def _cut(cost: Cost, rows: int) -> Cost:
    """The same round with fewer rows; sparse rows stay sparse."""
    rows = min(cost.rows, rows)
    return replace(cost, rows=rows, stored=max(1, cost.stored * rows // cost.rows), design_rows=rows)


class Measuring:
    """A solver that makes one step of the design, and notes when it began and how long it took."""

    def __init__(self, cost: Cost) -> None:
        self.cost = cost
        self.began, self.step, self.normal = 0.0, 0.0, 0.0
        self.before: dict[str, float] = {}
        self.during: dict[str, float] = {}
        self.in_before = self.in_step = 0.0

    def solve(
        self, problem: Problem, rng: Rng, start: Float64 | None = None, report: Report | None = None
    ) -> Design:
        self.began, workers = time.perf_counter(), problem.oracle.workers
        if isinstance(workers, Timed):
            self.before, self.in_before = workers.take()
        noise = draw_noise(problem, self.cost.draws, rng)
        began = time.perf_counter()
        workers.map(noise.block, problem.oracle.pool.blocks)
        self.normal = (time.perf_counter() - began) / (problem.n * self.cost.columns)
        began = time.perf_counter()
        lam = problem.uniform()
        found = self.cost.search(problem, lam, noise)
        certificate = certify(lam, found.value, found.stderr, sensitivity_of(problem, found))
        self.step = time.perf_counter() - began
        if isinstance(workers, Timed):
            self.during, self.in_step = workers.take()
        return Design(lam, certificate, problem.incumbent, (certificate,), found.calls, "measured")


def measured(cost: Cost, ask: Ask) -> Speed:
    """Measure every kernel of a round on random rows of that shape; ``ask`` asks for a round."""
    rng = np.random.default_rng(0)
    small = miniature(cost)
    few = min(16, small.features)
    tiny = replace(_cut(small, 64), features=few, design_features=few, stored=64)
    ask(_random(tiny, rng), Workers(1), tiny, Measuring(tiny), LABELS)  # so that all is compiled
    pool, solver = _random(small, rng), Measuring(small)
    began = ask(pool, Timed(cost.threads), small, solver, LABELS)
    row = {(name, 1): seconds / len(pool) for name, seconds in (solver.during | solver.before).items()}
    row |= {(name, cost.draws): seconds / len(pool) for name, seconds in solver.during.items()}
    of_step = cost.over(cost.design_rows).solving_in_step / small.solving_in_step
    choosing, row["lift_block", 1] = _seconds_of_lift(cost, rng) if cost.landmarks else (0.0, 0.0)
    return Speed(
        row=row,
        once=solver.began - began - solver.in_before + choosing,
        step=(solver.step - solver.in_step) * of_step,
        normal=solver.normal,
        drawn=_seconds_of_draw(min(cost.rows, DRAWN), rng),
    )


def _random(small: Cost, rng: Rng) -> Pool:
    n, p = small.rows, small.features
    if not small.sparse:
        return Pool(rng.standard_normal((n, p), dtype=np.float32))
    each = max(1, round(small.stored / n))
    values = rng.random(n * each, dtype=np.float32)
    columns = (p * rng.random(n * each) ** 3).astype(np.int64)  # few columns are common, like words
    places = np.arange(0, n * each + 1, each)
    pool = Pool(np.zeros((n, 1), np.float32))
    pool.data = Blocks(Sparse(scipy.sparse.csr_matrix((values, columns, places), shape=(n, p))))
    return pool  # it stays sparse even if it is small


def _seconds_of_lift(cost: Cost, rng: Rng) -> tuple[float, float]:
    """The seconds for the choice of a representation with the landmarks, and for lifting one row."""
    rows = min(cost.rows, max(cost.landmarks, cost.threads * BLOCK_ROWS))
    pool, workers = (
        Pool(rng.standard_normal((rows, cost.features), dtype=np.float32)),
        Timed(cost.threads),
    )
    representations = Representations(pool, workers)
    known = rng.permutation(rows)[:LABELS]
    began = time.perf_counter()
    representations.choose(None, known, np.arange(len(known)) % cost.classes)
    representations.pool_of(Choice("rbf"))
    taken = time.perf_counter() - began
    mean, total = workers.take()
    here = replace(cost, rows=rows, landmarks=components(rows))
    return taken - total, mean["lift_block"] * cost.lifting / here.lifting / cost.rows


def _seconds_of_draw(rows: int, rng: Rng) -> float:
    """The seconds for one row when a batch is drawn from ``rows`` rows."""
    lam = rng.random(rows)
    lam /= lam.sum()
    began = time.perf_counter()
    draw([waterfill(lam), lam], np.ones(rows, bool), min(LABELS, rows), rng)
    return (time.perf_counter() - began) / rows
