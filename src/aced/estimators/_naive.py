"""The estimator of the paper's experiments: the average of the labels a row was given."""

from __future__ import annotations

import numpy as np

from aced._types import Array, Float32, Float64
from aced.estimators._sample import log_level


def naive(n: int, positions: Array, labels: Array) -> Float32:
    """μ̂ = 2 η̂ - 1 over n rows; ``labels`` are 0 or 1, a row may have several.

    A row without a label gets μ̂ = 0, that is η̂ = ½ (the paper writes "η̂ = 0", which
    would claim that its label is 0; its code does what stands here).

    >>> naive(4, np.array([2, 0, 2]), np.array([1, 0, 0]))
    array([-1.,  0.,  0.,  0.], dtype=float32)
    """
    counts = np.bincount(positions, minlength=n)
    sums = np.bincount(positions, weights=2.0 * labels - 1.0, minlength=n)
    return averages(counts, sums).astype(np.float32)


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
