"""Instances with names: finite classes and the means of their rows."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from aced._archive import plain_arrays
from aced._check import whole
from aced._errors import InvalidInput
from aced._types import Array, Bools, Float64
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


def thresholds(n: int = 64, noise: float = 0.0, cut: int | None = None) -> Bandit:
    """Thresholds h_k = {1 … k}, k = 1 … n, with μ = (1 - 2 noise) (2 h_cut - 1); default cut = n/2."""
    whole("n", n, 2)
    _few_enough(n)
    at = max(1, n // 2) if cut is None else cut
    if not 1 <= at <= n:
        raise InvalidInput("cut", f"must lie between 1 and n = {n}, got {at}")
    sets: Bools = np.tri(n, dtype=bool)
    return Bandit(sets, _signed(np.arange(n) < at, np.full(n, _signal(noise))))


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
    return Bandit(sets, _signed(middle, np.full(n, _signal(noise))))


def random(n: int = 20, hypotheses: int = 40, noise: float = 0.1, seed: int = 0) -> Bandit:
    """Random sets of n rows; rows in one of the sets are more likely 1 than 0, all others less likely.

    ``noise`` is the mean of the rows' flip probabilities, which are uniform on [0, 2 noise].
    """
    whole("n", n, 1)
    whole("hypotheses", hypotheses, 2)
    _few_enough(hypotheses)
    whole("seed", seed, 0)
    if n < 20 and hypotheses > 2**n:
        raise InvalidInput("hypotheses", f"is {hypotheses}, but {n} rows have only {2**n} labelings")
    if not 0 <= noise <= 0.25:
        raise InvalidInput("noise", f"must lie in [0, 0.25] for random instances, got {noise}")
    rng = np.random.default_rng(seed)
    sets = np.unique(rng.random((2 * hypotheses, n)) < 0.5, axis=0)
    while len(sets) < hypotheses:
        sets = np.unique(np.vstack([sets, rng.random((hypotheses, n)) < 0.5]), axis=0)
    sets = sets[rng.permutation(len(sets))[:hypotheses]]
    return Bandit(sets, _signed(sets[0], 1 - 2 * rng.uniform(0, 2 * noise, n)))


def separators(
    rows: Any, labels: Any, hypotheses: int = 200, noise: float = 0.0, seed: int = 0
) -> Bandit:
    """A class of about ``hypotheses`` linear separators of a real pool; ``noise`` flips its labels.

    Each is a logistic regression on the labels of random rows, from 5 of them to all, with some of
    the labels flipped at random, so that the class has good and bad separators.
    """
    from sklearn.linear_model import LogisticRegression

    x, y = np.asarray(rows, dtype=float), np.asarray(labels)
    if x.ndim != 2 or len(x) != len(y) or not np.isfinite(x).all():
        raise InvalidInput("rows", "must be a matrix of finite numbers with one label a row")
    whole("seed", seed, 0)
    classes, codes = np.unique(y, return_inverse=True)
    if len(classes) != 2:
        raise InvalidInput("labels", f"must have two classes, got {len(classes)}")
    rng = np.random.default_rng(seed)
    found: list[Array] = []
    with Workers(1).session():  # many tiny fits
        for _ in range(3 * hypotheses):
            size = int(np.exp(rng.uniform(np.log(min(5, len(x))), np.log(len(x)))))
            part = rng.choice(len(x), size, replace=False)
            target = codes[part] ^ (rng.random(size) < rng.uniform(0, 0.4))
            if len(np.unique(target)) == 2:
                model = LogisticRegression(C=1.0, max_iter=200).fit(x[part], target)
                found.append(model.predict(x).astype(bool))
    sets = np.unique(np.array(found), axis=0)
    sets = sets[rng.permutation(len(sets))[:hypotheses]]
    return Bandit(sets, _signed(codes == 1, np.full(len(x), _signal(noise))))


def from_file(path: Path) -> Bandit:
    """An .npz file with H (hypotheses, n) and eta (n,), or mu (n,) instead of eta."""
    arrays = plain_arrays(path, "instance")
    if "H" not in arrays or not {"eta", "mu"} & set(arrays):
        raise InvalidInput(path, f"needs arrays H (hypotheses, n) and eta (n,), has {sorted(arrays)}")
    if "eta" in arrays:
        return Bandit.from_classification(arrays["H"], arrays["eta"])
    return Bandit(arrays["H"], arrays["mu"])


_MADE: tuple[Callable[..., Bandit], ...] = (spread, thresholds, rectangles, random)
INSTANCES = {make.__name__: make for make in _MADE}


def _signal(noise: float) -> float:
    if not 0 <= noise < 0.5:
        raise InvalidInput("noise", f"must lie in [0, 0.5), got {noise}")
    return 1 - 2 * noise


def _signed(positive: Array, size: Float64) -> Float64:
    return np.asarray(np.where(positive, size, -size))


def _few_enough(hypotheses: int) -> None:
    if hypotheses > MOST_HYPOTHESES:
        raise InvalidInput(
            "hypotheses", f"are {hypotheses}; at most {MOST_HYPOTHESES} fit, use a smaller size"
        )
