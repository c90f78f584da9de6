"""Results that are made one at a time, and kept in memory of a bounded size."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from concurrent.futures import Future, ThreadPoolExecutor

Result = tuple[bytes, str] | None
ENTRY = 1024
"""Bytes that an entry counts besides its content, so that failures do not gather for ever."""


class Kept:
    """The results used last, with at most ``most`` bytes in all.

    However many threads ask, one result is made at a time, and those who ask for the same one share
    it. One thread makes them all: the C library keeps what a thread has freed for this thread, so
    that eight threads in turn would hold eight times the memory. A result that is None is kept, too.
    What raises is not.
    """

    def __init__(self, most: int) -> None:
        self.most, self.bytes = most, 0
        self._found: OrderedDict[Hashable, Result] = OrderedDict()
        self._coming: dict[Hashable, Future[Result]] = {}
        self._lock, self._maker = threading.Lock(), ThreadPoolExecutor(1, "images")

    def get(self, key: Hashable, make: Callable[[], Result]) -> Result:
        """The result of this key; ``make`` is called if it is not kept."""
        with self._lock:
            if key in self._found:
                self._found.move_to_end(key)
                return self._found[key]
            if key not in self._coming:
                self._coming[key] = self._maker.submit(self._make, key, make)
            coming = self._coming[key]
        return coming.result()

    def _make(self, key: Hashable, make: Callable[[], Result]) -> Result:
        try:
            result = make()
            self._keep(key, result)
            return result
        finally:
            with self._lock:
                del self._coming[key]

    def _keep(self, key: Hashable, result: Result) -> None:
        with self._lock:
            self._found[key] = result
            self.bytes += _size(result)
            while self.bytes > self.most:
                self.bytes -= _size(self._found.popitem(last=False)[1])


def _size(result: Result) -> int:
    return ENTRY + (0 if result is None else len(result[0]))
