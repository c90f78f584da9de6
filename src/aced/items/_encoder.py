"""What the ways of embedding have in common."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.decomposition import PCA

from aced._types import Array, Float32, Float64
from aced._workers import Workers

NOISE = 1e-5
"""An axis is a rounding error if the items spread less on it than this, relative to the first axis."""

State = tuple[dict[str, Any], dict[str, Array]]
"""What goes into a file: a JSON part and arrays."""


def kept(spread: Float64) -> int:
    """The number of leading axes that are more than rounding errors; at least one.

    >>> kept(np.array([3.0, 1.0, 1e-9]))
    2
    """
    return max(1, int((spread > NOISE * spread[0]).sum()))


def principal_axes(rows: Float32, most: int) -> tuple[Float32, Float32]:
    """Mean, shape (p,), and leading axes, shape (at most ``most``, p), by scikit-learn's PCA."""
    n, p = rows.shape
    if n == 1 or (rows == rows[0]).all():  # nothing to tell apart: one feature, always zero
        return rows[0].copy(), np.zeros((1, p), np.float32)
    pca = PCA(min(most, n - 1, p), svd_solver="covariance_eigh" if n > p else "full")
    with Workers(1).session():  # one BLAS thread: the same axes on any number of cores
        pca.fit(rows)
    count = kept(np.sqrt(pca.explained_variance_))
    return pca.mean_.astype(np.float32), pca.components_[:count].astype(np.float32)
