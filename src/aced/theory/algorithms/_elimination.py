"""What the fixed-confidence algorithms share: halve the width, drop what is beaten.

Round k draws enough labels to bring the width of all comparisons down to n 2^(-k-1) with
probability 1 - δ_k, δ_k = δ / (2k²), and drops every h that some h' beats by that much. If all
these bounds hold, h* stays, and every set that stays has a gap below n 2^(-k).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import numpy as np

from aced._check import probability, whole
from aced._errors import InvalidInput
from aced._types import Array, Float64, Rng
from aced.estimators import Sample
from aced.theory._bandit import Bandit
from aced.theory.algorithms._result import Result

MOST_ROUNDS = 60
MOST_LABELS = 2**40
"""The cap when none is given; without a cap, a run with two equally good best sets would not end."""


class Phase(Protocol):
    """A round's design for the sets still alive, and its comparisons."""

    lam: Float64

    def draws(self, width: float) -> int:
        """How many labels it takes until comparisons are off by at most ``width``."""

    def lead(self, sample: Sample) -> Float64:
        """By how much each set is beaten by its strongest rival, (alive,)."""


Planner = Callable[[Array, float], Phase]
"""A function from the sets alive and δ_k to the round's phase; equal inputs give equal phases."""


class Remembered:
    """A planner that keeps its phases: runs on one instance meet the same sets again."""

    def __init__(self, planner: Planner) -> None:
        self.planner = planner
        self._kept: dict[tuple[tuple[int, ...], bytes, float], Phase] = {}

    def __call__(self, sets: Array, delta: float) -> Phase:
        key = (sets.shape, sets.tobytes(), delta)
        if key not in self._kept:
            self._kept[key] = self.planner(sets, delta)
        return self._kept[key]


def eliminate(
    problem: Bandit,
    planner: Planner,
    delta: float,
    rng: Rng,
    epsilon: float = 0.0,
    cap: int | None = None,
) -> Result:
    """Run until one set is left, all that are left are within ε rows, or the cap is met."""
    check_arguments(delta, epsilon, cap)
    alive = np.arange(len(problem))
    drawn = np.zeros(problem.n, np.int64)
    chosen = 0
    for k in range(1, MOST_ROUNDS + 1):
        if len(alive) == 1:
            return Result(int(alive[0]), int(drawn.sum()), int((drawn > 0).sum()), k - 1)
        phase = planner(problem.sets[alive], delta / (2 * k * k))
        width = problem.n * 2.0 ** -(k + 1)
        wanted = max(1, phase.draws(width))
        room = MOST_LABELS if cap is None else cap - int(drawn.sum())
        size = int(min(wanted, room))
        if size > 0:
            sample = problem.draw(phase.lam, size, rng)
            drawn += sample.counts
            lead = phase.lead(sample)
            chosen = int(alive[int(lead.argmin())])
        if wanted > room:
            return Result(chosen, int(drawn.sum()), int((drawn > 0).sum()), k, finished=False)
        alive = alive[lead < max(width, lead.min() + 1e-12)]  # sets may beat each other in a circle
        if 2 * width <= epsilon:
            break
    return Result(chosen, int(drawn.sum()), int((drawn > 0).sum()), k, finished=2 * width <= epsilon)


def check_constant(constant: float | None) -> None:
    if constant is not None and not constant > 0:
        raise InvalidInput("constant", f"must be positive or None (certified), got {constant}")


def check_arguments(delta: float, epsilon: float, cap: int | None) -> None:
    probability("delta", delta)
    if not epsilon >= 0:
        raise InvalidInput("epsilon", f"must not be negative, got {epsilon}")
    if cap is not None:
        whole("cap", cap, 1)
