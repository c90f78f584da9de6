"""The representations of one pool: chosen by labels, lifted when they are needed, fitted."""

from __future__ import annotations

from dataclasses import replace
from typing import Any
from zlib import crc32

import numpy as np

from aced._check import choice as one_of
from aced._errors import InvalidInput
from aced._types import Array, Ints
from aced._workers import Workers
from aced.pool import Pool
from aced.representations._choice import Choice, Known, choose
from aced.representations._column_weights import CONSTANT
from aced.representations._lift import Lift, make_lift, median_distance
from aced.representations._lifted import can_lift, lifted_pool
from aced.representations._model import Model, fit
from aced.representations._scaling import Scaling, scalings

WANTED = {"auto": ("linear", "rbf", "weighted"), "linear": ("linear",), "rbf": ("rbf",)}
"""What users may ask for, and the kinds to choose from."""
MOST_COMPONENTS, FEWEST_COMPONENTS = 512, 256
NUMBERS = 2**25
"""A lifted pool has about this many numbers, but never fewer components than FEWEST_COMPONENTS."""
SAMPLE = 500
"""The median distance is that of so many rows."""


def components(rows: int) -> int:
    """How many landmarks a pool with so many rows gets.

    >>> components(300), components(10_000), components(100_000), components(1_000_000)
    (300, 512, 335, 256)
    """
    return min(rows, max(FEWEST_COMPONENTS, min(MOST_COMPONENTS, NUMBERS // rows)))


def checksum(positions: Ints, codes: Ints) -> int:
    """A number that tells labels of rows from others; it is never 0."""
    return 1 + crc32(np.ascontiguousarray([positions, codes], dtype="<i8").tobytes())


class Representations:
    """Representations of a pool's rows; ``seed`` decides the landmarks, and nothing else is random."""

    def __init__(self, pool: Pool, workers: Workers, wanted: str = "auto", seed: int = 0) -> None:
        one_of("representation", wanted, WANTED)
        self.pool, self.workers = pool, workers
        self.kinds = WANTED[wanted]
        if not can_lift(pool, components(len(pool))):
            if "linear" not in self.kinds:
                kind = "sparse rows" if pool.sparse else "so large an array on a cluster"
                raise InvalidInput("representation", f'{kind} cannot be lifted; use "linear" or "auto"')
            self.kinds = ("linear",)
        rng = np.random.default_rng([seed, len(pool)])
        self.landmarks: Ints = rng.permutation(len(pool))[: components(len(pool))].astype(np.int64)
        self._scalings: tuple[Scaling, ...] | None = None
        self._sample: Array | None = None
        self._held: tuple[tuple[object, ...], Pool, Lift] | None = None

    def lift_from(self, landmarks: Ints) -> None:
        """Take these rows as landmarks."""
        if not np.array_equal(landmarks, self.landmarks):
            self.landmarks, self._sample, self._held = landmarks, None, None

    @property
    def start(self) -> Choice:
        """The representation before there are labels of two classes."""
        return Choice(self.kinds[0])

    @property
    def scalings(self) -> tuple[Scaling, ...]:
        if self._scalings is None:
            self._scalings = scalings(self.pool, self.workers)
        return self._scalings

    def choose(self, kept: Choice | None, positions: Ints, codes: Ints) -> Choice:
        """The choice for these labels, after ``kept``: a function of these alone. It is ``kept`` where
        that was made from the same labels."""
        places = np.unique(codes, return_inverse=True)[1]
        if not len(codes) or places.max() < 1:
            return kept or self.start
        seen = checksum(positions, places)
        if kept is not None and kept.seen == seen:
            return kept
        if self._sample is None:
            self._sample = self.pool.rows(self.landmarks[:SAMPLE])
        known = Known(self.pool.rows(positions), places, self._sample)
        return replace(choose(kept, known, self.scalings, self.kinds), seen=seen)

    def pool_of(self, choice: Choice) -> Pool:
        """The rows as the choice represents them; the lifted rows of the last choice are kept."""
        return self.pool if choice.kind == "linear" else self._lifted(choice)[0]

    def lift_of(self, choice: Choice) -> Lift | None:
        """What lifts rows; None where they stay as they are."""
        return None if choice.kind == "linear" else self._lifted(choice)[1]

    def _lifted(self, choice: Choice) -> tuple[Pool, Lift]:
        key = choice.same_rows
        if self._held is None or self._held[0] != key:
            self._held = None  # room for the next
            lift = self._lift(choice)
            self._held = key, lifted_pool(self.pool, lift, self.workers), lift
        return self._held[1:]

    def _lift(self, choice: Choice) -> Lift:
        scaling = self.scalings[choice.scaling]
        assert scaling.centre is not None
        rows = self.pool.rows(self.landmarks)
        factor = scaling.factor.astype(float)
        factor = factor if choice.weights is None else factor * choice.weights
        sample = (rows[:SAMPLE].astype(float) - scaling.centre) * factor
        factor = factor * np.sqrt(choice.width / median_distance(sample))
        return make_lift(scaling.centre, factor.astype(np.float32), rows)

    def fit(self, choice: Choice, positions: Ints, codes: Ints) -> Model:
        """The model for labels of two classes or more."""
        present, places = np.unique(codes, return_inverse=True)
        rows = self.pool.rows(positions)
        if choice.kind == "linear":
            return self._fit_linear(choice, rows, present, places)
        pool, lift = self._lifted(choice)
        found = fit(lift.apply(rows), places, len(present), CONSTANT, choice.trust)
        weights = found.weights.T.copy()
        weights[:, -1] *= CONSTANT
        penalty = np.full(lift.columns, found.alpha)
        parts = found.slope, found.error, found.left_out, found.known
        return Model(pool, present, weights, penalty, *parts)

    def _fit_linear(self, choice: Choice, rows: Any, present: Ints, places: Ints) -> Model:
        scaling = self.scalings[choice.scaling]
        found = fit(scaling.apply(rows), places, len(present), scaling.constant)
        own, moved = scaling.undo(found.weights[:-1].T)
        offsets = scaling.constant * found.weights[-1] + moved
        factor = scaling.factor.astype(float)
        used = factor > 0
        penalty = np.zeros(len(factor))
        penalty[used] = found.alpha / np.square(factor[used])
        parts = found.slope, found.error, found.left_out, found.known
        return Model(self.pool, present, np.column_stack([own, offsets]), penalty, *parts)
