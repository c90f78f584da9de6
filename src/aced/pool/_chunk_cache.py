"""Chunks that have to be decoded: the last few are kept, and the next is decoded in the background.

Threads read blocks roughly in order. The first thread that wants a chunk decodes it, and the others
wait for it; meanwhile a background thread decodes the chunk after it. That thread fills the same store
as the readers, so it changes when a chunk is decoded, never what is read. It belongs to an executor,
so it ends with the source, and the interpreter waits for at most the chunk that it is decoding.
"""

from __future__ import annotations

import threading
from abc import abstractmethod
from collections import OrderedDict
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from typing import Any

import numpy as np

from aced._free_memory import room_for
from aced._types import Array, Float32, Ints
from aced._workers import available_threads
from aced.pool._blocks import BLOCK_ROWS
from aced.pool._concatenated import Concatenated
from aced.pool._stored import as_float32, changed

CHUNK_BYTES = 8 * 1024**2
"""Chunks have about this size as float32, as far as the stored form allows."""
KEEP_BYTES = 32 * 1024**2
"""Decoded chunks are kept up to this size, or more if three chunks and a block a thread need more."""
LANES = 16


class CachedChunks(Concatenated):
    """Rows in chunks, each made float32 when it is wanted."""

    def __init__(self, starts: Ints, features: int, name: Any) -> None:
        super().__init__(starts, features)
        self._name = name
        row = 4 * features
        largest = row * int(np.diff(starts).max())
        room_for(3 * largest, f"rows: three chunks of {name} have to fit in memory, write smaller ones")
        self._most = max(KEEP_BYTES, 3 * largest + available_threads() * BLOCK_ROWS * row)
        self._kept: OrderedDict[int, Float32] = OrderedDict()
        self._bytes = 0
        self._lock = threading.Lock()  # guards what is kept; never held while a chunk is decoded
        self._lanes = [threading.Lock() for _ in range(LANES)]
        self._reader: ThreadPoolExecutor | None = None
        self._coming: Future[None] | None = None
        self._latest = 0  # chunk that was last read in order

    @abstractmethod
    def _decode(self, index: int) -> Iterator[tuple[int, Array]]:
        """The chunk with this index comes last; chunks that were decoded on the way come before it."""

    def _lane(self, index: int) -> int:
        """The lane of a chunk; chunks of one lane are decoded one at a time."""
        return index

    def _rows(self, index: int, rows: slice | Ints) -> Float32:
        with self._lock:
            chunk = self._kept.get(index)
            if chunk is not None:
                self._kept.move_to_end(index)
            if isinstance(rows, slice):
                self._latest = index
                self._send_for(index + 1)
        if chunk is None:
            chunk = self._load(index)
        found: Float32 = chunk[rows]
        return found

    def _load(self, index: int) -> Float32:
        with self._lanes[self._lane(index) % LANES]:
            with self._lock:
                chunk = self._kept.get(index)
            return self._decoded(index) if chunk is None else chunk

    def _decoded(self, index: int) -> Float32:
        """Decode the chunk and keep it. The caller holds its lane."""
        for place, stored in self._decode(index):
            chunk = as_float32(stored)
            if chunk.shape != (self.starts[place + 1] - self.starts[place], self.shape[1]):
                raise changed(self._name)
            self._keep(place, chunk)
        return chunk

    def _keep(self, index: int, chunk: Float32) -> None:
        with self._lock:
            if index not in self._kept:
                self._bytes += chunk.nbytes
            self._kept[index] = chunk
            self._kept.move_to_end(index)
            while self._bytes > self._most:
                self._bytes -= self._kept.popitem(last=False)[1].nbytes

    def _send_for(self, index: int) -> None:
        """Have a chunk decoded in the background, if nothing is. The caller holds the lock."""
        if index >= len(self.starts) - 1 or index in self._kept:
            return
        if self._coming is not None and not self._coming.done():
            return
        try:
            if self._reader is None:
                self._reader = ThreadPoolExecutor(1, thread_name_prefix="aced-read-ahead")
            self._coming = self._reader.submit(self._load_ahead, index)
        except RuntimeError:  # the interpreter is about to exit, or there are no more threads
            self._coming = None

    def _load_ahead(self, index: int) -> None:
        with self._lanes[self._lane(index) % LANES]:
            with self._lock:
                too_late = index in self._kept or self._latest not in (index - 1, index)
            with suppress(Exception):  # whoever reads this chunk meets the same error and reports it
                if not too_late:
                    self._decoded(index)


def even_chunks(rows: int, features: int, step: int) -> Ints:
    """The starts of chunks; each joins as many times ``step`` rows as CHUNK_BYTES holds."""
    joined = step * max(1, CHUNK_BYTES // (4 * features * step))
    return np.append(np.arange(0, rows, joined, dtype=np.int64), rows)
