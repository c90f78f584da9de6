"""The linear oracle and the design on PyTorch tensors: on a CPU, a CUDA card or Apple's "mps".

The kernels in :mod:`aced.backends._torch_kernels` run on the device, many blocks in one step. All other
kernels, and all kernels on sparse pools, run in threads. Rows, noise and vectors over the rows are moved
to the device once and kept there while they fit in ``memory`` bytes; the least recently used make room.
What does not fit is moved a step at a time. Steps depend on shapes only, so results do not depend on
what fits. Noise is drawn on the host by the same recipe as everywhere.

Results are those of threads up to rounding in float32, not to the bit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

import numpy as np

from aced._check import whole
from aced._errors import InvalidInput
from aced._optional import needed
from aced._types import Array, Float64
from aced._workers import Kernel, PerRow, Workers, join
from aced.pool import GIB, Blocks, InMemory, Pool, available_memory

STEP_NUMBERS = {"cpu": 2**18, "cuda": 2**24, "mps": 2**24}
"""About this many numbers are in the widest matrix of a step: few enough for the cache of a CPU, enough
to keep a card busy for longer than a step takes to begin."""
MOST_ROWS = 2**16
"""The most rows of a step."""
MEMORY = 4 * GIB
"""The most bytes that are kept by default where the device uses the host's memory."""
ALIGNED = 64
"""Torch's own memory begins at multiples of this many bytes, and so do blocks in it."""

T = TypeVar("T")


