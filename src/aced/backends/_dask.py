"""Many machines: a Dask cluster, reached by the caller's client.

Everything that the cluster holds is the result of a task that carries it, so that the scheduler can
make it again when a worker dies. Rows that only this process has are sent in parts. A file is sent by
its name, and the workers open it. A dask array that the cluster holds is cut into parts there. An
argument that belongs to rows is cut into a piece for each part; the pieces are held as long as the
argument lives. All else is sent once a call to one worker, and from there to the others.
"""

from __future__ import annotations

import platform
import uuid
import warnings
from collections.abc import Iterator
from concurrent.futures import CancelledError
from contextlib import contextmanager
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import scipy.sparse

from aced._errors import InvalidInput
from aced._optional import needed
from aced._types import Array
from aced._workers import Kernel, Sliced
from aced.backends._remote import Packed, Piece, Remote, held_here, run_part, split
from aced.pool import GIB, Blocks, Dask, Source, Sparse, as_float32

MOST_SENT = 2 * GIB
"""Rows in memory are sent only up to this size, because the scheduler keeps them all."""
AT_ONCE = 64 * 1024**2
"""Results are fetched about this many bytes at a time."""


class DaskWorkers(Remote):
    """The workers of the cluster of ``client``; ``threads`` compute on this machine what stays here.

    ``traffic`` counts calls and the bytes sent and received in them: ``pool_sent`` for rows of the
    pool, ``per_row_sent`` and ``per_row_received`` for vectors over its rows, ``sent`` and
    ``received`` for all the rest, which does not grow with the pool.
    """

    def __init__(self, client: Any, threads: int | None = None) -> None:
        super().__init__(threads)
        distributed = needed("client", "distributed", "a cluster", "dask")
        if not isinstance(client, distributed.Client) or client.asynchronous:
            raise InvalidInput(
                "client", f"must be a dask.distributed.Client that is not asynchronous, got {client!r}"
            )
        self.client: Any = client
        self._refuse_lost()
        _refuse_other_versions(client)
        self.traffic = dict.fromkeys(
            ("calls", "sent", "received", "per_row_sent", "per_row_received", "pool_sent"), 0
        )
        self._killed, self._future = distributed.KilledWorker, distributed.Future
        self._pools: WeakKeyDictionary[Blocks, list[Any]] = WeakKeyDictionary()
        self._rows: WeakKeyDictionary[Sliced, WeakKeyDictionary[Blocks, list[Any]]]
        self._rows = WeakKeyDictionary()

    def _parts(
        self, kernel: Kernel, data: Blocks, args: tuple[Any, ...], summed: bool
    ) -> Iterator[tuple[Array, ...]]:
        kind, parts = ("received" if summed else "per_row_received"), len(data.parts)
        packed, sliced = split(kernel, data, args)
        self.traffic["calls"] += 1
        with self._sentences():
            pools = self._pool(data)
            rows = [self._pieces(arg, data, pools) for arg in sliced]
            (call,) = self._hold("call", [packed], "sent")
            constants = [call] * parts, list(range(parts)), [summed] * parts
            keys = _keys(kernel.__name__, parts)
            futures = self.client.map(_task, pools, *constants, *rows, key=keys, pure=False)
            try:
                for result in self._fetch(futures):
                    self.traffic[kind] += sum(array.nbytes for array in result)
                    yield result
            finally:
                for future in futures:
                    future.release()  # also ends tasks that an error left running

    def _pool(self, data: Blocks) -> list[Any]:
        """For each part, a future of its rows or of the source that all rows are read from."""
        found = self._pools.get(data)
        if found is None or _gone(found):
            source = data.source
            bounds = [(rows.start, rows.stop) for rows in map(data.rows_of, data.parts)]
            form = source.shape, source.block_rows
            if held_here(source):
                _refuse_large(source)
                pieces = (_piece(source.read(*rows), rows[0], *form) for rows in bounds)
                found = [self._hold("rows", [piece], "pool_sent")[0] for piece in pieces]
            elif (array := self._persisted(source)) is not None:
                arrays = [self.client.compute(array[start:stop]) for start, stop in bounds]
                firsts, forms = [start for start, _ in bounds], [[each] * len(bounds) for each in form]
                keys = _keys("rows", len(bounds))
                found = self.client.map(_piece, arrays, firsts, *forms, key=keys, pure=False)
            else:
                found = self._hold("rows", [Packed(data)], "pool_sent") * len(bounds)
            self._pools[data] = found
        return found

    def _persisted(self, source: Source) -> Any:
        """The dask array of the rows, if the cluster holds it; else None."""
        if not isinstance(source, Dask):
            return None
        tasks = dict(source.array.__dask_graph__()).values()
        return source.array if any(isinstance(task, self._future) for task in tasks) else None

    def _pieces(self, arg: Sliced, data: Blocks, pools: list[Any]) -> list[Any]:
        """The piece of an argument for each part, held by the worker that holds the part's rows."""
        held = self._rows.setdefault(arg, WeakKeyDictionary())
        found = held.get(data)
        if found is None or _gone(found):
            pieces = [Packed(arg.part(data.rows_of(part))) for part in data.parts]
            beside = [pools] if pools[0] is not pools[-1] else []
            held[data] = found = self._hold("vector", pieces, "per_row_sent", *beside)
        return found

    def _hold(self, name: str, packed: list[Packed], kind: str, *beside: list[Any]) -> list[Any]:
        """Futures of what is packed, a task each; a task runs where what is ``beside`` it is held."""
        self.traffic[kind] += sum(each.nbytes for each in packed)
        keys = _keys(name, len(packed))
        with warnings.catch_warnings():  # the graph is large on purpose: the scheduler keeps it
            warnings.filterwarnings("ignore", "Sending large graph")
            return list(self.client.map(_held, packed, *beside, key=keys, pure=False))

    def _fetch(self, futures: list[Any]) -> Iterator[tuple[Array, ...]]:
        """Results in order, as many at a time as AT_ONCE allows."""
        start, count = 0, 1
        while start < len(futures):
            some = futures[start : start + count]
            results = self.client.gather(some)
            for future in some:
                future.release()
            start += count
            count = max(1, AT_ONCE // max(1, sum(array.nbytes for array in results[0])))
            yield from results

    @contextmanager
    def _sentences(self) -> Iterator[None]:
        """Say in a sentence what went wrong with the cluster."""
        self._refuse_lost()
        try:
            yield
        except CancelledError:
            self._refuse_lost()
            raise InvalidInput(
                "client", "someone who shares the cluster cancelled the work or restarted it; ask again"
            ) from None
        except self._killed as error:
            raise InvalidInput(
                "client",
                f"{error.allowed_failures + 1} workers died over the same task, perhaps for "
                "want of memory; see their logs",
            ) from None

    def _refuse_lost(self) -> None:
        if self.client.status != "running":
            raise InvalidInput(
                "client", "it has lost its scheduler, or was closed; go on with a new Client"
            ) from None


def _refuse_other_versions(client: Any) -> None:
    """Refuse workers with other versions: they could not read their tasks and would end silently."""

    def version() -> str | None:  # a function within a function is sent as a whole
        try:
            import aced.backends

            return aced.__version__
        except ImportError:
            return None

    found = {"the scheduler": client.run_on_scheduler(version)}
    found |= {f"the worker {place}": said for place, said in client.run(version).items()}
    for place, said in found.items():
        if said != version():
            has = "does not have it" if said is None else f"has {said}"
            raise InvalidInput(
                "client", f"this is aced {version()}, and {place} {has}; install the same versions there"
            )


def _task(pool: Packed, call: Packed, part: int, summed: bool, *pieces: Packed) -> tuple[Array, ...]:
    """Run a call on one part of the pool; a worker does this."""
    try:
        data = pool.open()
    except InvalidInput as error:
        raise InvalidInput(
            error.argument,
            f"{error.sentence} (on the worker {platform.node()}: all workers must be able to "
            "read the rows)",
        ) from None
    return run_part(data, call.open(), part, summed, *(piece.open() for piece in pieces))


def _held(packed: Packed, *_: Packed) -> Packed:
    """What the cluster holds, as the result of a task."""
    return packed


def _piece(rows: Any, first: int, shape: tuple[int, int], block_rows: int) -> Packed:
    """The rows of one part."""
    if not scipy.sparse.issparse(rows):
        rows = as_float32(np.asarray(rows))
    return Packed(Blocks(Piece(rows, first, shape, block_rows)))


def _keys(name: str, count: int) -> list[tuple[str, int]]:
    """New keys that form one group for the scheduler, under a name that it knows."""
    group = f"aced-{name.strip('_').replace('_', '-')}-{uuid.uuid4().hex}"
    return [(group, number) for number in range(count)]


def _gone(futures: list[Any]) -> bool:
    return any(future.cancelled() for future in futures)


def _refuse_large(source: Source) -> None:
    size = source.nbytes if isinstance(source, Sparse) else 4 * source.shape[0] * source.shape[1]
    if size > MOST_SENT:
        advice = "save them with numpy.save where all workers can read them, and use Pool(path)"
        if isinstance(source, Sparse):
            advice = "keep fewer rows or columns, or use backend='processes' on a large machine"
        raise InvalidInput(
            "pool", f"{size / GIB:.1f} GiB of rows in memory are too many to send; {advice}"
        )
