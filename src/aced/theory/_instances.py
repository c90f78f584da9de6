"""Instances with names: finite classes and the means of their rows.

``spread`` and ``rectangles`` have two classes, the others K. A row whose label is flipped with
probability p has its own class with probability 1 - p, and each of the others with p / (K - 1).
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations_with_replacement
from math import comb
from pathlib import Path
from typing import Any

import numpy as np

from aced._archive import plain_arrays
from aced._check import class_count, whole
from aced._errors import InvalidInput
from aced._labelings import one_hot
from aced._types import Array, Codes, Float64
from aced._workers import Workers
from aced.theory._bandit import Bandit

MOST_HYPOTHESES = 20_000
"""How many hypotheses an instance may have."""


def spread(m: int = 10, noise: float = 0.0) -> Bandit:
    """The instance with m + m² rows of the looseness propositions; ``noise`` flips labels.

    h_0 = ∅ and h_i = [m] ∪ {m + i}, i = 1 … m²; every row's mean is -(1 - 2 noise), so h_0
    is best and all others have the same gap. A row of the shared block tells h_0 from all
    the others at once, yet it is one row in m + 1 of the disagreement region. h_0 comes
    last, so that an algorithm gains nothing from taking the first of several that tie.
    """
    whole("m", m, 1)
    _few_enough(m * m + 1)
    n = m + m * m
    sets = np.zeros((m * m + 1, n), dtype=bool)
    sets[:-1, :m] = True
    sets[np.arange(m * m), m + np.arange(m * m)] = True
    return Bandit(sets, np.full(n, -_signal(noise)))


def thresholds(n: int = 64, noise: float = 0.0, cut: int | None = None, *, classes: int = 2) -> Bandit:
    """Thresholds h_k = {1 … k}, k = 1 … n, with μ = (1 - 2 noise) (2 h_cut - 1); default cut = n/2.

    With K classes n ordered rows are cut into K intervals: for cuts 1 ≤ k_1 ≤ … ≤ k_{K-1} ≤ n row i
    has the class #{j: i ≤ k_j}, so the classes fall from K - 1 to 0. The best one cuts into equal
    parts; ``cut`` is the place of the best cut for two classes.
    """
    whole("n", n, 2)
    _class_number(classes)
    _few_enough(comb(n + classes - 2, classes - 1))
    if cut is not None and classes > 2:
        raise InvalidInput("cut", f"applies to two classes; with {classes} the parts are equal")
    at = np.array([max(1, n * j // classes) for j in range(1, classes)] if cut is None else [cut])
    if not (at.min() >= 1 and at.max() <= n):
        raise InvalidInput("cut", f"must lie between 1 and n = {n}, got {cut}")
    cuts = np.array(list(combinations_with_replacement(range(1, n + 1), classes - 1)), np.int64)
    best, sets = ((np.arange(n) < k[..., None]).sum(axis=-2) for k in (at, cuts))
    return Bandit(sets, _means(best, _signal(noise, classes), classes))


def rectangles(n: int = 12, noise: float = 0.1, seed: int = 0) -> Bandit:
    """All labellings of n random points of the plane by axis-parallel rectangles.

    The best one has the middle half of the points in each coordinate; ``noise`` flips labels.
    """
    whole("n", n, 2)
    whole("seed", seed, 0)
    if n > 40:
        raise InvalidInput("n", f"is {n}: that many points have too many rectangles; use at most 40")
    points = np.random.default_rng(seed).random((n, 2))
    ranks = points.argsort(axis=0).argsort(axis=0)
    low, high = np.triu_indices(n)
    inside = (ranks[:, :, None] >= low) & (ranks[:, :, None] <= high)  # (n, 2, intervals)
    across, down = np.unique(inside[:, 0].T, axis=0), np.unique(inside[:, 1].T, axis=0)
    both = (across[:, None, :] & down[None, :, :]).reshape(-1, n)
    sets = np.unique(np.vstack([np.zeros((1, n), bool), both]), axis=0)
    middle = np.asarray(((ranks >= n // 4) & (ranks < n - n // 4)).all(axis=1))
    _few_enough(len(sets))
    return Bandit(sets, _means(middle, _signal(noise), 2))


def random(
    n: int = 20, hypotheses: int = 40, noise: float = 0.1, seed: int = 0, *, classes: int = 2
) -> Bandit:
    """Random labelings of n rows; each row most likely has the class that the first of them gives it.

    ``noise`` is the mean of the rows' flip probabilities, which are uniform on [0, 2 noise].
    """
    whole("n", n, 1)
    whole("hypotheses", hypotheses, 2)
    _few_enough(hypotheses)
    whole("seed", seed, 0)
    _class_number(classes)
    if n < 20 and hypotheses > classes**n:
        only = f"{n} rows have only {classes**n} labelings"
        raise InvalidInput("hypotheses", f"is {hypotheses}, but {only}")
    if not 0 <= noise <= 0.25:
        raise InvalidInput("noise", f"must lie in [0, 0.25] for random instances, got {noise}")
    rng = np.random.default_rng(seed)

    def some(count: int) -> Codes:
        return (classes - 1 - np.floor(classes * rng.random((count, n)))).astype(np.int8)

    sets = np.unique(some(2 * hypotheses), axis=0)
    while len(sets) < hypotheses:
        sets = np.unique(np.vstack([sets, some(hypotheses)]), axis=0)
    sets = sets[rng.permutation(len(sets))[:hypotheses]]
    signal = 1 - classes / (classes - 1) * rng.uniform(0, 2 * noise, n)
    return Bandit(sets, _means(sets[0], signal, classes))


def separators(
    rows: Any, labels: Any, hypotheses: int = 200, noise: float = 0.0, seed: int = 0
) -> Bandit:
    """A class of about ``hypotheses`` linear separators of a real pool; ``noise`` flips its labels.

    Each is a logistic regression on the labels of random rows, from 5 of them to all, with some of
    the labels flipped at random, so that the class has good and bad separators. ``labels`` may have
    any number of classes; they are numbered in sorted order.
    """
    from sklearn.linear_model import LogisticRegression

    x, y = np.asarray(rows, dtype=float), np.asarray(labels)
    if x.ndim != 2 or len(x) != len(y) or not np.isfinite(x).all():
        raise InvalidInput("rows", "must be a matrix of finite numbers with one label a row")
    whole("seed", seed, 0)
    found_classes, codes = np.unique(y, return_inverse=True)
    classes = len(found_classes)
    if classes < 2:
        raise InvalidInput("labels", f"must have at least two classes, got {classes}")
    class_count("classes", classes)
    rng = np.random.default_rng(seed)
    found: list[Array] = []
    with Workers(1).session():  # many tiny fits
        for _ in range(3 * hypotheses):
            size = int(np.exp(rng.uniform(np.log(min(5, len(x))), np.log(len(x)))))
            part = rng.choice(len(x), size, replace=False)
            flipped = rng.random(size) < rng.uniform(0, 0.4)
            target = (codes[part] + flipped * rng.integers(1, classes, size)) % classes
            if len(np.unique(target)) > 1:
                model = LogisticRegression(C=1.0, max_iter=200).fit(x[part], target)
                found.append(model.predict(x))
    sets = np.unique(np.array(found), axis=0)
    sets = sets[rng.permutation(len(sets))[:hypotheses]]
    return Bandit(sets, _means(codes, _signal(noise, classes), classes))


def from_file(path: Path) -> Bandit:
    """An .npz file with H (hypotheses, n) and eta (n,) or (n, K), or mu (n,) or (n, K - 1) instead."""
    arrays = plain_arrays(path, "instance")
    if "H" not in arrays or not {"eta", "mu"} & set(arrays):
        shapes = "H (hypotheses, n) and eta (n,), or (n, K) for K classes"
        raise InvalidInput(path, f"needs arrays {shapes}; has {sorted(arrays)}")
    if "eta" in arrays:
        return Bandit.from_classification(arrays["H"], arrays["eta"])
    return Bandit(arrays["H"], arrays["mu"])


_MADE: tuple[Callable[..., Bandit], ...] = (spread, thresholds, rectangles, random)
INSTANCES = {make.__name__: make for make in _MADE}


def _signal(noise: float, classes: int = 2) -> float:
    """By how much the own class of a row is likelier than each other class."""
    if not 0 <= noise < 0.5:
        raise InvalidInput("noise", f"must lie in [0, 0.5), got {noise}")
    return 1 - classes / (classes - 1) * noise


def _means(labels: Array, signal: float | Float64, classes: int) -> Float64:
    """μ of rows with these labels, from the signal of all rows or of each."""
    return np.asarray((one_hot(labels, classes).T * signal).T)


def _class_number(classes: int) -> None:
    class_count("classes", whole("classes", classes, 2))


def _few_enough(hypotheses: int) -> None:
    if hypotheses > MOST_HYPOTHESES:
        count = hypotheses if hypotheses < 10**9 else "more than a billion"
        raise InvalidInput(
            "n and classes",
            f"make {count} hypotheses, and at most {MOST_HYPOTHESES} fit; make one of them smaller",
        )