class TorchWorkers(Workers):
    """Threads, and a device for the kernels that it knows.

    ``device`` is "cpu", "cuda", "cuda:1", … or "mps"; ``memory`` is how many bytes of rows and noise it
    keeps (default: 80 % of what a CUDA device has free; elsewhere a quarter of it, at most 4 GiB).
    """

    def __init__(
        self, threads: int | None = None, device: str = "cpu", memory: int | None = None
    ) -> None:
        super().__init__(threads)
        torch = needed("backend", "torch", "torch", "torch")
        from aced.backends import _torch_kernels

        self._torch, self._kernels = torch, _torch_kernels
        self.device = _find(torch, device)
        self.memory = self._room() if memory is None else whole("memory", memory, 0)
        self._numbers = STEP_NUMBERS[self.device.type]
        self._shares = self.device.type == "cpu"  # whether it works on the host's own memory
        self._wide = _torch_kernels.wide(self.device)
        self._kept: WeakKeyDictionary[Any, Any] = WeakKeyDictionary()  # owner -> tensor over all rows

    def _room(self) -> int:
        if self.device.type != "cuda":
            return min(MEMORY, available_memory() // 4)
        return int(0.8 * self._torch.cuda.mem_get_info(self.device)[0])

    @contextmanager
    def session(self) -> Iterator[None]:
        """A session of threads in which torch, too, computes a step with one thread."""
        if self._executor is not None:
            yield
            return
        before = self._torch.get_num_threads()
        self._torch.set_num_threads(1)
        try:
            with super().session():
                yield
        finally:
            self._torch.set_num_threads(before)

    def fold(self, kernel: Kernel, data: Any, *args: Any) -> tuple[Float64, ...]:
        dense = self._dense(kernel, data, args)
        if dense is None:
            return super().fold(kernel, data, *args)
        total: list[Any] = []
        with self.session():
            for _, results in self._steps(kernel, dense, args):
                parts = [result.to(self._wide) for result in results]
                # a scalar stands for an array of zeros
                total = [a + b for a, b in zip(total, parts, strict=True)] if total else parts
            return tuple(self._host(result).astype(np.float64, copy=False) for result in total)

    def each(self, kernel: Kernel, data: Any, *args: Any) -> tuple[Array, ...]:
        dense = self._dense(kernel, data, args)
        if dense is None:
            return super().each(kernel, data, *args)
        with self.session():
            steps = self._steps(kernel, dense, args)
            return join(((rows, tuple(map(self._host, found))) for rows, found in steps), len(dense))

    def _dense(self, kernel: Kernel, data: Any, args: tuple[Any, ...]) -> Blocks | None:
        """The blocks, if the device knows the kernel and its scorer and the rows are not sparse."""
        blocks = data.data if isinstance(data, Pool) else data
        if not isinstance(blocks, Blocks) or getattr(blocks.source, "sparse", False):
            return None
        known = kernel in self._kernels.KERNELS
        known &= all(arg in self._kernels.SCORES for arg in args if callable(arg))
        return blocks if known else None

    def _steps(
        self, kernel: Kernel, data: Blocks, args: tuple[Any, ...]
    ) -> Iterator[tuple[slice, tuple[Any, ...]]]:
        """Rows and the kernel's results on them, step by step."""
        run, given = self._kernels.KERNELS[kernel], (data, *args)
        sliced = [i for i, arg in enumerate(given) if i == 0 or hasattr(arg, "at")]
        passed = [None if i in sliced else self._argument(arg) for i, arg in enumerate(given)]
        in_use = [given[i] for i in sliced]
        whole = {i: self._whole(given[i], data, in_use) for i in sliced}
        steps = _cut(data, args, self._numbers)

        def one(k: int) -> tuple[slice, tuple[Any, ...]]:
            rows, seen = data.rows_of(steps[k]), list(passed)
            for i, kept in whole.items():
                seen[i] = self._part(given[i], data, steps[k]) if kept is None else kept[rows]
            return rows, run(*seen)

        return self._run(one, len(steps))

    def _run(self, task: Callable[[int], T], count: int) -> Iterator[T]:
        """Run steps in order: in several threads if these compute, one by one if they only read."""

        def alone(k: int) -> T:
            self._torch.set_num_threads(1)  # MKL asks each thread anew
            return task(k)

        return self.stream(alone, count) if self._shares else map(task, range(count))

    def _argument(self, arg: Any) -> Any:
        """An argument that is the same for all blocks, on the device."""
        if isinstance(arg, np.ndarray):
            return self._tensor(arg).to(self.device)
        if isinstance(arg, list | tuple):
            return [self._argument(part) for part in arg]
        return self._kernels.SCORES[arg] if callable(arg) else arg

    def _whole(self, owner: Any, data: Blocks, in_use: list[Any]) -> Any:
        """All of what ``owner`` has over the rows, on the device; None if it does not fit there, or if
        the device works on the host's memory."""
        if _array(owner) is not None and self._shares:
            return None
        tensor = self._kept.pop(owner, None)
        if tensor is None:
            first = self._tensor(_block(owner, data, 0))
            need = first.element_size() * first[0].numel() * len(data)
            if not self._make_room(need, in_use):
                return None
            shape = (len(data), *first.shape[1:])
            tensor = self._torch.empty(shape, dtype=first.dtype, device=self.device)
            steps = _cut(data, (), self._numbers)
            for k, part in enumerate(self._run(lambda k: self._part(owner, data, steps[k]), len(steps))):
                tensor[data.rows_of(steps[k])] = part
        self._kept[owner] = tensor  # kept in order of last use
        return tensor

    def _make_room(self, need: int, in_use: list[Any]) -> bool:
        """Drop what was least recently used until ``need`` bytes are free; False if that cannot be."""
        sizes = {owner: t.element_size() * t.numel() for owner, t in self._kept.items()}
        idle = [owner for owner in sizes if not any(owner is used for used in in_use)]
        free = self.memory - sum(sizes.values())
        if need > free + sum(sizes[owner] for owner in idle):
            return False
        for owner in idle:
            if need <= free:
                break
            free += sizes[owner]
            del self._kept[owner]
        return True

    def _part(self, owner: Any, data: Blocks, blocks: range) -> Any:
        """What these blocks see of what ``owner`` has over the rows, on the device."""

        def one(k: int) -> Array:
            return _block(owner, data, blocks[k])

        rows, array, count = data.rows_of(blocks), _array(owner), len(blocks)
        if array is not None:
            pieces, count = iter([array[rows]]), 1
        else:
            pieces = map(one, range(count)) if self._shares else self.stream(one, count)
        pinned, buffer, done = self.device.type == "cuda", None, 0
        for piece in pieces:
            if self._shares and count == 1:
                return self._tensor(piece)
            if buffer is None:
                shape = (rows.stop - rows.start, *piece.shape[1:])
                buffer = self._torch.empty(shape, dtype=self._dtype(piece), pin_memory=pinned)
            buffer.numpy()[done : done + len(piece)] = piece
            done += len(piece)
        assert buffer is not None
        return buffer.to(self.device, non_blocking=pinned)

    def _tensor(self, array: Array) -> Any:
        """A tensor on the host; it shares the array's memory if that is aligned as torch's own is.

        In other memory MKL may add in another order, and the same numbers may give other bits.
        """
        usable = array.flags.c_contiguous and array.flags.writeable
        if usable and array.ctypes.data % ALIGNED == 0 and self.device.type != "mps":
            return self._torch.from_numpy(array)
        tensor = self._torch.empty(array.shape, dtype=self._dtype(array))
        tensor.numpy()[...] = array
        return tensor

    def _dtype(self, array: Array) -> Any:
        if array.dtype == np.float64:
            return self._wide
        return self._torch.from_numpy(np.empty(0, array.dtype)).dtype

    def _host(self, tensor: Any) -> Array:
        array: Array = tensor.cpu().numpy()
        if self.device.type == "mps" and array.dtype == np.float32:
            return array.astype(np.float64)
        return array


def _array(owner: Any) -> Array | None:
    """What ``owner`` has as one array over all rows in this process; None if it has none."""
    if isinstance(owner, PerRow) and owner.first == 0:
        return owner.array
    if isinstance(owner, Blocks) and isinstance(owner.source, InMemory):
        return owner.source.matrix
    return None


def _block(owner: Any, data: Blocks, index: int) -> Array:
    found: Array = data.block(index) if owner is data else owner.at(index, data.slices[index])
    return found


def _cut(data: Blocks, args: tuple[Any, ...], numbers: int) -> list[range]:
    """The blocks of each step."""
    widths = [data.source.shape[1]]
    widths += [max(arg.shape) for arg in args if isinstance(arg, np.ndarray) and arg.ndim == 2]
    widths += [arg.draws * (arg.classes - 1) for arg in args if hasattr(arg, "draws")]
    size = max(1, min(MOST_ROWS, numbers // max(widths)) // data.source.block_rows)
    count = len(data.slices)
    return [range(i, min(i + size, count)) for i in range(0, count, size)]


def _find(torch: Any, name: Any) -> Any:
    """The device with this name; a name that is not available is refused in a sentence."""
    seen = ["cpu"]
    if torch.cuda.is_available():
        seen += ["cuda", *(f"cuda:{i}" for i in range(torch.cuda.device_count()))]
    if torch.backends.mps.is_available():
        seen.append("mps")
    if str(name) not in seen:
        raise InvalidInput("device", f"{name} is not available here; torch sees: {', '.join(seen)}")
    return torch.device(str(name))
