"""A folder of .npy files, as one matrix in the order of their names."""

from __future__ import annotations

import threading
from collections import OrderedDict
from pathlib import Path
from typing import Any

import numpy as np

from aced._errors import InvalidInput
from aced._types import Array, Float32, Ints
from aced.pool._concatenated import Concatenated
from aced.pool._convert import refuse_dtype
from aced.pool._mapped import Mapped, header
from aced.pool._stored import changed, on_disk, stamp

MOST_OPEN = 64
"""How many maps are open at a time: each takes a file descriptor."""


class NpyFolder(Concatenated):
    """Rows of several .npy files; pickled as their names and numbers of rows."""

    def __init__(
        self, folder: str, names: tuple[str, ...], counts: tuple[int, ...], features: int
    ) -> None:
        super().__init__(np.concatenate([[0], np.cumsum(counts)]).astype(np.int64), features)
        self._folder, self._files, self._counts = folder, names, counts
        self._maps: OrderedDict[int, Mapped] = OrderedDict()
        self._lock = threading.Lock()

    @classmethod
    def open(cls, paths: list[Path]) -> NpyFolder:
        found = [(path, *header(path)) for path in paths]
        for path, shape, dtype in found:
            if len(shape) != 2:
                raise InvalidInput(
                    "rows",
                    f"{path} must be two-dimensional (rows x features), "
                    f"got {len(shape)} dimension(s); keep other files elsewhere",
                )
            refuse_dtype(dtype)
            if shape[1] != found[0][1][1]:
                raise InvalidInput(
                    "rows",
                    f"{paths[0]} has {found[0][1][1]} columns and {path} has {shape[1]}; "
                    "files of one pool must have the same",
                )
        if found[0][1][1] == 0:
            raise InvalidInput("rows", f"there are no features in {paths[0]}; add at least one column")
        filled = [(path, shape) for path, shape, _ in found if shape[0]]
        if not filled:
            raise InvalidInput("rows", f"the pool is empty; {paths[0]} has no rows")
        names = tuple(path.name for path, _ in filled)
        counts = tuple(shape[0] for _, shape in filled)
        return cls(str(paths[0].parent.resolve()), names, counts, int(filled[0][1][1]))

    def __reduce__(self) -> tuple[Any, ...]:
        return NpyFolder, (self._folder, self._files, self._counts, self.shape[1])

    @property
    def kept(self) -> str:
        return on_disk([Path(self._folder, name) for name in self._files], Path(self._folder))

    def _rows(self, index: int, rows: slice | Ints) -> Float32:
        mapped = self._file(index)
        return mapped.read(rows.start, rows.stop) if isinstance(rows, slice) else mapped.take(rows)

    def _raw(self, index: int, rows: slice) -> Array:
        return self._file(index).raw(rows.start, rows.stop)

    def _file(self, index: int) -> Mapped:
        with self._lock:
            mapped = self._maps.pop(index, None)
            if mapped is None:
                path = Path(self._folder, self._files[index])
                stamp(path)  # refuses a file that is gone
                mapped = Mapped.open(path)
                if mapped.shape != (self._counts[index], self.shape[1]):
                    raise changed(path)
                while len(self._maps) >= MOST_OPEN:
                    self._maps.popitem(last=False)
            self._maps[index] = mapped
        return mapped
