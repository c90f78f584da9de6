"""Model-assisted: the label where there is one, elsewhere what a regression on the labels predicts.

    η̂_i = the label, one-hot, on labelled rows,   η̂_i = W x_i + b, moved onto the simplex, elsewhere,
    (W, b) = argmin Σ_labelled |y_i - W x_i - b|² + α |W|²,   y_i one-hot over the K classes.

Least squares predict E[y | x] = η(x); α is the one, common to all classes, whose predictions of left-out
labels err least. Labels that say little give a large α and predictions near their mean, so that η̂ claims
no more than has been seen to hold. The design wants μ̂_c = η̂_c - η̂_0 (:mod:`aced._types`).

The K predictions of a row add up to 1, so K - 1 regressions are enough. For two classes the one target
is y = ±1, its prediction is μ̂ itself, and the simplex is the interval [-1, 1].

With Z the centred rows and d, V the eigenvalues and vectors of Z Zᵀ (m ≤ p) or Zᵀ Z, every α of the
grid costs one product for each target. The prediction of y_i without y_i has the error

    (y_i - ŷ_i) / (1 - l_i),   l_i = z_iᵀ (Zᵀ Z + α I)⁻¹ z_i + 1/m

(the classical identity for linear smoothers). scikit-learn's RidgeCV, against which this is tested,
takes a singular value decomposition of the rows, six times the work when m is large.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
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


def assisted(
    pool: Pool, workers: Workers, positions: Ints, labels: Ints, classes: int = 2
) -> tuple[Float32, Float32]:
    """μ̂ (n, K - 1) from labels of distinct rows, and the regression behind it as a hypothesis."""
    found = _regression(pool, positions, labels, classes)
    score, args = found.scorer()
    (mu,) = workers.each(_estimates, pool, score, *args)
    mu[positions] = relative_one_hot(labels, classes)
    return mu, found.to_array()


def predict(
    pool: Pool, workers: Workers, positions: Ints, labels: Ints, classes: int = 2
) -> tuple[Float32, Float32]:
    """η̂_c - η̂_0 as the regression predicts it, (n, K - 1), and the regression as a hypothesis."""
    found = _regression(pool, positions, labels, classes)
    score, args = found.scorer()
    return np.asarray(workers.each(_scores, pool, score, *args)[0]), found.to_array()


def relative_one_hot(labels: Ints, classes: int) -> Float32:
    """1{label = c} - 1{label = 0} for c = 1 … K-1; ±1 for two classes. Shape (m, K - 1)."""
    own = labels[:, None] == np.arange(1, classes)
    return np.where(labels[:, None] == 0, -1, own).astype(np.float32)


def _regression(pool: Pool, positions: Ints, labels: Ints, classes: int) -> LinearHypotheses:
    found = regress(pool.rows(positions), labels, classes)
    return LinearHypotheses(pool, found.astype(np.float32), classes)


def _scores(block: Any, score: Any, *args: Any) -> tuple[Array]:
    return (score(block, *args),)


def _estimates(block: Any, score: Any, *args: Any) -> tuple[Array]:
    """The predictions of a block's rows, each moved to the nearest point of the simplex."""
    predicted = score(block, *args)
    if predicted.shape[1] == 1:
        return (np.clip(predicted, -1, 1),)
    first = (1 - predicted.sum(axis=1, keepdims=True)) / (predicted.shape[1] + 1)  # η̂_0
    eta = onto_simplex(np.concatenate([first, predicted + first], axis=1))
    return (eta[:, 1:] - eta[:, :1],)


def onto_simplex(points: Array) -> Array:
    """The nearest point with Σ = 1 and no negative number, for each row (Held, Wolfe, Crowder 1974).

    >>> onto_simplex(np.array([[0.5, 0.7, -0.2], [0.2, 0.3, 0.5]])).round(2)
    array([[0.4, 0.6, 0. ],
           [0.2, 0.3, 0.5]])
    """
    ordered = -np.sort(-points, axis=1)
    levels = (np.cumsum(ordered, axis=1) - 1) / np.arange(1, points.shape[1] + 1, dtype=points.dtype)
    last = (ordered > levels).sum(axis=1) - 1  # the largest number is always above its level
    return np.asarray(np.maximum(points - levels[np.arange(len(points)), last][:, None], 0))


