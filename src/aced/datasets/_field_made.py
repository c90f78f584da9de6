"""Field tasks that are drawn from a distribution: the cases that strategies and classes trip over.

Every function draws ``count`` rows X (count, p) and their labels y (count,) from ``rng``.
"""

from __future__ import annotations

import numpy as np

from aced._types import Array, Float64, Ints, Rng

Drawn = tuple[Float64, Ints]


def rare(rng: Rng, count: int) -> Drawn:
    """One row in 51 is of the second class: two Gaussians in 8 dimensions, 3 apart."""
    y = (rng.random(count) < 1 / 51).astype(np.int64)
    X = rng.normal(size=(count, 8))
    X += np.where(y[:, None] == 1, 3 / np.sqrt(8), 0.0)
    return X, y


def smooth(rng: Rng, count: int) -> Drawn:
    """A curved boundary in 10 dimensions, of which three matter: sin 2x₁ + x₂ + x₃² / 2 > ½."""
    X = rng.normal(size=(count, 10))
    return X, (np.sin(2 * X[:, 0]) + X[:, 1] + 0.5 * X[:, 2] ** 2 > 0.5).astype(np.int64)


def xor(rng: Rng, count: int) -> Drawn:
    """XOR plus a linear part, in 6 dimensions: x₁ x₂ + 0.7 x₃ > 0. No linear separator fits."""
    X = rng.normal(size=(count, 6))
    return X, (X[:, 0] * X[:, 1] + 0.7 * X[:, 2] > 0).astype(np.int64)


def rings(rng: Rng, count: int) -> Drawn:
    """Three rings around one centre, of two classes in turn: radius 1, 2 and 3, each ± 0.25."""
    ring = rng.integers(3, size=count)
    radius = 1.0 + ring + rng.normal(0, 0.25, count)
    angle = rng.uniform(0, 2 * np.pi, count)
    X = np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])
    return X, (ring % 2).astype(np.int64)


def checkerboard(rng: Rng, count: int) -> Drawn:
    """Four by four squares of two classes in turn, and a third column that shifts the odds."""
    X = rng.uniform(0, 4, size=(count, 3))
    cell = (np.floor(X[:, 0]) + np.floor(X[:, 1])) % 2
    tilted = rng.random(count) < 0.15 * (X[:, 2] > 3)
    return X, np.where(tilted, 1, cell).astype(np.int64)


def spirals(rng: Rng, count: int) -> Drawn:
    """Three spiral arms, one a class, and two columns of noise."""
    y = rng.integers(3, size=count)
    t = np.sqrt(rng.random(count))
    angle = 2 * np.pi * (y / 3 + t) + rng.normal(0, 0.15, count)
    X = np.column_stack([3 * t * np.cos(angle), 3 * t * np.sin(angle), rng.normal(size=(count, 2))])
    return X, y.astype(np.int64)


def pocket(rng: Rng, count: int) -> Drawn:
    """Two clusters 4 apart, and a tenth of the rows far behind the second with the first's class.

    A separator of the two is sure of the third, so that margin sampling does not look there.
    """
    part = rng.choice(3, size=count, p=[0.45, 0.45, 0.1])
    centre = np.array([[-2.0, 0.0], [2.0, 0.0], [9.0, 0.0]])
    return centre[part] + rng.normal(0, 0.9, (count, 2)), (part == 1).astype(np.int64)


def pockets(rng: Rng, count: int) -> Drawn:
    """Three classes in 10 dimensions; behind each, two pockets of 2.5 % hold another class."""
    y = rng.integers(3, size=count)
    axes = np.eye(10)[:3]
    X = rng.normal(0, 0.7, (count, 10)) + 3 * axes[y]
    place = rng.random(count)
    for number in range(6):
        home, side = number % 3, number // 3
        inside = (place >= 0.025 * number) & (place < 0.025 * (number + 1))
        far = 8 * axes[home] + 4 * np.eye(10)[3 + number]
        X[inside] = far + rng.normal(0, 0.5, (int(inside.sum()), 10))
        y[inside] = (home + 1 + side) % 3
    return X, y.astype(np.int64)


def repeated(rng: Rng, count: int) -> Drawn:
    """Rows of four classes that occur again and again: 400 different ones, the k-th as often as 1/k."""
    kinds, odds = 400, 1 / np.arange(1, 401)
    centre = rng.normal(0, 1.6, (4, 5))
    own = rng.integers(4, size=kinds)
    distinct = centre[own] + rng.normal(size=(kinds, 5))
    which = rng.choice(kinds, size=count, p=odds / odds.sum())
    return distinct[which], own[which].astype(np.int64)


def wild(rng: Rng, count: int) -> Drawn:
    """Twelve columns in units from 1e-6 to 1e6 with offsets; half are skewed, two matter in a curve."""
    Z = rng.normal(size=(count, 12))
    y = (Z[:, 0] + Z[:, 1] + 0.8 * Z[:, 6] * Z[:, 7] > 0).astype(np.int64)
    Z[:, 8:] = np.exp(1.5 * Z[:, 8:])
    units = 10.0 ** np.linspace(-6, 6, 12)[rng.permutation(12)]
    offset = rng.normal(0, 3, 12)
    return (Z + offset) * units, y


def wide(rng: Rng, count: int) -> Drawn:
    """600 correlated columns of 60 hidden ones, of which 15 decide; a tenth of the spread is noise."""
    hidden = rng.normal(size=(count, 60))
    X = hidden @ rng.normal(size=(60, 600)) / np.sqrt(60) + 0.3 * rng.normal(size=(count, 600))
    score = hidden[:, :15] @ rng.normal(size=15)
    return X, (score + 0.1 * score.std() * rng.normal(size=count) > 0).astype(np.int64)


def flipped(y: Ints, share: float, rng: Rng) -> Ints:
    """The labels, of which a ``share`` drawn at random has become another class."""
    classes = int(y.max()) + 1
    wrong = rng.random(len(y)) < share
    shift: Array = rng.integers(1, classes, size=len(y))
    return np.asarray(np.where(wrong, (y + shift) % classes, y), dtype=np.int64)
