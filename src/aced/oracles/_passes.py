"""What the linear class computes from one block of rows: the kernels behind its passes.

Rows are a float32 matrix (m, p), or CSR with the same columns; coefficients are for the pool's own
coordinates, with the bias last. B hypotheses have (K - 1) B rows of coefficients, class by class
(:mod:`aced._types`), hence (K - 1) B scores of a row. ``slopes`` is their transpose without the bias.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from aced._types import Array, Bools, Codes, Float32, Float64
from aced.oracles import _class_kernels, _kernels, _sparse_kernels

AT_ONCE = 2**20
"""With more than two classes, a block's rows are taken in parts of about this many scores."""


def times(block: Any, matrix: Float32) -> Float32:
    """X W, (m, B)."""
    if isinstance(block, np.ndarray):
        return np.asarray(block @ matrix)
    return _sparse_kernels.times(block, matrix)


def transposed_times(block: Any, matrix: Float32) -> Float32:
    """Xᵀ R, (p, B)."""
    if isinstance(block, np.ndarray):
        return np.asarray(block.T @ matrix)
    return _sparse_kernels.transposed_times(block, matrix)


def total(block: Any) -> tuple[Array]:
    """Σ x."""
    return (np.asarray(block.sum(axis=0, dtype=np.float64)).ravel(),)


def squared_deviation(block: Float32, centre: Array) -> tuple[Array]:
    """Σ (x - centre)²."""
    return (np.square(block - centre).sum(axis=0),)


def squares(block: Any) -> tuple[Array]:
    """Σ x², for sparse rows."""
    values = block.data.astype(np.float64)
    return (np.bincount(block.indices, values * values, minlength=block.shape[1]),)


def margins(block: Any, coefficients: Float32) -> Float32:
    """x·w + b of every row and every row of coefficients, (m, (K - 1) B)."""
    product = times(block, coefficients[:, :-1].T)
    product += coefficients[:, -1]
    return product


def squared_lengths(block: Any, coefficients: Float32) -> tuple[Array]:
    """Σ_b margin² of every row."""
    image = margins(block, coefficients)
    return (np.asarray(np.einsum("ij,ij->i", image, image), dtype=float),)


def moments(block: Any, *weights: Float64) -> tuple[Array, ...]:
    """Σ c, Σ c x and Σ c x² for each of some weights c of the rows, for sparse rows."""
    found: list[Array] = []
    for weight in weights:
        first, second = np.zeros(block.shape[1]), np.zeros(block.shape[1])
        _sparse_kernels.moments(block.indptr, block.indices, block.data, weight, first, second)
        found += [np.asarray(weight.sum()), first, second]
    return tuple(found)


def lengths(
    block: Any, square: Float64, cross: Float64, constant: float, directions: Float32, gains: Float64
) -> tuple[Array]:
    """Σ_j (square x² + cross x) + constant + Σ_k gains_k margin_k² of every sparse row, at least 0."""
    out = np.full(block.shape[0], float(constant))
    _sparse_kernels.quadratic(block.indptr, block.indices, block.data, square, cross, out)
    out += np.square(margins(block, directions), dtype=float) @ gains
    return (np.maximum(out, 0.0),)


def curvature(block: Any, weight: Float32, coefficients: Float32) -> tuple[Array, Array]:
    """Xᵀ c X w for the weights c of the rows, and the same for the bias."""
    image = margins(block, coefficients)
    image *= weight[:, None]
    return transposed_times(block, image), image.sum(axis=0)


def gram(
    block: Float32, multiplier: Float32, offset: Float32, root: Float32, coupled: Bools
) -> tuple[Array, Array]:
    """Σ root² x xᵀ in standardised coordinates, over rows not coupled to r and over those coupled."""
    p = block.shape[1]
    standard = np.empty((len(block), p + 1), np.float32)
    np.multiply(block, multiplier, out=standard[:, :p])
    standard[:, :p] -= offset
    standard[:, p] = 1
    standard *= root[:, None]
    if not coupled.any():
        return standard.T @ standard, np.zeros((), np.float32)
    free, tied = standard[~coupled], standard[coupled]
    return free.T @ free, tied.T @ tied


