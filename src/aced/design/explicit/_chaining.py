"""The design of fixed-confidence ACED (eq. design_chaining, in the appendix's form):

    J(λ) = E[max_{h,h'} (h - h')·s ζ]² + weight max_{h,h'} ‖h - h'‖²_{A(λ)^-1}

with weight = 2 log(1/δ_k). The first term is (2F)² with F the width of the sets, since ζ
and -ζ are alike; the main text has F² there.

Stationarity, with G the sensitivity of F and c a mixture of farthest pairs, reads

    λ_i² ∝ 4 F G_i λ_i^(1/2) + weight c_i.

The mixture c = Σ q_hh' 1{h ≠ h'} follows from multiplicative weights: q_hh' grows with the
pair's distance at the current λ, relative to the mean over q.

The paper states and proves all this for two classes, and ``chaining_design`` takes no more. The
``diameter_design`` needs the distances alone, so it takes any number of classes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from aced._errors import InvalidInput
from aced._labelings import classes_in, corners, only_two, to_labelings
from aced._types import Array, Bools, Float64
from aced._workers import Workers
from aced.design.explicit._allocation import Allocation, spread
from aced.design.explicit._minimax import squared_distances
from aced.design.explicit._width import ERRORS, fixed_point, inverse_root, width


@dataclass(frozen=True)
class ChainingDesign:
    """λ, J(λ) with a lower bound on its minimum, and the two parts of J."""

    allocation: Allocation
    width: float  # E max_{h,h'} (h - h')·s ζ
    diameter: float  # max_{h,h'} ‖h - h'‖


def chaining_design(
    sets: Array,
    weight: float,
    seed: int,
    *,
    pairs: int = 512,
    rounds: int = 60,
    final_pairs: int = 4096,
    workers: Workers | None = None,
) -> ChainingDesign:
    """argmin over λ of J(λ), for at least two different sets of shape (H, n)."""
    only_two("sets", classes_in(sets), "the chaining design is stated")
    used, points = _apart(sets)
    shared = points[:, :, 0]
    directions = shared - shared[0]
    seeds = np.random.SeedSequence(seed).generate_state(rounds + 1, np.uint64).tolist()
    inner = np.full(shared.shape[1], 1 / shared.shape[1])
    mean = np.zeros(len(inner))
    mixture = PairMixture(points)
    workers = workers or Workers()
    with workers.session():
        for number in range(rounds):
            found = width(directions, inner, pairs, seeds[number], workers=workers)
            mean += max(0.1, 1 / (number + 1)) * (found.sensitivity - mean)
            mixture.towards_far(inner)
            target = _stationary(mean, mixture.rows, weight, inner)
            inner = target if number < 2 else 0.5 * inner + 0.5 * target
        last = width(directions, inner, final_pairs, seeds[rounds], workers=workers)
    diameter = mixture.farthest(inner)
    value = 4 * last.value**2 + weight * diameter
    # every λ' has J(λ') ≥ 4 (G·s')² + weight c·s'²; the minimum is lowered by three standard errors
    gain = last.certain()
    bound = _stationary(gain, mixture.rows, weight, inner, rounds=400)
    stderr = 8 * last.value * last.stderr
    lower = 4 * float(gain @ inverse_root(bound)) ** 2 - ERRORS * stderr
    lower += weight * float((mixture.rows / np.maximum(bound, 1e-300)).sum())
    lower = max(0.0, lower * (1 - 1e-4))
    allocation = Allocation(spread(inner, used), value, min(lower, value), stderr)
    return ChainingDesign(allocation, 2 * last.value, float(np.sqrt(diameter)))


def diameter_design(sets: Array, rounds: int = 200, tolerance: float = 0.005) -> Allocation:
    """argmin over λ of max_{h,h'} ‖h - h'‖²: the design of a naive union bound over pairs.

    λ ∝ sqrt(c) for the mixture c of pairs; (Σ sqrt(c_i))² is a lower bound for every c.
    """
    used, points = _apart(sets)
    mixture = PairMixture(points)
    inner = np.full(points.shape[1], 1 / points.shape[1])
    best, lower = Allocation(inner, np.inf, 0.0), 0.0
    with Workers(1).session():  # small products; the same on any number of threads
        for _ in range(rounds):
            mixture.towards_far(inner)
            root = np.sqrt(np.maximum(mixture.rows, 1e-12))
            inner = root / root.sum()
            lower = max(lower, float(np.sqrt(mixture.rows).sum()) ** 2)
            value = mixture.farthest(inner)
            if value < best.value:
                best = Allocation(inner, value, 0.0)
            if best.value <= lower * (1 + tolerance):
                break
    return Allocation(spread(best.lam, used), best.value, min(lower, best.value))


class PairMixture:
    """Weights q over all pairs of labelings, and c_i = Σ q_hh' 1{h(i) ≠ h'(i)}.

    ``points`` are the corners of their classes, (H, n, K - 1).
    """

    def __init__(self, points: Float64) -> None:
        self.points = points
        self.lengths = np.square(points).sum(axis=2)  # (H, n)
        count = len(points)
        self.weights = (1 - np.eye(count)) / (count * (count - 1))
        self.rows = self._rows()

    def towards_far(self, lam: Float64) -> None:
        """One multiplicative step of q towards the pairs that are far apart at λ."""
        squares = self._squares(lam)
        self.weights *= np.square(squares / squares.max())
        self.weights /= self.weights.sum()
        self.rows = self._rows()

    def farthest(self, lam: Float64) -> float:
        """max_{h,h'} ‖h - h'‖²."""
        return float(self._squares(lam).max())

    def _squares(self, lam: Float64) -> Float64:
        return squared_distances(self.points, 1 / np.maximum(lam, 1e-12 / len(lam)))

    def _rows(self) -> Float64:
        alone = self.weights.sum(axis=1) @ self.lengths
        flat = self.points.reshape(len(self.points), -1)
        both = np.einsum("hj,hj->j", self.weights @ flat, flat).reshape(len(alone), -1).sum(axis=1)
        return np.asarray(np.maximum(2 * (alone - both), 0.0))


def _apart(sets: Array) -> tuple[Bools, Float64]:
    """The rows in which some two labelings differ, and the corners of their classes on those rows."""
    table = to_labelings("sets", sets)
    used = np.asarray((table != table[0]).any(axis=0))
    if not used.any():
        raise InvalidInput("sets", "must hold at least two different sets")
    return used, corners(table[:, used])


def _stationary(
    sensitivity: Float64, mixture: Float64, weight: float, lam: Float64, rounds: int = 20
) -> Float64:
    """argmin over λ of 4 (G·s)² + weight c·s², by its fixed point."""
    gain = np.maximum(sensitivity, 0.0)
    if weight <= 0:
        return fixed_point(gain, lam)
    lam = np.maximum(lam, 1e-12 / len(lam))
    for _ in range(rounds):
        reach = float(gain @ inverse_root(lam))
        target = np.sqrt(4 * reach * gain * np.sqrt(lam) + weight * mixture)
        target = np.maximum(target / target.sum(), 1e-15)
        lam = target / target.sum()
    return lam
