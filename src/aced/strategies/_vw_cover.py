"""Online Active Cover as Vowpal Wabbit runs it (``--active_cover``): the published program itself.

It decides while it learns whether it asks for a row, so the row's label must be there already;
it even judges the row with it (see :mod:`aced.strategies._cover`, which does not). So it runs
only where every label is known, in a simulation, to compare with.

The weight that it leaves on a learnt example says what it did: 0 skipped, 1 learnt with its own
prediction, 1/p asked for with probability p. The first three rows are always asked for.

A saved model lacks λ, so the program is never saved: a restored strategy shows a new one the
same rows in the same order, which leads to the same place.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from aced._errors import InvalidInput
from aced._types import Array, Ints, Rng
from aced.pool import Pool
from aced.strategies._base import NOTHING, Plan, Strategy, View
from aced.strategies._cover import check_options
from aced.strategies._online import refuse_sparse


class VowpalCover(Strategy):
    """A stream over the pool, ``passes`` times in random order, through Vowpal Wabbit.

    ``labels``: 0 or 1 for each row of the pool; ``aced run`` and ``aced bench`` reveal theirs.
    """

    name = "oac-vw"
    stream = True
    needs_all_labels = True

    def __init__(
        self,
        c0: float = 0.03,
        *,
        cover: int = 12,
        passes: int = 1,
        rate: float = 1.0,
        labels: Any = None,
    ) -> None:
        check_options(c0, cover, passes, rate)
        _vowpalwabbit()
        self.c0, self.cover, self.passes, self.rate = float(c0), cover, passes, float(rate)
        self._labels = None if labels is None else _codes(labels)
        self._seed: int | None = None
        self._k = 0
        self._stream: Iterator[tuple[int, int, float]] | None = None

    def reveal(self, labels: Any) -> None:
        """Take the label, 0 or 1, of every row, and begin anew."""
        self._labels = _codes(labels)
        self.restore({})

    def plan(self, view: View, size: int, rng: Rng) -> Plan:
        refuse_sparse(view.pool, self.name)
        if self._stream is None:
            labels = self._known(len(view.pool))
            if self._seed is None:
                self._seed = int(rng.integers(2**31))
            self._stream = self._asked(view.pool, labels, self._seed)
        for k, row, probability in self._stream:
            if k <= self._k:  # before the restore
                continue
            self._k = k
            if view.open[row]:
                return Plan(np.array([row], dtype=np.int64), np.array([probability]), {"stream": k})
        return NOTHING

    def _known(self, rows: int) -> Ints:
        if self._labels is None:
            raise InvalidInput(
                "strategy",
                "oac-vw needs the label of every row before it asks, as simulations have; "
                "pass VowpalCover(labels=…), or use oac",
            )
        if len(self._labels) != rows:
            raise InvalidInput("labels", f"got {len(self._labels)} labels for a pool of {rows} rows")
        return self._labels

    def _asked(self, pool: Pool, labels: Ints, seed: int) -> Iterator[tuple[int, int, float]]:
        """Rows asked for: place in the stream from 1, row, probability."""
        program = Program(self.c0, cover=self.cover, rate=self.rate, seed=seed)
        rng = np.random.default_rng(seed)
        k = 0
        for _ in range(self.passes):
            for row in rng.permutation(len(pool)).tolist():
                k += 1
                probability = program.learn(pool.rows(np.array([row]))[0], int(labels[row]))
                if probability > 0:
                    yield k, row, probability

    # -- saving -----------------------------------------------------------------------

    def options(self) -> dict[str, Any] | None:
        return {"c0": self.c0, "cover": self.cover, "passes": self.passes, "rate": self.rate}

    def state(self) -> dict[str, Array]:
        labels = {} if self._labels is None else {"labels": self._labels}
        return labels if self._seed is None else {**labels, "stream": np.array([self._seed, self._k])}

    def restore(self, state: Mapping[str, Array]) -> None:
        self._labels = state.get("labels", self._labels)
        self._seed, self._k, self._stream = None, 0, None
        if "stream" in state:
            self._seed, self._k = state["stream"].tolist()


class Program:
    """Vowpal Wabbit's active cover, shown one row at a time."""

    def __init__(self, c0: float, *, cover: int = 12, rate: float = 1.0, seed: int = 0) -> None:
        self._workspace = _vowpalwabbit().Workspace(
            f"--active_cover --mellowness {c0} --cover {cover} --loss_function logistic --binary "
            f"-l {rate} --random_seed {seed} --quiet"
        )
        self._learnt = 0
        self.skipped = False  # whether the last row was in the region and not drawn

    def learn(self, x: Array, label: int) -> float:
        """The probability with which the row was asked for, 0 if it was not."""
        example = self._example(x)
        example.set_label_string("1" if label else "-1")
        self._workspace.learn(example)
        weight = float(example.get_simplelabel_weight())
        self._workspace.finish_example(example)
        self._learnt += 1
        self.skipped = weight == 0
        return 1 / weight if weight > 1 or self._learnt <= 3 else 0.0

    def predict(self, x: Array) -> int:
        """The label, 0 or 1, that its classifier gives the row; for the end: it counts as a row."""
        example = self._example(x)
        said = self._workspace.predict(example)
        self._workspace.finish_example(example)
        return int(said > 0)

    def _example(self, x: Array) -> Any:
        return self._workspace.example({" ": [(j, v) for j, v in enumerate(x.tolist()) if v != 0]})


def _vowpalwabbit() -> Any:
    try:
        import vowpalwabbit
    except ImportError as error:
        raise InvalidInput(
            "strategy", "oac-vw needs vowpalwabbit; pip install 'aced[vw]', or use oac"
        ) from error
    return vowpalwabbit


def _codes(labels: Any) -> Ints:
    found = np.asarray(labels)
    if found.ndim != 1 or not np.isin(found, (0, 1)).all():
        raise InvalidInput("labels", "must be 0 or 1, one for each row of the pool")
    return found.astype(np.int64)
