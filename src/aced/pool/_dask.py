"""Dask arrays, whose chunks are computed in this process when they are wanted."""

from __future__ import annotations

import pickle
import sys
from collections.abc import Iterator
from functools import partial
from importlib import import_module
from typing import Any

import cloudpickle
import numpy as np
import scipy.sparse

from aced._errors import InvalidInput
from aced._free_memory import in_words
from aced._types import Array
from aced.pool._chunk_cache import CachedChunks
from aced.pool._convert import check_shape, is_made_by, refuse_dtype, refuse_masked


class Dask(CachedChunks):
    """Rows of a dask array, pickled with its graph, so that a worker computes its own chunks.

    The thread that wants a chunk computes it, without a cluster: a worker that asked its own
    cluster for it could wait for itself.
    """

    def __init__(self, array: Any) -> None:
        if array.ndim == 2 and any(np.isnan(size) for sizes in array.chunks for size in sizes):
            raise InvalidInput(
                "rows",
                "the dask array does not know how many rows its chunks have; "
                "call rows.compute_chunk_sizes() first",
            )
        check_shape(array)
        refuse_dtype(array.dtype)
        self.array = array
        whole = array.rechunk({1: -1}) if array.numblocks[1] > 1 else array
        self._graph, keys = _lowered(whole)
        sizes = np.array(whole.chunks[0], dtype=np.int64)
        self._keys = [key for (key,), size in zip(keys, sizes, strict=True) if size]
        starts = np.concatenate([[0], np.cumsum(sizes[sizes > 0])])
        super().__init__(starts, int(array.shape[1]), "the dask array")

    @property
    def kept(self) -> str:
        return f"{self.array.dtype}, {in_words(self.array.nbytes)} in a dask array"

    def __reduce__(self) -> tuple[Any, ...]:
        if any(map(_is_future, self._graph.values())):
            raise InvalidInput(
                "rows",
                "a dask array that a cluster holds after persist() cannot be sent to other "
                "processes; pass the array as it was before",
            )
        # dask itself pickles this way: a graph may hold functions that pickle cannot name
        return _unpickled, (cloudpickle.dumps(self.array),)

    def _decode(self, index: int) -> Iterator[tuple[int, Array]]:
        yield index, self._computed(index)

    def _raw(self, index: int, rows: slice) -> Array:
        return self._computed(index)[rows]

    def _computed(self, index: int) -> Array:
        local, optimization = map(import_module, ("dask.local", "dask.optimization"))
        key = self._keys[index]
        graph = {name: _fetched(task) for name, task in optimization.cull(self._graph, [key])[0].items()}
        found = local.get_sync(graph, key)
        refuse_masked(found)
        return found.toarray() if scipy.sparse.issparse(found) else np.asarray(found)


def _lowered(array: Any) -> tuple[dict[Any, Any], list[list[Any]]]:
    """The graph as one dict, and the keys of the chunks. Dask drops futures when it optimises."""
    if not any(_is_future(task) for task in dict(array.__dask_graph__()).values()):
        (array,) = sys.modules["dask"].optimize(array)  # whoever made the array imported it
    return dict(array.__dask_graph__()), array.__dask_keys__()


_is_future = partial(is_made_by, "distributed", "Future")


def _fetched(task: Any) -> Any:
    """The task; what a cluster holds already, after ``persist``, is fetched and not computed again."""
    return task.result() if _is_future(task) else task


def _unpickled(graph: bytes) -> Dask:
    return Dask(pickle.loads(graph))
