"""What the two minimisers of F share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from aced._types import Float64, Rng
from aced.design._certificate import Certificate
from aced.design._problem import Incumbent, Problem, Search
from aced.oracles import GaussianNoise

Report = Callable[[str], None]


@dataclass(frozen=True)
class Design:
    """λ with its certificate, the incumbent at the end, and how the solver got there."""

    lam: Float64
    certificate: Certificate
    incumbent: Incumbent
    trace: tuple[Certificate, ...]
    calls: int
    stopped: str
    rows: int | None = None
    """How many rows the sample had; None if λ was found on the whole pool."""
    loss: float | None = None
    """The share of F that the sample is estimated to have cost."""


class Solver(Protocol):
    """argmin over λ of F(λ) = E max_h f(λ; h, ζ)."""

    def solve(
        self, problem: Problem, rng: Rng, start: Float64 | None = None, report: Report | None = None
    ) -> Design: ...


def draw_noise(problem: Problem, draws: int, rng: Rng) -> GaussianNoise:
    """Fresh ζ_1 … ζ_B."""
    oracle = problem.oracle
    return GaussianNoise(oracle.pool, draws, int(rng.integers(2**63)), oracle.classes)


def evaluate(
    problem: Problem, lam: Float64, draws: int, rng: Rng, search: Search
) -> tuple[float, float]:
    """F(λ) and its standard error over fresh draws."""
    found = search(problem, lam, draw_noise(problem, draws, rng))
    return found.value, found.stderr
