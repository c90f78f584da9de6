"""Threads over blocks of rows, with results that do not depend on how many there are.

Each block is computed with single-threaded BLAS and the blocks' results are added in
block order, so one thread and many give the same bits.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from numbers import Integral
from typing import TypeVar

import scipy.linalg  # noqa: F401  (its BLAS must be loaded before the controller looks)
from threadpoolctl import ThreadpoolController

from aced._errors import InvalidInput
from aced._types import Array

T = TypeVar("T")


@cache
def _controller() -> ThreadpoolController:
    return ThreadpoolController()


def available_threads() -> int:
    """Cores this process may run on."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class Workers:
    """A pool of threads; ``session`` keeps it open over many maps."""

    def __init__(self, threads: int | None = None) -> None:
        if threads is not None and (isinstance(threads, bool) or not isinstance(threads, Integral)):
            raise InvalidInput(f"threads must be a whole number, got {threads!r}")
        if threads is not None and threads < 1:
            raise InvalidInput(f"threads must be at least 1, got {threads}; leave it out to use all")
        self.threads = int(threads) if threads is not None else available_threads()
        self._executor: ThreadPoolExecutor | None = None

    @contextmanager
    def session(self) -> Iterator[None]:
        """Limit BLAS to one thread per block and keep the threads alive. Re-entrant."""
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
        total: tuple[Array, ...] | None = None
        for part in self.stream(task, count):
            if total is None:
                total = tuple(array.astype("float64") for array in part)
            else:
                for accumulated, array in zip(total, part, strict=True):
                    accumulated += array
        assert total is not None
        return total
