"""The ridge regression whose predictions of left-out labels err least, in closed form.

====== ============ ===========================================================
symbol name in code meaning
====== ============ ===========================================================
Z      rows         rows (m, p) with a last column b, the constant
T      targets      1 for the label's class, 0 for others, less 1 / K: (m, K)
α      alphas       penalty, W = argmin |T - Z W|² + α |W|²
d, V   d, vectors   eigenvalues and vectors of Z Zᵀ (m ≤ p) or of Zᵀ Z
====== ============ ===========================================================

The prediction of row i by all other rows errs by

    [(Z Zᵀ + α)⁻¹ T]_i / [(Z Zᵀ + α)⁻¹]_ii   =   (T - Z W)_i / (1 - z_iᵀ (Zᵀ Z + α)⁻¹ z_i),

the classical identity for linear smoothers. One eigendecomposition serves every α and all K classes.
With a kernel, Z Zᵀ is its matrix, and nothing else of Z is needed. The constant is penalised like any
other column: with few labels of many classes the counts of the labels are chance, and a free constant
would follow them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse

from aced._types import Float64, Ints

Errors = Callable[[Float64], Float64]
"""Errors on labels left out, (m, A, K), as a function of the α, (A,)."""

GRID = 10.0 ** np.arange(-12, 4.01)
"""The α tried, relative to the mean eigenvalue; half a decade beside the best is tried too. The smallest
serve columns in very different units, where the widest column alone decides the mean."""
TIE = 1e-9
"""Errors closer than this count as equal, and the larger α is taken."""
TINY = 1e-14


@dataclass(frozen=True)
class LeftOut:
    """The best penalty, and what it predicts."""

    alpha: float
    error: float
    """The mean square of the errors on labels left out, over rows and classes."""
    scores: Float64
    """What each row's target is predicted to be without its label, (m, K)."""
    weights: Float64
    """W, (p + 1, K); of a kernel the dual weights (Z Zᵀ + α)⁻¹ T, (m, K)."""


def centred_targets(codes: Ints, classes: int) -> Float64:
    """T for codes 0 … K-1."""
    return np.asarray(np.eye(classes)[codes] - 1 / classes)


def spaced(codes: Ints, most: int) -> Ints:
    """Places of about ``most`` labels, evenly spaced, and of the first label of every class.

    >>> spaced(np.array([0, 0, 1, 0, 0, 0]), 3), spaced(np.array([1, 0]), 3)
    (array([0, 2, 5]), array([0, 1]))
    """
    if len(codes) <= most:
        return np.arange(len(codes))
    even = np.linspace(0, len(codes) - 1, most).astype(np.int64)
    return np.union1d(even, np.unique(codes, return_index=True)[1])


def by_rows(rows: Any, targets: Float64, constant: float) -> LeftOut:
    """The best fit to rows (m, p), dense or sparse; ``constant`` is b."""
    m, p = rows.shape
    values = rows.data if scipy.sparse.issparse(rows) else rows
    unit = (float(np.square(values, dtype=float).sum()) + m * constant**2) / min(m, p + 1)
    if m > p:
        return _best(unit, targets, *_primal(rows, targets, constant))
    whole = rows.astype(float)
    gram = whole @ whole.T
    gram = gram.toarray() if scipy.sparse.issparse(gram) else gram
    found = _best(unit, targets, *_dual(gram + constant**2, targets))
    own = np.asarray(whole.T @ found.weights)
    last = constant * found.weights.sum(axis=0)
    return LeftOut(found.alpha, found.error, found.scores, np.vstack([own, last]))


def solved(gram: Float64, alpha: float, targets: Float64) -> Float64:
    """(gram + α)⁻¹ targets, with α at least what the rounding of ``gram``, which is changed, allows."""
    least = len(gram) * np.finfo(float).eps * float(np.trace(gram))
    gram[np.diag_indices_from(gram)] += max(alpha, least, TINY)
    return np.asarray(scipy.linalg.cho_solve(scipy.linalg.cho_factor(gram, lower=True), targets))


def by_kernel(gram: Float64, targets: Float64) -> LeftOut:
    """The best fit with this matrix Z Zᵀ (m, m), whose constant is in it."""
    return _best(float(np.trace(gram)) / len(gram), targets, *_dual(gram, targets))


def _best(unit: float, targets: Float64, errors: Errors, solution: Callable[..., Float64]) -> LeftOut:
    alpha = _least(GRID * unit, errors)
    alpha = _least(alpha * 10.0 ** np.array([-0.5, 0.0, 0.5]), errors)
    found = errors(np.array([alpha]))[:, 0]
    return LeftOut(alpha, float(np.square(found).mean()), targets - found, solution(alpha))


def _least(alphas: Float64, errors: Errors) -> float:
    found = np.square(errors(alphas)).mean(axis=(0, 2))
    return float(alphas[np.flatnonzero(found <= (1 + TIE) * found.min())[-1]])


def _dual(gram: Float64, targets: Float64) -> tuple[Errors, Callable[[float], Float64]]:
    """Errors and dual weights from Z Zᵀ."""
    d, vectors = scipy.linalg.eigh(gram)
    d = np.maximum(d, 0.0)
    pulls, squares = vectors.T @ targets, np.square(vectors)

    def errors(alphas: Float64) -> Float64:
        shrink = alphas / (d[:, None] + alphas)  # (m, A)
        left = np.maximum(squares @ shrink, TINY)
        return np.asarray(_apart(vectors @ _beside(shrink, pulls), len(alphas)) / left[:, :, None])

    return errors, lambda alpha: vectors @ (pulls / (d + alpha)[:, None])


def _primal(rows: Any, targets: Float64, constant: float) -> tuple[Errors, Callable[[float], Float64]]:
    """The same from Zᵀ Z, for more rows than columns; the weights are W."""
    whole = rows.toarray() if scipy.sparse.issparse(rows) else rows
    z = np.column_stack([whole.astype(float), np.full(len(whole), constant)])
    d, vectors = scipy.linalg.eigh(z.T @ z)
    d = np.maximum(d, 0.0)
    parts = z @ vectors
    pulls, squares = parts.T @ targets, np.square(parts)

    def errors(alphas: Float64) -> Float64:
        inverse = 1 / (d[:, None] + alphas)  # (p + 1, A)
        left = np.maximum(1 - squares @ inverse, TINY)
        fitted = _apart(parts @ _beside(inverse, pulls), len(alphas))
        return np.asarray((targets[:, None, :] - fitted) / left[:, :, None])

    return errors, lambda alpha: vectors @ (pulls / (d + alpha)[:, None])


def _beside(shrink: Float64, pulls: Float64) -> Float64:
    """``pulls`` (r, K) times each column of ``shrink`` (r, A), one beside the other: (r, A K)."""
    return (shrink[:, :, None] * pulls[:, None, :]).reshape(len(pulls), -1)


def _apart(columns: Float64, count: int) -> Float64:
    """(m, A K) as (m, A, K)."""
    return columns.reshape(len(columns), count, -1)
