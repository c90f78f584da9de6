"""What workers in other processes and on other machines share: one task is one part of the pool.

A task runs its kernel block by block with single-threaded BLAS and returns the sums over its blocks in
float64, or its rows' results. The caller joins the parts in order, so the bits are those of threads.

Three things reach a task: the *pool* (or the task's part of it), the *call* (the kernel with the
arguments that are the same for all rows, sent once for all parts) and the *pieces* of arguments that
belong to rows. Each is :class:`Packed`; what stays the same over many calls is packed once.
"""

from __future__ import annotations

import pickle
import threading
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

import cloudpickle
import numpy as np
import scipy.sparse
from threadpoolctl import ThreadpoolController

from aced._types import Array, Float64
from aced._workers import Blocks as AnyBlocks, Kernel, Sliced, Workers, add_up, join, run_block
from aced.pool import Blocks, InMemory, Mapped, Pool, Source, Sparse

ALIGNED = 64
"""Arrays begin at multiples of this many bytes, as they do in the process that they come from."""


class Packed:
    """A pickled object with its arrays beside it, not copied.

    Only its user opens it: a scheduler that passes it on needs neither its files nor its classes.
    """

    def __init__(self, content: Any) -> None:
        found: list[pickle.PickleBuffer] = []
        self.head: bytes = cloudpickle.dumps(content, protocol=5, buffer_callback=found.append)
        self.arrays = [np.frombuffer(buffer.raw(), np.uint8) for buffer in found]
        self._opened: tuple[Any] | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {"head": self.head, "arrays": self.arrays, "_opened": None}

    @property
    def nbytes(self) -> int:
        return len(self.head) + sum(array.nbytes for array in self.arrays)

    def __sizeof__(self) -> int:
        return self.nbytes  # a scheduler weighs the cost of moving it

    def open(self) -> Any:
        """The object, the same one each time."""
        if self._opened is None:
            self.arrays = [_aligned(array) for array in self.arrays]
            self._opened = (pickle.loads(self.head, buffers=self.arrays),)
        return self._opened[0]


def _aligned(array: Array) -> Array:
    """The array at an aligned address; it is copied if a network has put it elsewhere."""
    if array.ctypes.data % ALIGNED == 0:
        return array
    room = np.empty(len(array) + ALIGNED, np.uint8)
    start = -room.ctypes.data % ALIGNED
    room[start : start + len(array)] = array
    return room[start : start + len(array)]


class Piece:
    """Some rows of a source, under the numbers that they have in the source."""

    def __init__(self, rows: Any, first: int, shape: tuple[int, int], block_rows: int) -> None:
        self.shape, self.block_rows = shape, block_rows
        self._first = first
        self._content = Sparse(rows) if scipy.sparse.issparse(rows) else InMemory(rows)

    def read(self, start: int, stop: int) -> Any:
        return self._content.read(start - self._first, stop - self._first)

    def take(self, positions: Array) -> Any:
        return self._content.take(positions - self._first)


def held_here(source: Source) -> bool:
    """Whether this process alone has the rows, so that they must be sent."""
    if isinstance(source, Mapped):
        return source.origin is None
    return isinstance(source, InMemory | Sparse)


@dataclass(frozen=True)
class _Slot:
    """Stands in a call for an argument that is cut into pieces, one for each part."""

    number: int


def split(kernel: Kernel, data: Blocks, args: tuple[Any, ...]) -> tuple[Packed, list[Sliced]]:
    """The call, and the arguments that are cut into pieces, one for each part.

    A recipe such as Gaussian noise is the same for all parts and goes with the call.
    """
    some_rows = data.rows_of(data.parts[0])
    sliced: list[Sliced] = []
    rest: list[Any] = []
    for arg in args:
        if hasattr(arg, "at") and arg.part(some_rows) is not arg:
            rest.append(_Slot(len(sliced)))
            sliced.append(arg)
        else:
            rest.append(arg)
    return Packed((kernel, tuple(rest))), sliced


def run_part(data: Blocks, call: Any, part: int, summed: bool, *pieces: Any) -> tuple[Array, ...]:
    """The kernel on the blocks of one part: sums over the blocks, or arrays over the rows."""
    kernel, rest = call
    args = tuple(pieces[arg.number] if isinstance(arg, _Slot) else arg for arg in rest)
    with _one_blas_thread():
        results = (run_block(kernel, data, index, args) for index in data.parts[part])
        return add_up(results) if summed else tuple(map(np.concatenate, zip(*results, strict=True)))


class _Limit:
    """Single-threaded BLAS while anyone in this process asks for it."""

    def __init__(self) -> None:
        self._controller = ThreadpoolController()
        self._lock = threading.Lock()
        self._users = 0
        self._held: Any = None

    def __enter__(self) -> None:
        with self._lock:
            if self._users == 0:
                self._held = self._controller.limit(limits=1, user_api="blas")
            self._users += 1

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._users -= 1
            if self._users == 0:
                self._held.restore_original_limits()


@cache
def _one_blas_thread() -> _Limit:
    return _Limit()


class Remote(Workers, ABC):
    """Workers whose ``fold`` and ``each`` are computed elsewhere, part by part."""

    @abstractmethod
    def _parts(
        self, kernel: Kernel, data: Blocks, args: tuple[Any, ...], summed: bool
    ) -> Iterator[tuple[Array, ...]]:
        """What :func:`run_part` returns for every part, in order."""

    def fold(self, kernel: Kernel, data: AnyBlocks, *args: Any) -> tuple[Float64, ...]:
        return add_up(self._parts(kernel, blocks_of(data), args, summed=True))

    def each(self, kernel: Kernel, data: AnyBlocks, *args: Any) -> tuple[Array, ...]:
        blocks = blocks_of(data)
        rows = [blocks.rows_of(part) for part in blocks.parts]
        results = self._parts(kernel, blocks, args, summed=False)
        return join(zip(rows, results, strict=True), len(blocks))


def blocks_of(data: Any) -> Blocks:
    """The blocks of a pool: what workers need of it."""
    blocks = data.data if isinstance(data, Pool) else data
    assert isinstance(blocks, Blocks)
    return blocks
