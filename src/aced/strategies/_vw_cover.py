"""Online Active Cover as Vowpal Wabbit runs it (``--active_cover``): the published program itself.

The program decides whether to ask for a row while it learns from the row, so it needs the label before
it asks. It even judges the row by the label, which :mod:`aced.strategies._cover` does not. So this
strategy runs only in simulations, where every label is known; it is there for comparison.

The weight that the program leaves on an example tells what it did. 0: it skipped the row. 1: it learnt
its own prediction. 1/p: it asked for the row with probability p. It always asks for the first three.

A saved model of the program lacks λ, so the program is never saved. A restored strategy shows the same
rows in the same order to a new program, which comes to the same state.
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

    ``labels`` has 0 or 1 for each row of the pool; ``aced run`` and ``aced bench`` pass it themselves.
    The other options are as in ``ActiveCover``.
    """

    name = "oac-vw"
    stream = True
    two_classes = True
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
            if k <= self._k:  # asked for before the state was saved
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
        """The rows asked for: each place in the stream (from 1), the row, its draw probability."""
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
        """Show the row; return the probability with which it was asked for, 0 if it was not."""
        example = self._example(x)
        example.set_label_string("1" if label else "-1")
        self._workspace.learn(example)
        weight = float(example.get_simplelabel_weight())
        self._workspace.finish_example(example)
        self._learnt += 1
        self.skipped = weight == 0
        return 1 / weight if weight > 1 or self._learnt <= 3 else 0.0

    def predict(self, x: Array) -> int:
        """The classifier's label, 0 or 1, of the row. Use it at the end only: it counts as a row."""
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
