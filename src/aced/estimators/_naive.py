"""The estimator of the paper's experiments: the average of the labels a row was given."""

from __future__ import annotations

import numpy as np

from aced._types import Array, Float32, Float64
from aced.estimators._sample import log_level


def naive(n: int, positions: Array, labels: Array, classes: int = 2) -> Float32:
    """μ̂ over n rows, (n,) for two classes and (n, K - 1) for K; a row may have several ``labels``.

    With two classes μ̂ = 2 η̂ - 1; in general μ̂_c = η̂_c - η̂_0, η̂_c the share of a row's labels that name
    c. A row without a label gets μ̂ = 0: all classes are alike (the paper writes "η̂ = 0", which would
    claim that its label is 0; its code does what stands here).

    >>> naive(4, np.array([2, 0, 2]), np.array([1, 0, 0]))
    array([-1.,  0.,  0.,  0.], dtype=float32)
    """
    counts = np.bincount(positions, minlength=n)
    of_first = np.asarray(labels) == 0
    columns = []
    for c in range(1, classes):
        sign = np.where(of_first, -1.0, np.asarray(labels) == c)
        columns.append(averages(counts, np.bincount(positions, weights=sign, minlength=n)))
    mu = np.stack(columns, axis=1).astype(np.float32)
    return mu[:, 0] if classes == 2 else mu


def averages(counts: Array, sums: Array) -> Float64:
    """μ̂_i = Σ y / T_i, 0 for a row that was never drawn."""
    return np.asarray(sums / np.maximum(counts, 1), dtype=float)


def naive_width(v: Array, counts: Array, delta: float) -> float:
    """|v·(μ̂ - μ)| is at most this with probability 1 - δ, given how often each row was drawn.

    Hoeffding for the rows drawn; a row never drawn may be wrong by |μ_i| ≤ 1.
    """
    seen = counts > 0
    noise = np.square(v[seen]) / counts[seen]
    return float(np.sqrt(2 * log_level(delta) * noise.sum()) + np.abs(v[~seen]).sum())