def regress(rows: Any, labels: Ints, classes: int = 2) -> Float64:
    """Weights and biases (K - 1, p + 1) that predict η_c - η_0 from rows (m, p), dense or sparse.

    >>> rows = np.array([[-2.0], [-1.0], [1.0], [2.0]])
    >>> regress(rows, np.array([0, 0, 1, 1])).round(2)
    array([[0.55, 0.  ]])
    """
    if min(rows.shape) > REGRESSED_LABELS:
        some = slice(None, None, -(-rows.shape[0] // REGRESSED_LABELS))
        rows, labels = rows[some], labels[some]
    y = np.where(labels[:, None] == np.arange(1, classes), 1.0, -1.0)  # (m, K - 1)
    m, p = rows.shape
    wide, mean = m <= p, y.mean(axis=0)
    centre = _summed(rows, np.full(m, 1 / m))
    gram = _gram(rows, centre, wide)
    spread = float(np.trace(gram))
    if constant(np.sqrt(max(spread, 0.0) / m), np.linalg.norm(centre), ALIKE):
        return _relative(np.zeros((p, classes - 1)), mean)
    alphas = GRID * spread / min(m, p)
    errors, solution = (_dual if wide else _primal)(rows, centre, gram, y - mean, alphas)
    w = solution(int(np.flatnonzero(errors <= (1 + TIE) * errors.min())[-1]))  # (p, K - 1)
    return _relative(w, mean - centre @ w)


def _relative(w: Float64, bias: Float64) -> Float64:
    """From predictions t_c = 2 η_c - 1 of the classes c ≥ 1 to η_c - η_0 = (t_c + Σ t + K - 2) / 2."""
    others = len(bias)
    w, bias = w + w.sum(axis=1, keepdims=True), bias + bias.sum() + (others - 1)
    return np.column_stack([w.T, bias]) / 2


Solution = Callable[[int], Float64]
"""The weights (p, K - 1) for the α with this number in the grid."""


def _dual(
    rows: Any, centre: Float64, gram: Float64, target: Float64, alphas: Float64
) -> tuple[Float64, Solution]:
    """Errors on labels left out (A,), and the solutions, from Z Zᵀ; the targets are (m, K - 1).

    y_i - ŷ_i and 1 - l_i are sums of α / (d + α), without differences of nearly equal numbers. The
    constant vector, on which Z Zᵀ vanishes, is given the eigenvalue t: what it adds is known.
    """
    m, t = len(gram), np.trace(gram)
    d, vectors = scipy.linalg.eigh(gram + t / m)
    shrink = alphas / (np.maximum(d, 0.0)[:, None] + alphas)  # (m, A)
    pulls = vectors.T @ target
    left = np.maximum(vectors**2 @ shrink - alphas / (t + alphas) / m, TINY)
    errors = _squared([(vectors * pull) @ shrink / left for pull in pulls.T])

    def solution(k: int) -> Float64:
        weights = vectors @ (shrink[:, k, None] / alphas[k] * pulls)
        return np.asarray(_summed(rows, weights) - np.outer(centre, weights.sum(axis=0)))

    return errors, solution


def _primal(
    rows: Any, centre: Float64, gram: Float64, target: Float64, alphas: Float64
) -> tuple[Float64, Solution]:
    """The same as ``_dual``, from Zᵀ Z."""
    m = len(target)
    d, vectors = scipy.linalg.eigh(gram)
    inverse = 1 / (np.maximum(d, 0.0)[:, None] + alphas)  # (p, A)
    pulls = vectors.T @ (_summed(rows, target) - np.outer(centre, target.sum(axis=0)))  # (p, K - 1)
    errors, start = np.zeros(len(alphas)), 0
    for block in _blocks(rows):
        parts = _less(block, centre, vectors)
        known = target[start : start + len(parts)]
        left = np.maximum(1 - parts**2 @ inverse - 1 / m, TINY)
        each = zip(known.T, pulls.T, strict=True)
        errors += _squared([(y[:, None] - parts @ (inverse * pull[:, None])) / left for y, pull in each])
        start += len(parts)
    return errors, lambda k: np.asarray(vectors @ (inverse[:, k, None] * pulls))


def _squared(errors: list[Float64]) -> Float64:
    """Σ_i Σ_c of squared errors (m, A) over all K classes; class 0 errs by minus the sum of the rest."""
    found = sum(np.square(error).sum(axis=0) for error in errors)
    if len(errors) > 1:
        found = found + np.square(np.sum(errors, axis=0)).sum(axis=0)
    return np.asarray(found)


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
