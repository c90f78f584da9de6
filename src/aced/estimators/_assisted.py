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
import scipy.sparse

from aced._types import Array, Float32, Float64, Ints
from aced._workers import Workers
from aced.oracles import LinearHypotheses
from aced.pool import Pool, constant

GRID = 10.0 ** np.arange(-12, 4.01, 0.5)
"""The α tried, relative to the mean eigenvalue. The smallest serve features in very different units,
where the widest feature alone decides the mean."""

ALIKE = 1e-7
"""Rounding of the rows' distances from their mean, relative to the mean: the distances are roots of
differences of squares, which are exact to 1e-14."""

REGRESSED_LABELS = 2048
"""With more labels and more features than this, the regression uses only this many of the labels."""

TINY = 1e-14
TIE = 1e-9
"""Errors closer than this count as equal, and the larger α is taken: with two labels all are equal."""

BLOCK = 4096
"""How many labelled rows are taken to double precision at a time."""


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
    if min(rows.shape) > REGRESSED_LABELS:
        some = slice(None, None, -(-rows.shape[0] // REGRESSED_LABELS))
        rows, labels = rows[some], labels[some]
    y = 2.0 * labels - 1.0
    m, p = rows.shape
    wide = m <= p
    centre = _summed(rows, np.full(m, 1 / m))
    gram = _gram(rows, centre, wide)
    spread = float(np.trace(gram))
    if constant(np.sqrt(max(spread, 0.0) / m), np.linalg.norm(centre), ALIKE):
        return np.append(np.zeros(p), y.mean())
    alphas = GRID * spread / min(m, p)
    errors, solutions = (_dual if wide else _primal)(rows, centre, gram, y - y.mean(), alphas)
    w = solutions[:, np.flatnonzero(errors <= (1 + TIE) * errors.min())[-1]]
    return np.append(w, y.mean() - centre @ w)


def _dual(
    rows: Any, centre: Float64, gram: Float64, target: Float64, alphas: Float64
) -> tuple[Float64, Float64]:
    """Errors on labels left out (A,), and w (p, A), from Z Zᵀ.

    y_i - ŷ_i and 1 - l_i are sums of α / (d + α), without differences of nearly equal numbers. The
    constant vector, on which Z Zᵀ vanishes, is given the eigenvalue t: what it adds is known.
    """
    m, t = len(gram), np.trace(gram)
    d, vectors = scipy.linalg.eigh(gram + t / m)
    shrink = alphas / (np.maximum(d, 0.0)[:, None] + alphas)  # (m, A)
    pulls = vectors.T @ target
    left = vectors**2 @ shrink - alphas / (t + alphas) / m
    errors = np.square((vectors * pulls) @ shrink / np.maximum(left, TINY)).sum(axis=0)
    weights = vectors @ (shrink / alphas * pulls[:, None])
    return errors, _summed(rows, weights) - np.outer(centre, weights.sum(axis=0))


def _primal(
    rows: Any, centre: Float64, gram: Float64, target: Float64, alphas: Float64
) -> tuple[Float64, Float64]:
    """The same as ``_dual``, from Zᵀ Z."""
    m = len(target)
    d, vectors = scipy.linalg.eigh(gram)
    inverse = 1 / (np.maximum(d, 0.0)[:, None] + alphas)  # (p, A)
    fits = inverse * (vectors.T @ (_summed(rows, target) - target.sum() * centre))[:, None]
    errors, start = np.zeros(len(alphas)), 0
    for block in _blocks(rows):
        parts = _less(block, centre, vectors)
        known = target[start : start + len(parts), None]
        left = np.maximum(1 - parts**2 @ inverse - 1 / m, TINY)
        errors += np.square((known - parts @ fits) / left).sum(axis=0)
        start += len(parts)
    return errors, vectors @ fits


def _less(block: Any, centre: Float64, vectors: Float64) -> Float64:
    """Rows minus their mean, times a matrix; sparse rows stay sparse."""
    if scipy.sparse.issparse(block):
        return np.asarray(block @ vectors - centre @ vectors)
    return np.asarray((block - centre) @ vectors)


def _blocks(rows: Any) -> Iterator[Any]:
    for start in range(0, rows.shape[0], BLOCK):
        yield rows[start : start + BLOCK].astype(float)


def _gram(rows: Any, centre: Float64, wide: bool) -> Float64:
    """Z Zᵀ of wide rows, else Zᵀ Z. Sparse rows stay sparse: the products are corrected for the mean."""
    if wide:
        whole = rows.astype(float)
        if not scipy.sparse.issparse(whole):
            whole = whole - centre
            return np.asarray(whole @ whole.T)
        products = (whole @ whole.T).toarray()
        means = products.mean(axis=0)
        return np.asarray(products - means - means[:, None] + means.mean())
    total = np.zeros((rows.shape[1], rows.shape[1]))
    for block in _blocks(rows):
        if scipy.sparse.issparse(block):
            total += (block.T @ block).toarray() - block.shape[0] * np.outer(centre, centre)
        else:
            total += (block - centre).T @ (block - centre)
    return total


def _summed(rows: Any, shares: Float64) -> Float64:
    """Σ_i a_i x_i, for one vector a or for several as columns."""
    found = np.zeros((rows.shape[1], *shares.shape[1:]))
    for index, block in enumerate(_blocks(rows)):
        found += block.T @ shares[index * BLOCK : (index + 1) * BLOCK]
    return found
