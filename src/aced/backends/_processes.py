"""Many processes on one machine.

What tasks read is written once to a temporary folder: a file for the pool (with its rows, or with the
place on disk where they are), one for every argument that belongs to rows and one for every call. The
processes map these files, so the rows are in memory once. A file is deleted with the object that it
was written for, and the folder with the workers that made it.
"""

from __future__ import annotations

import mmap
import pickle
import sys
import tempfile
import weakref
from collections.abc import Iterator
from contextlib import suppress
from functools import lru_cache
from itertools import count
from pathlib import Path
from typing import Any

from joblib.externals.loky import get_reusable_executor, process_executor
from joblib.externals.loky.process_executor import BrokenProcessPool

from aced._errors import InvalidInput
from aced._types import Array
from aced._workers import Kernel, Workers
from aced.backends._remote import ALIGNED, Packed, Remote, run_part, split
from aced.pool import Blocks

IDLE_SECONDS = 300
"""Processes end when they had nothing to do for this long."""


class ProcessWorkers(Remote):
    """As many processes as ``threads`` says; a pool that is a single part is computed by threads."""

    def __init__(self, threads: int | None = None) -> None:
        super().__init__(threads)
        self._folder = tempfile.TemporaryDirectory(prefix="aced-", ignore_cleanup_errors=True)
        weakref.finalize(self, self._folder.cleanup)
        self._numbers = count()
        self._pools: weakref.WeakKeyDictionary[Blocks, _File] = weakref.WeakKeyDictionary()
        self._rows: weakref.WeakKeyDictionary[Any, _File] = weakref.WeakKeyDictionary()

    def _parts(
        self, kernel: Kernel, data: Blocks, args: tuple[Any, ...], summed: bool
    ) -> Iterator[tuple[Array, ...]]:
        if len(data.parts) == 1:
            yield (Workers.fold if summed else Workers.each)(self, kernel, data, *args)
            return
        packed, sliced = split(kernel, data, args)
        if data not in self._pools:
            self._pools[data] = self._write(Packed(data))
        for arg in sliced:
            if arg not in self._rows:
                self._rows[arg] = self._write(Packed(arg.part(slice(0, len(data)))))
        call = self._write(packed)
        files = self._pools[data].name, call.name, tuple(self._rows[arg].name for arg in sliced)
        done, parts = 0, len(data.parts)
        with suppress(BrokenProcessPool):  # once: the next call makes new processes
            for result in self._run(files, range(parts), summed):
                done += 1
                yield result
        try:
            yield from self._run(files, range(done, parts), summed)
        except BrokenProcessPool:
            raise InvalidInput(
                "backend",
                "processes end before their work does, perhaps for want of memory; "
                "use fewer threads, or backend='threads'",
            ) from None

    def _run(
        self, files: tuple[str, str, tuple[str, ...]], parts: range, summed: bool
    ) -> Iterator[tuple[Array, ...]]:
        if not parts:
            return
        executor = get_reusable_executor(
            max_workers=self.threads, timeout=IDLE_SECONDS, initializer=_let_grow
        )
        pool, call, pieces = files
        futures = [executor.submit(_task, pool, call, part, summed, pieces) for part in parts]
        try:
            while futures:
                yield futures[0].result()
                del futures[0]
        finally:
            for future in futures:
                future.cancel()

    def _write(self, packed: Packed) -> _File:
        path = Path(self._folder.name) / str(next(self._numbers))
        try:
            write(path, packed)
        except OSError as error:
            raise InvalidInput(
                "backend",
                f"processes read the rows from {path.parent}, which cannot be written: "
                f"{error.strerror}; set TMPDIR to a folder with more room",
            ) from None
        return _File(path)


def _let_grow() -> None:
    """Keep joblib from ending processes that grew by 300 MB: ours keep noise and map rows, no leak."""
    setattr(process_executor, "_MAX_MEMORY_LEAK_SIZE", sys.maxsize)  # noqa: B010


class _File:
    """A file that is deleted with this object."""

    def __init__(self, path: Path) -> None:
        self.name = str(path)
        weakref.finalize(self, _remove, path)


def _remove(path: Path) -> None:
    with suppress(OSError):
        path.unlink()


def write(path: Path, packed: Packed) -> None:
    """Write the head and the arrays one after the other, and a pickled index of them at the end."""
    with path.open("wb") as file:
        places = []
        contents = [memoryview(packed.head), *(array.data for array in packed.arrays)]
        for content in contents:
            file.write(bytes(-file.tell() % ALIGNED))
            places.append((file.tell(), len(content)))
            file.write(content)
        index = pickle.dumps(places)
        file.write(index + len(index).to_bytes(8, "little"))


def read(name: str) -> Any:
    """Read what was packed, with its arrays mapped: changes to them stay in this process."""
    with Path(name).open("rb") as file:
        content = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY))
    end = len(content) - 8
    size = int.from_bytes(content[end:], "little")
    (start, length), *arrays = pickle.loads(content[end - size : end])
    buffers = [content[first : first + count] for first, count in arrays]
    return pickle.loads(content[start : start + length], buffers=buffers)


_read_pool = lru_cache(maxsize=2)(read)
_read_call = lru_cache(maxsize=1)(read)


def _task(pool: str, call: str, part: int, summed: bool, pieces: tuple[str, ...]) -> tuple[Array, ...]:
    return run_part(_read_pool(pool), _read_call(call), part, summed, *map(read, pieces))
