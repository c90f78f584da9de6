"""What the linear class computes from one block of rows: the kernels behind its passes.

Rows are a float32 matrix (m, p), or CSR with the same columns; coefficients are for the pool's own
coordinates, (B, p + 1) with the bias last. ``slopes`` is their transpose without the bias, (p, B).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from aced._types import Array, Bools, Float32, Float64
from aced.oracles import _sparse_kernels
from aced.oracles._kernels import residual, shifted_tally


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
    """x·w + b of every row and hypothesis, (m, B)."""
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
    label, spread = mu[:, None], zeta * scale[:, None]
    pulled = transposed_times(block, label), transposed_times(block, spread)
    return pulled[0], label.sum(axis=0), pulled[1], spread.sum(axis=0)


def descent(
    block: Any, zeta: Float32, scale: Float32, mu: Float32, slopes: Float32, bias: Float32, r: Float32
) -> tuple[Array, Array, Array]:
    """Tally and gradient of B separators: two products and one fused sweep."""
    product = np.ascontiguousarray(times(block, slopes))
    tally = np.zeros((2, len(r)), np.float32)
    residual(product, bias, zeta, scale, mu, r, tally)
    return tally, transposed_times(block, product), product.sum(axis=0)


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
    """Tallies of B separators, and of those that ``steps`` (Q, B) lead to from ``start``."""
    product = np.ascontiguousarray(times(block, slopes))
    alone = np.ones((1, len(bias)), np.float32)  # the separator itself: from 0, one step
    tally = np.zeros((1 + len(steps), 2, len(bias)), np.float32)
    origin = np.zeros(len(product), np.float32)
    shifted_tally(product, bias, origin, alone, zeta, scale, mu, tally[:1])
    if len(steps):
        origin = block @ start[:-1] + start[-1]
        shifted_tally(product, bias, origin, steps, zeta, scale, mu, tally[1:])
    return (tally,)
