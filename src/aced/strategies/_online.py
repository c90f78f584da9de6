"""Linear classifiers that learn from one weighted example at a time, several side by side.

They learn as Vowpal Wabbit does by default, with the logistic loss. Step sizes per feature come from
the sums of squared gradients (adaptive), features are measured against their largest value so far
(normalised), and one example of weight c has the effect of c examples of weight 1 (invariant).

For an example x with label y = ±1, weight c and margin f, let z = y f. Newton's method finds z' in

    z' + exp(z') = z + exp(z) + η c q,     q = Σ_i x_i² a_i · multiplier,

and y z' is the margin after the step: w moves along x_i a_i by y (z' - z) / q. Here
a_i = 1 / (sqrt(Σ c g² x_i²) · max|x_i|), multiplier = sqrt(Σ c / Σ c Σ_i (x_i / max|x_i|)²).

Three details decide how often a stream asks, and are as in Vowpal Wabbit. A weight shrinks when its
feature exceeds all earlier values, but f is the margin before that. Margins are cut to ±50. An
example whose loss is 0 in single precision, z > 24 ln 2, changes nothing.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from aced._errors import InvalidInput
from aced._jit import jit
from aced._types import Array, Float64
from aced.pool import Pool

LIMIT = 50.0
FLAT = 24 * math.log(2)

_jit = jit()


def refuse_sparse(pool: Pool, name: str) -> None:
    """Refuse a sparse pool for the strategy ``name``, which learns row by row."""
    if pool.sparse:
        raise InvalidInput(
            "pool",
            f"{name} needs dense rows, and this pool is sparse; use another strategy, such as aced",
        )


class Online:
    """``count`` classifiers with weights (count, features); the caller appends the constant feature."""

    def __init__(self, count: int, features: int, rate: float) -> None:
        self.rate = rate
        self.weights = np.zeros((count, features))
        self.squares = np.zeros((count, features))
        self.largest = np.zeros((count, features))
        self.totals = np.zeros((count, 2))  # Σ c Σ (x / max|x|)² and Σ c

    def margins(self, x: Float64) -> Float64:
        """w·x of every classifier, within ±50."""
        return np.asarray(np.clip(self.weights @ x, -LIMIT, LIMIT))

    def sensitivity(self, x: Float64, margin: float, y: float) -> float:
        """How far classifier 0's margin moves with the weight of one more example with label y."""
        squares, largest, totals = self.squares[0], self.largest[0], self.totals[0]
        return float(_sensitivity(squares, largest, x, margin, y, self.rate, totals))

    def learn(self, which: int, x: Float64, y: float, c: float) -> float:
        """Take a step of one classifier with label y = ±1 and weight c > 0; return its margin after."""
        w, squares, largest = self.weights[which], self.squares[which], self.largest[which]
        return float(_learn(w, squares, largest, x, y, c, self.rate, self.totals[which]))

    def state(self) -> dict[str, Array]:
        return {
            "weights": self.weights,
            "squares": self.squares,
            "largest": self.largest,
            "totals": self.totals,
        }

    def restore(self, state: Mapping[str, Array]) -> None:
        self.weights, self.squares = state["weights"].copy(), state["squares"].copy()
        self.largest, self.totals = state["largest"].copy(), state["totals"].copy()


@_jit
def _slope(z: float) -> float:
    """σ(-z), the size of the gradient at z = y f."""
    return 1.0 / (1.0 + math.exp(min(z, 700.0)))


@_jit
def _margin(weights: Float64, x: Float64) -> float:
    total = 0.0
    for i in range(len(x)):
        total += weights[i] * x[i]
    return min(max(total, -LIMIT), LIMIT)


@_jit
def _sensitivity(
    squares: Float64, largest: Float64, x: Float64, margin: float, y: float, rate: float, totals: Float64
) -> float:
    slope = _slope(y * margin) ** 2
    reach, relative = 0.0, 0.0
    for i in range(len(x)):
        if x[i] != 0.0:
            size = max(largest[i], abs(x[i]))
            reach += x[i] ** 2 / (np.sqrt(squares[i] + slope * x[i] ** 2 + 1e-30) * size)
            relative += (x[i] / size) ** 2
    whole = totals[0] + relative
    return rate * reach * (np.sqrt((totals[1] + 1.0) / whole) if whole > 0 else 1.0)


@_jit
def _learn(
    weights: Float64,
    squares: Float64,
    largest: Float64,
    x: Float64,
    y: float,
    c: float,
    rate: float,
    totals: Float64,
) -> float:
    z = y * _margin(weights, x)
    if z > FLAT:
        return y * z
    for i in range(len(x)):
        size = abs(x[i])
        if size > largest[i]:
            if largest[i] > 0:
                weights[i] *= largest[i] / size
            largest[i] = size
    slope = _slope(z)
    reach, relative = 0.0, 0.0
    for i in range(len(x)):
        if x[i] != 0.0:
            squares[i] += c * slope * slope * x[i] ** 2
            reach += x[i] ** 2 / (np.sqrt(squares[i] + 1e-30) * largest[i])
            relative += (x[i] / largest[i]) ** 2
    totals[0] += c * relative
    totals[1] += c
    multiplier = np.sqrt(totals[1] / totals[0]) if totals[0] > 0 else 1.0
    reach *= multiplier
    if reach <= 0.0:
        return y * z
    target = z + np.exp(z) + rate * c * reach
    after = np.log(target) if target > 1.0 else z  # from above: Newton's method is monotone
    for _ in range(30):
        grown = np.exp(after)
        step = (after + grown - target) / (1.0 + grown)
        after -= step
        if abs(step) < 1e-12:
            break
    move = y * (after - z) / reach * multiplier
    for i in range(len(x)):
        if x[i] != 0.0:
            weights[i] += move * x[i] / (np.sqrt(squares[i] + 1e-30) * largest[i])
    return _margin(weights, x)
