"""The one model: the classifier that people get, the estimate behind designs, the score of certificates.

    s(x) = W z(x),    W = argmin Σ_labelled |t_i - W z_i|² + α |W|²,    p(c | x) ∝ exp(a s_c(x)),

where z(x) are the rows in the representation that the labels chose, with a constant, t_i are one-hot
labels, α is the penalty that predicts left-out labels best (:mod:`._left_out`), and a is the slope that
makes left-out scores probabilities (:mod:`._slope`). All three follow from one eigendecomposition.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse
from scipy.special import softmax

from aced._types import Array, Float32, Float64, Ints
from aced._workers import Workers
from aced.pool import Pool
from aced.representations._left_out import LeftOut, by_rows, centred_targets, solved, spaced
from aced.representations._slope import best_slope

MOST_LABELS = 4096
"""Penalty and slope, which do not depend on their number, come from at most this many of the labels;"""
MOST_WIDE = 1024
"""and from at most this many where there are more columns than that."""
BLOCK = 1024
"""Rows or columns that are held in float64 at a time."""


@dataclass(frozen=True)
class Model:
    """Probabilities of K classes, linear in the columns of a pool but for the softmax."""

    pool: Pool  # the rows in the representation
    codes: Ints  # (K,): the classes, ascending
    coefficients: Float64  # (K, r + 1): a W and a b, for the pool's columns; the constant is last
    penalty: Float64  # (r,): α / m for weights of the pool's columns
    slope: float
    error: float  # mean square error of the scores on labels left out
    left_out: Float64  # (m, K): probabilities of labels left out
    known: Ints  # (m,): the places of these labels among the classes

    def relative(self) -> Float32:
        """Coefficients (K - 1, r + 1) less those of the first class."""
        return np.asarray(self.coefficients[1:] - self.coefficients[:1], dtype=np.float32)

    def probabilities(self, workers: Workers) -> Float32:
        """p of every row of the pool, (n, K)."""
        return np.asarray(workers.each(_probabilities, self.pool, self._float32())[0])

    def _float32(self) -> Float32:
        return np.ascontiguousarray(self.coefficients, dtype=np.float32)

    def with_codes(self, codes: Ints) -> Model:
        """The same with other codes for its classes, which are put in ascending order."""
        order = np.argsort(codes)
        return replace(
            self,
            codes=np.asarray(codes)[order],
            coefficients=self.coefficients[order],
            left_out=self.left_out[:, order],
            known=np.argsort(order)[self.known],
        )


def _probabilities(block: Any, coefficients: Float32) -> tuple[Array]:
    scores = np.asarray(block @ coefficients[:, :-1].T + coefficients[:, -1])
    return (softmax(scores, axis=1),)


@dataclass(frozen=True)
class Fit:
    """A fit to rows in some coordinates, before it is told which pool they belong to."""

    weights: Float64  # (r + 1, K): a W, for these coordinates
    alpha: float  # relative to the number of labels
    slope: float
    error: float
    left_out: Float64
    known: Ints


def fit(rows: Any, codes: Ints, classes: int, constant: float, trust: float = 1.0) -> Fit:
    """Fit rows (m, r), dense or sparse, with codes 0 … K-1 that all occur.

    ``trust`` is what the slope of left-out scores is multiplied by.
    """
    m, r = rows.shape
    some = spaced(codes, MOST_WIDE if min(m, r) > MOST_WIDE else MOST_LABELS)
    found = by_rows(rows[some], centred_targets(codes[some], classes), constant)
    slope = trust * best_slope(found.scores, codes[some])
    whole = len(some) == m
    weights = found.weights if whole else _solve(rows, codes, classes, constant, found)
    return Fit(
        slope * weights,
        found.alpha / len(found.scores),
        slope,
        found.error,
        softmax(slope * found.scores, axis=1),
        codes[some],
    )


def _solve(rows: Any, codes: Ints, classes: int, constant: float, found: LeftOut) -> Float64:
    """W (r + 1, K) from all labels, with the penalty that was found from some. In float64: the penalty
    may be far below what float32 can tell from zero."""
    targets = centred_targets(codes, classes)
    m, r = rows.shape
    if m <= r:
        gram = np.full((m, m), constant**2)
        columns = rows.tocsc() if scipy.sparse.issparse(rows) else rows
        for start in range(0, r, BLOCK):
            part = columns[:, start : start + BLOCK].astype(float)
            across = part @ part.T
            gram += across.toarray() if scipy.sparse.issparse(across) else across
        dual = solved(gram, found.alpha, targets)
        return np.vstack([np.asarray(rows.T @ dual), constant * dual.sum(axis=0)])
    gram, pulls = np.zeros((r + 1, r + 1)), np.zeros((r + 1, classes))
    for start in range(0, m, BLOCK):
        part = rows[start : start + BLOCK]
        whole = part.toarray() if scipy.sparse.issparse(part) else part
        z = np.column_stack([whole.astype(float), np.full(len(whole), constant)])
        gram += z.T @ z
        pulls += z.T @ targets[start : start + BLOCK]
    return solved(gram, found.alpha, pulls)
