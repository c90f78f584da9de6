"""Map and reduce over blocks of rows, with results that do not depend on who computes them.

Only a *kernel* looks at rows: a function of one block's rows and of further arguments. An argument is
the same for all blocks, or each block sees its own part of it, as with :class:`PerRow`. ``fold`` adds
up what a kernel returns over the blocks; ``each`` joins what it returns for every row. A kernel is
defined at the top of a module, so that another process can run it.

Blocks form *parts*, at most 32. Each block is computed with single-threaded BLAS. Results are added
in block order within a part, and then part by part; so one thread, many threads and many machines
give the same bits.

:class:`Workers` are threads. :mod:`aced.backends` has the other kinds of workers.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from typing import Any, Protocol, TypeVar

import numpy as np
import scipy.linalg  # noqa: F401  (its BLAS must be loaded before the controller looks)
from threadpoolctl import ThreadpoolController

from aced._check import whole
from aced._types import Array, Float64

T = TypeVar("T")
Kernel = Callable[..., tuple[Array, ...]]


class Blocks(Protocol):
    """Rows in blocks, blocks in parts."""

    @property
    def slices(self) -> tuple[slice, ...]: ...
    @property
    def parts(self) -> tuple[range, ...]: ...
    def __len__(self) -> int: ...
    def block(self, index: int) -> Any: ...


class Sliced(Protocol):
    """An argument of a kernel; each block sees its own part of it."""

    def at(self, index: int, rows: slice) -> Any:
        """What the block with this index and these rows sees."""

    def part(self, rows: slice) -> Sliced:
        """The part that the blocks of these rows need; it is sent to another process."""


class PerRow:
    """An array whose first axis runs over the rows of the pool."""

    def __init__(self, array: Array, first: int = 0) -> None:
        self.array, self.first = array, first

    def at(self, index: int, rows: slice) -> Array:
        return self.array[rows.start - self.first : rows.stop - self.first]

    def part(self, rows: slice) -> PerRow:
        return PerRow(self.at(0, rows), rows.start)


def run_block(kernel: Kernel, data: Blocks, index: int, args: tuple[Any, ...]) -> tuple[Array, ...]:
    """Run the kernel on one block; each argument is cut to what the block sees of it."""
    rows = data.slices[index]
    seen = [arg.at(index, rows) if hasattr(arg, "at") else arg for arg in args]
    return kernel(data.block(index), *seen)


def add_up(results: Iterable[tuple[Array, ...]]) -> tuple[Float64, ...]:
    """Sums in float64, in the order given; a scalar stands for an array of zeros."""
    total: list[Float64] | None = None
    for part in results:
        if total is None:
            total = [array.astype(np.float64) for array in part]
            continue
        for k, array in enumerate(part):
            if total[k].shape == array.shape:
                total[k] += array
            else:
                total[k] = total[k] + array
    assert total is not None
    return tuple(total)


@cache
def _controller() -> ThreadpoolController:
    return ThreadpoolController()


def available_threads() -> int:
    """How many cores this process may run on."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class Workers:
    """Threads that run kernels (default: one for each core); ``session`` keeps them alive over calls."""

    def __init__(self, threads: int | None = None) -> None:
        hint = "; leave it out to use all cores"
        self.threads = available_threads() if threads is None else whole("threads", threads, 1, hint)
        self._executor: ThreadPoolExecutor | None = None

    @contextmanager
    def session(self) -> Iterator[None]:
        """Limit BLAS to one thread per block and keep the threads alive; sessions may be nested."""
        if self._executor is not None:
            yield
            return
        with (
            _controller().limit(limits=1, user_api="blas"),
            ThreadPoolExecutor(self.threads) as executor,
        ):
            self._executor = executor
            try:
                yield
            finally:
                self._executor = None

    def stream(self, task: Callable[[int], T], count: int) -> Iterator[T]:
        """Results of ``task(0) … task(count - 1)`` in order, a few computed ahead."""
        with self.session():
            if self.threads == 1 or count == 1:
                yield from map(task, range(count))
                return
            assert self._executor is not None
            ahead: deque[Future[T]] = deque()
            for index in range(count):
                ahead.append(self._executor.submit(task, index))
                if len(ahead) > 2 * self.threads:
                    yield ahead.popleft().result()
            while ahead:
                yield ahead.popleft().result()

    def map(self, task: Callable[[int], T], count: int) -> list[T]:
        """Results of every task, in order."""
        return list(self.stream(task, count))

    def sum(self, task: Callable[[int], tuple[Array, ...]], count: int) -> tuple[Array, ...]:
        """Sums of the arrays that the tasks return, added in task order in float64."""
        return add_up(self.stream(task, count))

    def fold(self, kernel: Kernel, data: Blocks, *args: Any) -> tuple[Float64, ...]:
        """Sums over all blocks of the arrays that ``kernel(block, *args)`` returns."""
        results = self.stream(lambda index: run_block(kernel, data, index, args), len(data.slices))
        return add_up(add_up(next(results) for _ in part) for part in data.parts)

    def each(self, kernel: Kernel, data: Blocks, *args: Any) -> tuple[Array, ...]:
        """Arrays over all rows, joined from those that ``kernel(block, *args)`` returns for its rows."""
        results = self.stream(lambda index: run_block(kernel, data, index, args), len(data.slices))
        return join(zip(data.slices, results, strict=True), len(data))


def join(results: Iterable[tuple[slice, tuple[Array, ...]]], n: int) -> tuple[Array, ...]:
    """Join arrays over some rows each to arrays over all n rows; the first axis runs over rows."""
    whole: tuple[Array, ...] = ()
    for rows, part in results:
        if not whole:
            whole = tuple(np.empty((n, *array.shape[1:]), array.dtype) for array in part)
        for array, piece in zip(whole, part, strict=True):
            array[rows] = piece
    return whole
