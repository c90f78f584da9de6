"""An explicit list of labellings, searched exactly."""

from __future__ import annotations

from typing import Any

import numpy as np

from aced._check import class_count, whole
from aced._errors import InvalidInput
from aced._types import Array, Codes, Float32
from aced._workers import PerRow, Workers
from aced.oracles._base import Candidates, Hypotheses, Oracle, Scorer, given_labels, tally_all
from aced.oracles._weights import Weights
from aced.pool import Pool


class FiniteHypotheses:
    """Members of a finite class, by number."""

    def __init__(self, pool: Pool, labelings: Codes, which: Array) -> None:
        self.pool, self.labelings, self.which = pool, labelings, which

    def __len__(self) -> int:
        return len(self.which)

    def labels(self, index: int) -> Codes:
        return self.labelings[self.which, self.pool.slices[index]].T

    def labeller(self) -> Scorer:
        return given_labels, (PerRow(self.labelings[self.which].T),)

    def scorer(self) -> None:
        return None

    def take(self, which: Array) -> FiniteHypotheses:
        return FiniteHypotheses(self.pool, self.labelings, self.which[which])

    def to_array(self) -> Array:
        return self.which


class FiniteOracle(Oracle):
    """Exact argmax over the rows of ``labelings``, shape (hypotheses, n), with values 0 … K-1.

    ``classes`` is K (default: one more than the largest label, at least 2).
    """

    exact = True

    def __init__(
        self,
        pool: Pool,
        labelings: Any,
        *,
        classes: int | None = None,
        workers: Workers | None = None,
    ) -> None:
        table = np.asarray(labelings)
        if table.ndim != 2 or table.shape[1] != len(pool) or len(table) == 0:
            raise InvalidInput(
                "labelings", f"must have shape (hypotheses, {len(pool)}), got {table.shape}"
            )
        codes = table.astype(np.int8) if table.dtype.kind in "biuf" else np.full((1, 1), -1, np.int8)
        if (codes < 0).any() or not (codes == table).all():
            raise InvalidInput(
                "labelings", "must hold codes of classes: 0 and 1 (or False and True), 2, … up to 127"
            )
        most = max(2, int(codes.max()) + 1)
        self.classes = class_count(
            "classes", most if classes is None else whole("classes", classes, most)
        )
        self.pool, self.labelings = pool, codes
        self.workers = workers or Workers()

    def prepare(self, weights: Weights) -> FiniteMaximiser:
        return FiniteMaximiser(self, weights)

    def initial(self) -> FiniteHypotheses:
        return FiniteHypotheses(self.pool, self.labelings, np.zeros(1, np.int64))

    def from_array(self, parameters: Array) -> FiniteHypotheses:
        return FiniteHypotheses(self.pool, self.labelings, np.asarray(parameters, dtype=np.int64))


class FiniteMaximiser:
    """One matrix product a call and class: all weight vectors against all labellings."""

    def __init__(self, oracle: FiniteOracle, weights: Weights) -> None:
        self.oracle, self.weights = oracle, weights

    def maximise(self, r: Float32, anchor: Hypotheses | None = None) -> list[Candidates]:
        oracle, weights = self.oracle, self.weights

        def one(index: int) -> tuple[Array]:
            table = oracle.labelings[:, oracle.pool.slices[index]].T  # (rows, hypotheses)
            found, v = np.zeros((len(r), table.shape[1])), weights.block(index, r).astype(float)
            for c in range(1, weights.classes):
                found += v[:, (c - 1) * len(r) : c * len(r)].T @ (table == c).astype(float)
            return (found,)

        (scores,) = oracle.workers.sum(one, oracle.pool.blocks)  # (B, hypotheses)
        found = FiniteHypotheses(oracle.pool, oracle.labelings, scores.argmax(axis=1))
        return [Candidates(found, tally_all(weights, found, oracle.workers))]

    def leverage(self, r: float, pool: Pool | None = None) -> None:
        return None
