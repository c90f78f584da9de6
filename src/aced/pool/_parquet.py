"""Parquet files, decoded a row group at a time.

A row group above CHUNK_BYTES as float32 is decoded in parts. The parts come in order only, so a
decoder that is inside a group is kept for the thread that wants the next part.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from aced._errors import InvalidInput
from aced._types import Array, Ints
from aced.pool._blocks import BLOCK_ROWS
from aced.pool._chunk_cache import CHUNK_BYTES, CachedChunks
from aced.pool._parquet_decoding import (
    Form,
    decoded,
    form_of,
    open_parquet,
    read_column,
    refuse_other_columns,
)
from aced.pool._stored import Stamp, changed, on_disk, room_for_many, stamp

DECODER_BYTES = 512 * 1024**2
"""The memory of all waiting decoders; each may hold two pages of 1 MiB per column."""
MOST_FOOTERS = 32


class Parquet(CachedChunks):
    """Rows of one or more files, in order; pickled as their names and forms."""

    def __init__(self, paths: tuple[str, ...], forms: tuple[Form, ...]) -> None:
        self._paths, self._forms = paths, forms
        self.names = list(forms[0].columns)
        p = len(self.names)
        starts, self._groups, self._of = _plan(forms, p)  # chunk -> place in _groups
        self._first = np.searchsorted(self._of, np.arange(len(self._groups)))  # the reverse
        self._stamps: dict[int, Stamp] = {}
        self._footers: OrderedDict[int, Any] = OrderedDict()
        self._waiting: list[tuple[int, Iterator[Array]]] = []  # next chunk, and its decoder
        self._most_waiting = max(2, min(8, DECODER_BYTES // (p * 2**21)))
        super().__init__(starts, p, Path(paths[0]).parent if len(paths) > 1 else paths[0])

    @classmethod
    def open(cls, paths: list[Path]) -> Parquet:
        forms: tuple[Form, ...] = ()
        for path in paths:
            with open_parquet(path) as file:
                form = form_of(file)
            if forms:
                refuse_other_columns(paths[0], forms[0], path, form)
                form = form._replace(columns=forms[0].columns)  # one list of names when pickled
            forms = (*forms, form)
        if not forms[0].columns:
            raise InvalidInput("rows", f"there are no features in {paths[0]}; add at least one column")
        if not any(sum(form.groups) for form in forms):
            raise InvalidInput("rows", f"the pool is empty; {paths[0]} has no rows")
        rows = sum(sum(form.groups) for form in forms)
        room_for_many(rows, f"{paths[0]} and the files beside it claim {rows} rows")
        return cls(tuple(str(path.resolve()) for path in paths), forms)

    def __reduce__(self) -> tuple[Any, ...]:
        return Parquet, (self._paths, self._forms)

    @property
    def kept(self) -> str:
        return on_disk([Path(path) for path in self._paths], Path(self._name))

    def carried(self) -> Array | None:
        """The pandas index that the files carry: as one column, or as a range in a single file."""
        index = self._forms[0].ids
        if not index or any(form.ids != index for form in self._forms):
            return None
        if len(index) > 1:
            raise InvalidInput(
                "ids", f"{self._paths[0]} has an index of {len(index)} levels; pass ids, one per row"
            )
        if not isinstance(index[0], dict):
            files = ((self._file(place, whole=True), path) for place, path in enumerate(self._paths))
            return np.concatenate([read_column(file, path, index[0]) for file, path in files])
        try:
            found = range(*(index[0][key] for key in ("start", "stop", "step")))
        except (KeyError, TypeError, ValueError):  # a note that pandas did not write
            return None
        size = self.shape[0]
        fits = len(self._paths) == 1 and bool(found[size - 1 : size]) and not found[size : size + 1]
        return np.array(found) if fits and (found.start, found.step) != (0, 1) else None

    def _lane(self, index: int) -> int:
        return int(self._of[index])

    def _decode(self, index: int) -> Iterator[tuple[int, Array]]:
        place, decoder = self._decoder(index)
        group = self._of[index]
        for chunk in decoder:
            if index - place < 3:  # threads a little behind want these chunks
                yield place, chunk
            place += 1
            if place > index:
                break
        if place < len(self._of) and self._of[place] == group:
            with self._lock:
                self._waiting.append((place, decoder))
                del self._waiting[: -self._most_waiting]

    def _decoder(self, index: int) -> tuple[int, Iterator[Array]]:
        """The nearest decoder that is before this chunk in its group, else a new decoder."""
        group = int(self._of[index])
        first = int(self._first[group])
        with self._lock:
            before = [item for item in self._waiting if first < item[0] <= index]
            if before:
                nearest = max(before, key=lambda item: item[0])
                self._waiting.remove(nearest)
                return nearest
        return first, self._new_decoder(first, np.float32)

    def _new_decoder(self, first: int, dtype: Any) -> Iterator[Array]:
        file, group = self._groups[int(self._of[first])]
        last = int(np.searchsorted(self._of, self._of[first], side="right"))
        sizes = np.diff(self.starts[first : last + 1]).tolist()
        columns = self.names if self._forms[file].ids else None
        opened = self._file(file, whole=len(sizes) == 1)
        return decoded(opened, self._paths[file], group, sizes, columns, len(self.names), dtype)

    def _raw(self, index: int, rows: slice) -> Array:
        first = int(self._first[self._of[index]])
        decoder = self._new_decoder(first, np.float64)
        *_, chunk = (next(decoder) for _ in range(first, index + 1))
        found: Array = chunk[rows]
        return found

    def _file(self, place: int, whole: bool) -> Any:
        """Open a file for one decoder; the footer is parsed once, and a changed file is refused."""
        path = Path(self._paths[place])
        now = stamp(path)
        with self._lock:
            if self._stamps.setdefault(place, now) != now:
                raise changed(path)
            footer = self._footers.get(place)
        file = open_parquet(path, footer, whole)
        if footer is None:
            if form_of(file) != self._forms[place]:
                raise changed(path)
            with self._lock:
                self._footers[place] = file.metadata
                while len(self._footers) > MOST_FOOTERS:
                    self._footers.popitem(last=False)
        return file


def _plan(forms: tuple[Form, ...], features: int) -> tuple[Ints, list[tuple[int, int]], Ints]:
    """Starts of the chunks, the (file, group) pairs that have rows, and the pair of each chunk.

    Cuts inside a large group fall on multiples of ``step``, itself a multiple of a block's rows.
    """
    step = BLOCK_ROWS * max(1, CHUNK_BYTES // (4 * features * BLOCK_ROWS))
    starts, of = [0], list[int]()
    groups: list[tuple[int, int]] = []
    for file, form in enumerate(forms):
        for group, rows in enumerate(form.groups):
            if rows == 0:
                continue
            begin, end = starts[-1], starts[-1] + rows
            cuts = range((begin // step + 1) * step, end, step) if rows > step else ()
            starts += [*cuts, end]
            of += [len(groups)] * (len(cuts) + 1)
            groups.append((file, group))
    return np.array(starts, dtype=np.int64), groups, np.array(of, dtype=np.int64)
