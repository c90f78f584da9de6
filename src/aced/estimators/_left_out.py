"""The ridge regression whose predictions of left-out labels err least, in closed form.

====== ============ ===========================================================
symbol name in code meaning
====== ============ ===========================================================
Z      rows         scaled rows (m, p) with a last column b, the constant
T      targets      1 for the label's class, 0 for others, less 1 / K: (m, K)
α      alphas       penalty, W = argmin |T - Z W|² + α |W|²
d, V   d, vectors   eigenvalues and vectors of Z Zᵀ (m ≤ p) or of Zᵀ Z
====== ============ ===========================================================

The prediction of row i by all other rows errs by

    [(Z Zᵀ + α)⁻¹ T]_i / [(Z Zᵀ + α)⁻¹]_ii   =   (T - Z W)_i / (1 - z_iᵀ (Zᵀ Z + α)⁻¹ z_i),

the classical identity for linear smoothers. One eigendecomposition serves every α and all K classes.
The constant is penalised like any other column: with few labels of many classes the counts of the
labels are chance, and a free constant would follow them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse

from aced._types import Float64

Errors = Callable[[Float64], Float64]

GRID = 10.0 ** np.arange(-12, 4.01)
"""The α tried, relative to the mean eigenvalue; half a decade beside the best is tried too. The smallest
serve columns in very different units, where the widest column alone decides the mean."""
TIE = 1e-9
"""Errors closer than this count as equal, and the larger α is taken."""
TINY = 1e-14


def best_penalty(rows: Any, targets: Float64, constant: float) -> tuple[float, float]:
    """α, and the mean square of its errors on labels left out, over rows and classes.

    ``rows`` (m, p) are dense or sparse; ``constant`` is b.
    """
    m, p = rows.shape
    errors = (_dual if m <= p else _primal)(rows, targets, constant)
    values = rows.data if scipy.sparse.issparse(rows) else rows
    unit = (float(np.square(values, dtype=float).sum()) + m * constant**2) / min(m, p + 1)
    alpha, _ = _least(GRID * unit, errors)
    return _least(alpha * 10.0 ** np.array([-0.5, 0.0, 0.5]), errors)


def _least(alphas: Float64, errors: Errors) -> tuple[float, float]:
    found = errors(alphas)
    place = np.flatnonzero(found <= (1 + TIE) * found.min())[-1]
    return float(alphas[place]), float(found[place])


def _dual(rows: Any, targets: Float64, constant: float) -> Errors:
    """The mean square errors as a function of the α, from Z Zᵀ."""
    whole = rows.astype(float)
    gram = whole @ whole.T
    gram = gram.toarray() if scipy.sparse.issparse(gram) else gram
    d, vectors = scipy.linalg.eigh(gram + constant**2)
    pulls, squares = vectors.T @ targets, np.square(vectors)

    def errors(alphas: Float64) -> Float64:
        shrink = alphas / (np.maximum(d, 0.0)[:, None] + alphas)  # (m, A)
        left = np.maximum(squares @ shrink, TINY)
        return _mean_squares(vectors @ _beside(shrink, pulls), left)

    return errors


def _primal(rows: Any, targets: Float64, constant: float) -> Errors:
    """The same from Zᵀ Z, for more rows than columns."""
    whole = rows.toarray() if scipy.sparse.issparse(rows) else rows
    z = np.column_stack([whole.astype(float), np.full(len(whole), constant)])
    d, vectors = scipy.linalg.eigh(z.T @ z)
    parts = z @ vectors
    pulls, squares = parts.T @ targets, np.square(parts)

    def errors(alphas: Float64) -> Float64:
        inverse = 1 / (np.maximum(d, 0.0)[:, None] + alphas)  # (p + 1, A)
        left = np.maximum(1 - squares @ inverse, TINY)
        return _mean_squares(np.tile(targets, len(alphas)) - parts @ _beside(inverse, pulls), left)

    return errors


def _beside(shrink: Float64, pulls: Float64) -> Float64:
    """``pulls`` (r, K) times each column of ``shrink`` (r, A), one beside the other: (r, A K)."""
    return (shrink[:, :, None] * pulls[:, None, :]).reshape(len(pulls), -1)


def _mean_squares(residuals: Float64, left: Float64) -> Float64:
    """Mean over rows and classes of (residual / left)², for each α; residuals are (m, A K)."""
    m, count = left.shape
    apart = residuals.reshape(m, count, -1) / left[:, :, None]
    return np.asarray(np.square(apart).mean(axis=(0, 2)))