def pulls(block: Any, zeta: Float32, scale: Float32, mu: Float32) -> tuple[Array, ...]:
    """Σ μ̂ x and Σ s ζ x, each with its sum for the bias."""
    spread = zeta * scale[:, None]
    pulled = transposed_times(block, mu), transposed_times(block, spread)
    return pulled[0], mu.sum(axis=0), pulled[1], spread.sum(axis=0)


def labels(block: Any, coefficients: Float32, draws: int) -> Codes:
    """The class with the largest score, (m, B); class 0 has the score 0."""
    return best_class(margins(block, coefficients), draws)


def best_class(scores: Array, draws: int) -> Codes:
    """The code of the largest of a row's scores (m, (K - 1) B) and 0, for each draw; (m, B)."""
    if scores.shape[1] == draws:
        return (scores > 0).view(np.int8)
    by_class = scores.reshape(len(scores), -1, draws)
    above = by_class.max(axis=1) > 0
    return np.where(above, by_class.argmax(axis=1) + 1, 0).astype(np.int8)


def descent(
    block: Any, zeta: Float32, scale: Float32, mu: Float32, slopes: Float32, bias: Float32, r: Float32
) -> tuple[Array, Array, Array]:
    """Tally and gradient of B hypotheses: two products and one fused sweep."""
    tally = np.zeros((2, len(r)), np.float32)
    found: list[Array] = []
    for rows, part in parts(block, len(bias), len(r)):
        product = np.ascontiguousarray(times(rows, slopes))
        if mu.shape[1] == 1:
            _kernels.residual(product, bias, zeta, scale, mu[:, 0], r, tally)
        else:
            _class_kernels.residual(product, bias, zeta[part], scale[part], mu[part], r, tally)
        added = transposed_times(rows, product), product.sum(axis=0)
        found = [a + b for a, b in zip(found, added, strict=True)] if found else list(added)
    return tally, found[0], found[1]


def towards(
    block: Any,
    zeta: Float32,
    scale: Float32,
    mu: Float32,
    slopes: Float32,
    bias: Float32,
    start: Float32,
    steps: Float32,
) -> tuple[Array]:
    """Tallies of B hypotheses, and of those that ``steps`` (Q, B) lead to from ``start``."""
    draws = steps.shape[1]
    alone = np.ones((1, draws), np.float32)  # the hypothesis itself: from 0, one step
    tally = np.zeros((1 + len(steps), 2, draws), np.float32)
    for rows, part in parts(block, len(bias), draws):
        known = zeta[part], scale[part]
        product = np.ascontiguousarray(times(rows, slopes))
        origin = np.zeros((product.shape[0], len(start)), np.float32)
        _shifted(product, bias, origin, alone, *known, mu[part], tally[:1])
        if len(steps):
            origin = _origin(rows, start)
            _shifted(product, bias, origin, steps, *known, mu[part], tally[1:])
    return (tally,)


def _shifted(product: Float32, bias: Float32, origin: Float32, steps: Float32, *rest: Float32) -> None:
    zeta, scale, mu, tally = rest
    if mu.shape[1] == 1:
        one = origin[:, 0], steps, zeta, scale, mu[:, 0]
        _kernels.shifted_tally(product, bias, *one, tally)
    else:
        _class_kernels.shifted_tally(product, bias, origin, steps, zeta, scale, mu, tally)


def _origin(rows: Any, start: Float32) -> Float32:
    """Scores (m, K - 1) of one hypothesis."""
    if len(start) == 1:
        return np.asarray(rows @ start[0, :-1] + start[0, -1])[:, None]
    return np.ascontiguousarray(rows @ start[:, :-1].T + start[:, -1])


def parts(block: Any, columns: int, draws: int) -> Iterator[tuple[Any, slice]]:
    """The rows and their places: all at once for two classes, else about AT_ONCE scores at a time."""
    count = block.shape[0]
    size = max(1, AT_ONCE // columns)
    if columns == draws or size >= count:
        yield block, slice(0, count)
        return
    for first in range(0, count, size):
        part = slice(first, min(first + size, count))
        yield block[part], part
