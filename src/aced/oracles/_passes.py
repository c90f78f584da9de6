"""What the linear class computes from one block of rows: the kernels behind its passes.

Rows are a float32 matrix (m, p), or CSR with the same columns; coefficients are for the pool's own
coordinates, (B, p + 1) with the bias last. ``slopes`` is their transpose without the bias, (p, B).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from aced._types import Array, Bools, Float32
from aced.oracles._kernels import residual, shifted_tally


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
    product: Float32 = block @ coefficients[:, :-1].T
    product += coefficients[:, -1]
    return product


def squared_lengths(block: Any, coefficients: Float32) -> tuple[Array]:
    """Σ_b margin² of every row."""
    image = margins(block, coefficients)
    return (np.asarray(np.einsum("ij,ij->i", image, image), dtype=float),)


def gram(
    block: Float32, multiplier: Float32, offset: Float32, root: Float32, coupled: Bools
) -> tuple[Array, Array]:
    """Σ root² x xᵀ in standardised coordinates, over rows free of r and over those coupled to it."""
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
    """Σ μ̂ x and Σ s ζ x, each with the sum that the bias sees."""
    label, spread = mu[:, None], zeta * scale[:, None]
    return block.T @ label, label.sum(axis=0), block.T @ spread, spread.sum(axis=0)


def descent(
    block: Any,
    zeta: Float32,
    scale: Float32,
    mu: Float32,
    slopes: Float32,
    bias: Float32,
    r: Float32,
) -> tuple[Array, Array, Array]:
    """Tally and gradient of B separators: two products and one fused sweep."""
    product = np.ascontiguousarray(block @ slopes)
    tally = np.zeros((2, len(r)), np.float32)
    residual(product, bias, zeta, scale, mu, r, tally)
    return tally, block.T @ product, product.sum(axis=0)


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
    product = np.ascontiguousarray(block @ slopes)
    alone = np.ones((1, len(bias)), np.float32)  # the separator itself: from 0, one step
    tally = np.zeros((1 + len(steps), 2, len(bias)), np.float32)
    origin = np.zeros(len(product), np.float32)
    shifted_tally(product, bias, origin, alone, zeta, scale, mu, tally[:1])
    if len(steps):
        origin = block @ start[:-1] + start[-1]
        shifted_tally(product, bias, origin, steps, zeta, scale, mu, tally[1:])
    return (tally,)
