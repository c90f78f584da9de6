"""Seconds that a round will take, from a few blocks of its shape on this machine."""

from __future__ import annotations

import time
from collections import defaultdict
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse

from aced._types import Array, Float64
from aced._workers import Blocks as AnyBlocks
from aced._workers import Kernel, Workers
from aced.design import Dinkelbach, Incumbent, Problem, draw_noise, waterfill
from aced.design.cost import Cost, Pass
from aced.design.fixed_point import sensitivity_of
from aced.estimators import assisted
from aced.oracles import LinearOracle
from aced.pool import BLOCK_ROWS, Blocks, Pool
from aced.pool._sparse import SPARSE_BLOCK_ROWS, Sparse
from aced.strategies._draw import draw

SAMPLE_OPERATIONS = 6e9
"""As many rows are measured as make about so many operations: less than a second's worth."""
SAMPLE_BYTES = 2**28
"""They need no more memory than this, beyond a block for each thread."""
LABELS = 250
DRAWN = 2**17
"""Rows from which a batch is drawn to time that."""


@dataclass(frozen=True)
class Speed:
    """Seconds on this machine, with the threads of a plan."""

    row: dict[tuple[str, int], float]  # by kernel and separators at once: for a row
    once: float  # for the rest of finding the incumbent
    step: float  # for the rest of a step of the design: solving with H, most of all
    normal: float  # for drawing a number
    drawn: float  # for a row when the batch is drawn

    def of(self, one: Pass) -> float:
        """All times of a pass, with all its rows."""
        return one.times * one.rows * self.row[one.kernel, one.draws]

    def redrawing(self, cost: Cost) -> float:
        """Noise beyond what is kept."""
        return cost.redrawn * self.normal

    def rest(self, cost: Cost) -> float:
        """Everything that is not a pass over rows."""
        steps = cost.solver.rounds * (2 if cost.sampled else 1)
        return self.once + steps * self.step + cost.rows * self.drawn

    def total(self, cost: Cost) -> float:
        """A round. Workers share the rows; what they send each other is left out."""
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
        """Seconds of one call of each kernel since the last time, and of all of them together."""
        mean = {name: taken / self.calls[name] for name, taken in self.taken.items()}
        total = sum(self.taken.values())
        self.taken.clear()
        self.calls.clear()
        return mean, total


def miniature(cost: Cost) -> Cost:
    """A round of the same shape over a few blocks, in which everything happens once."""
    size = SPARSE_BLOCK_ROWS if cost.sparse else BLOCK_ROWS
    few = replace(cost, search=Dinkelbach(steps=1, scales=(), far=()), oracle_steps=1, workers=1)
    few = replace(few, solver=replace(cost.solver, rounds=1), design_rows=cost.rows)
    per_row = sum(one.times * one.operations for one in few.passes) / cost.rows
    per_block = max(1, cost.row_bytes * size // cost.rows)
    blocks = min(SAMPLE_OPERATIONS / (per_row * size), SAMPLE_BYTES / per_block, 64 * cost.threads)
    return _cut(few, size * max(cost.threads, round(blocks)))


def _cut(cost: Cost, rows: int) -> Cost:
    """The same with fewer rows; sparse ones stay sparse."""
    rows = min(cost.rows, rows)
    return replace(cost, rows=rows, stored=max(1, cost.stored * rows // cost.rows), design_rows=rows)


def measured(cost: Cost) -> Speed:
    """Every kernel of a round, on random rows of that shape."""
    rng = np.random.default_rng(0)
    small = miniature(cost)
    tiny = replace(_cut(small, 64), features=min(16, cost.features), stored=64)
    _step(_problem(tiny, _random(tiny, rng), Workers(1), rng), tiny)  # compiles what is compiled
    pool, workers = _random(small, rng), Timed(cost.threads)
    with workers.session():
        began = time.perf_counter()
        problem = _problem(small, pool, workers, rng)
        once = time.perf_counter() - began
        first, in_first = workers.take()
        step = _step(problem, small)
        each, in_each = workers.take()
        began = time.perf_counter()
        workers.map(draw_noise(problem, cost.draws, rng).block, pool.blocks)
        normal = (time.perf_counter() - began) / (len(pool) * cost.draws)
    row = {(name, 1): seconds / len(pool) for name, seconds in (each | first).items()}
    row |= {(name, cost.draws): seconds / len(pool) for name, seconds in each.items()}
    of_step = cost.over(cost.design_rows).solving_in_step / small.solving_in_step
    return Speed(
        row=row,
        once=once - in_first,
        step=(step - in_each) * of_step,
        normal=normal,
        drawn=_seconds_of_draw(min(cost.rows, DRAWN), rng),
    )


def _random(small: Cost, rng: np.random.Generator) -> Pool:
    n, p = small.rows, small.features
    if not small.sparse:
        return Pool(rng.standard_normal((n, p), dtype=np.float32))
    each = max(1, round(small.stored / n))
    values = rng.random(n * each, dtype=np.float32)
    columns = (p * rng.random(n * each) ** 3).astype(np.int64)  # few are common, as words are
    places = np.arange(0, n * each + 1, each)
    pool = Pool(np.zeros((n, 1), np.float32))
    pool.data = Blocks(Sparse(scipy.sparse.csr_matrix((values, columns, places), shape=(n, p))))
    return pool  # sparse however small it is


def _problem(small: Cost, pool: Pool, workers: Workers, rng: np.random.Generator) -> Problem:
    """A round in which some rows have labels."""
    known = rng.choice(small.rows, max(1, min(LABELS, small.rows // 2)), replace=False)
    oracle = LinearOracle(pool, steps=small.oracle_steps, workers=workers)
    mu, regression = assisted(pool, workers, known, np.arange(len(known)) % 2)
    best = Incumbent.of(oracle, oracle.from_array(regression), mu)
    labelled = np.isin(np.arange(small.rows), known)
    return Problem(oracle, mu, 1.0, best, settled=True, labelled=labelled)


def _step(problem: Problem, small: Cost) -> float:
    """Seconds of one step of the design, its noise drawn before."""
    noise = draw_noise(problem, small.draws, np.random.default_rng(0))
    problem.oracle.workers.map(noise.block, problem.oracle.pool.blocks)
    began = time.perf_counter()
    found = small.search(problem, problem.uniform(), noise)
    sensitivity_of(problem, found)
    return time.perf_counter() - began


def _seconds_of_draw(rows: int, rng: np.random.Generator) -> float:
    """Of one row, when a batch is drawn from so many."""
    lam = rng.random(rows)
    lam /= lam.sum()
    began = time.perf_counter()
    draw([waterfill(lam), lam], np.ones(rows, bool), min(LABELS, rows), rng)
    return (time.perf_counter() - began) / rows
