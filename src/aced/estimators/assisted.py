"""Model-assisted: the label where there is one, elsewhere what a regression on the labels predicts.

    μ̂_i = y_i on labelled rows,   μ̂_i = w·x_i + b, kept within [-1, 1], elsewhere,
    (w, b) = argmin Σ_labelled (y_i - w·x_i - b)² + α |w|²,   y = ±1.

Least squares predict E[y | x] = 2 η(x) - 1, which is what μ̂ estimates; α is the one whose
predictions of left-out labels err least. Labels that say little give a large α and predictions near
their mean, so that μ̂ claims no more than has been seen to hold.

With Z the centred rows and d, V the eigenvalues and vectors of Z Zᵀ (m ≤ p) or Zᵀ Z, every α of the
grid costs one product. The prediction of y_i without y_i has the error

    (y_i - ŷ_i) / (1 - l_i),   l_i = z_iᵀ (Zᵀ Z + α I)⁻¹ z_i + 1/m

(the classical identity for linear smoothers). scikit-learn's RidgeCV, against which this is tested,
takes a singular value decomposition of the rows, six times the work when m is large.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.linalg

from aced._types import Array, Float32, Float64, Ints
from aced._workers import Workers
from aced.oracles.linear import LinearHypotheses
from aced.pool import Pool

GRID = 10.0 ** np.arange(-5, 4.01, 0.5)
"""The α tried, relative to the mean eigenvalue."""

TIE = 1e-9
"""Errors closer than this are equal, and the larger α is taken: two labels say nothing of a third."""

BLOCK = 4096
"""Labelled rows taken to double precision at a time."""


def assisted(pool: Pool, workers: Workers, positions: Ints, labels: Ints) -> tuple[Float32, Float32]:
    """μ̂ (n,) from labels 0 or 1 of distinct rows, and the regression (1, p + 1) behind it."""
    predicted, regression = predict(pool, workers, positions, labels)
    mu = np.clip(predicted, -1, 1)
    mu[positions] = 2 * labels - 1
    return mu, regression


def predict(pool: Pool, workers: Workers, positions: Ints, labels: Ints) -> tuple[Float32, Float32]:
    """w·x_i + b for every row of the pool (n,), and w with b (1, p + 1)."""
    found = regress(pool.rows(positions), labels).astype(np.float32)[None]
    score, args = LinearHypotheses(pool, found).scorer()
    return np.asarray(workers.each(_scores, pool, score, *args)[0]), found


def _scores(block: Any, score: Any, *args: Any) -> tuple[Array]:
    return (score(block, *args)[:, 0],)


def regress(rows: Any, labels: Ints) -> Float64:
    """w and b, (p + 1,), of the regression of ±1 on rows (m, p), dense or sparse.

    >>> rows = np.array([[-2.0], [-1.0], [1.0], [2.0]])
    >>> regress(rows, np.array([0, 0, 1, 1])).round(2)
    array([0.55, 0.  ])
    """
    y = 2.0 * labels - 1.0
    m, p = rows.shape
    centre = _summed(rows, np.full(m, 1 / m))
    target = y - y.mean()
    wide = m <= p
    d, vectors = scipy.linalg.eigh(_gram(rows, centre, wide))
    d = np.maximum(d, 0.0)
    scale = d.sum() / min(m, p)
    if not scale > 0:  # all rows alike
        return np.append(np.zeros(p), y.mean())
    inverse = 1 / (d[:, None] + scale * GRID)  # (., A)
    fits = inverse * (vectors.T @ (target if wide else _summed(rows, target)))[:, None]
    errors, start = np.zeros(len(GRID)), 0
    for parts, shares in [(vectors * d, vectors**2 * d)] if wide else _turned(rows, centre, vectors):
        known = target[start : start + len(parts), None]
        left = np.maximum(1 - shares @ inverse - 1 / m, 1e-9)
        errors += np.square((known - parts @ fits) / left).sum(axis=0)
        start += len(parts)
    least = np.flatnonzero(errors <= (1 + TIE) * errors.min())[-1]
    best = vectors @ fits[:, least]
    w = _summed(rows, best) if wide else best  # Σ best_i z_i, since best adds up to zero
    return np.append(w, y.mean() - centre @ w)


def _turned(rows: Any, centre: Float64, vectors: Float64) -> Iterator[tuple[Float64, Float64]]:
    """Blocks of Z V and its squares."""
    for block in _blocks(rows):
        parts = block @ vectors - centre @ vectors
        yield parts, parts**2


def _blocks(rows: Any) -> Iterator[Any]:
    for start in range(0, rows.shape[0], BLOCK):
        yield rows[start : start + BLOCK].astype(float)


def _gram(rows: Any, centre: Float64, wide: bool) -> Float64:
    """Z Zᵀ of wide rows, else Zᵀ Z."""
    if wide:
        whole = rows.astype(float)
        products = _dense(whole @ whole.T)
        means = products.mean(axis=0)
        return np.asarray(products - means - means[:, None] + means.mean())
    total = np.zeros((rows.shape[1], rows.shape[1]))
    for block in _blocks(rows):
        total += _dense(block.T @ block)
    return np.asarray(total - rows.shape[0] * np.outer(centre, centre))


def _summed(rows: Any, shares: Float64) -> Float64:
    """Σ_i a_i x_i."""
    found = np.zeros(rows.shape[1])
    for index, block in enumerate(_blocks(rows)):
        found += block.T @ shares[index * BLOCK : (index + 1) * BLOCK]
    return found


def _dense(products: Any) -> Float64:
    return np.asarray(products.toarray() if hasattr(products, "toarray") else products)
