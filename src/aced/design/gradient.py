"""Estimates of G_i = E[(h̃_i - h_i) ζ_i / D], from which ∂F/∂λ_i = -½ λ_i^(-3/2) G_i.

``raw`` averages the definition over the draws, as the paper does. It is unbiased, and
for each single row nearly all noise.

``grouped`` uses Gaussian integration by parts: G_i is the density at zero of row i's
margin times the margin's sensitivity to its own ζ_i, over D. Margins of the B maximisers
give a mean and a deviation a row, hence a normal density; the sensitivity is the row's
leverage times s_i. Maximisers are of different kinds (near the incumbent with a small D,
far from it with a large one), so the density is fitted in groups of similar D, and each
group is scaled to its share of Σ_i s_i G_i = F, an identity.

Both return G with a standard error a row.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from aced._types import Array, Float64
from aced.design.problem import Found, Problem

GROUPS = 4


@dataclass(frozen=True)
class Sensitivity:
    """G and its standard error, shapes (n,)."""

    mean: Float64
    stderr: Float64


def raw(problem: Problem, found: Found) -> Sensitivity:
    """Sample mean of (h̃_i - h_i) ζ_i / D over the draws."""
    sums, squares = raw_sums(problem, found)
    return raw_from_sums(sums, squares, len(found.ratio))


def raw_sums(problem: Problem, found: Found) -> tuple[Float64, Float64]:
    """Σ_b and Σ_b (·)² of (h̃_i - h_ib) ζ_ib / D_b, shapes (n,)."""
    pool = problem.oracle.pool
    share = (1 / found.denominator).astype(np.float32)

    def one(index: int) -> tuple[Float64, Float64]:
        h = found.hypotheses.labels(index).astype(np.float32)
        apart = found.incumbent.labels[pool.slices[index], None].astype(np.float32) - h
        terms = (apart * found.weights.noise.block(index) * share).astype(float)
        return terms.sum(axis=1), np.square(terms).sum(axis=1)

    parts = problem.oracle.workers.map(one, pool.blocks)
    return np.concatenate([a for a, _ in parts]), np.concatenate([b for _, b in parts])


def raw_from_sums(sums: Float64, squares: Float64, draws: int) -> Sensitivity:
    mean = sums / draws
    variance = np.maximum(squares / draws - mean**2, 0) * draws / max(draws - 1, 1)
    return Sensitivity(mean, np.sqrt(variance / draws))


def grouped(problem: Problem, found: Found, leverage: Float64, groups: int = GROUPS) -> Sensitivity:
    """Normal densities of the margins at zero, in groups of similar denominators."""
    oracle, scale = problem.oracle, found.weights.scale
    draws = len(found.ratio)
    parts = np.array_split(np.argsort(found.denominator, kind="stable"), max(1, min(groups, draws // 6)))
    sizes = _margin_sizes(problem, found).astype(np.float32)

    def one(index: int) -> tuple[Array, Array]:
        margins = found.hypotheses.margins(index)
        assert margins is not None
        margins = margins / sizes
        rows = oracle.pool.slices[index]
        weight = leverage[rows] * scale[rows]
        density = np.empty((len(parts), margins.shape[0]))
        relative = np.empty_like(density)
        for g, part in enumerate(parts):
            mean = margins[:, part].mean(axis=1, dtype=float)
            spread = margins[:, part].std(axis=1, ddof=1, dtype=float) + 1e-9
            z2 = np.square(mean / spread)
            density[g] = weight * np.exp(-z2 / 2) / spread
            # delta method: Var(mean) = spread²/m and Var(spread) = spread²/2m
            relative[g] = (np.square(z2) + 1) / (2 * len(part))
        return density, relative

    blocks = oracle.workers.map(one, oracle.pool.blocks)
    density = np.concatenate([d for d, _ in blocks], axis=1)  # (groups, n)
    relative = np.concatenate([v for _, v in blocks], axis=1)
    share = np.array([found.ratio[part].sum() / draws for part in parts])
    mass = density @ scale.astype(float)
    density *= (share / np.maximum(mass, np.finfo(float).tiny))[:, None]
    return Sensitivity(density.sum(axis=0), np.sqrt((np.square(density) * relative).sum(axis=0)))


def _margin_sizes(problem: Problem, found: Found) -> Float64:
    """Root mean square margin of each maximiser: they are compared on one scale; (B,)."""

    def one(index: int) -> tuple[Array]:
        margins = found.hypotheses.margins(index)
        assert margins is not None
        return (np.einsum("ib,ib->b", margins, margins),)

    (squares,) = problem.oracle.workers.sum(one, problem.oracle.pool.blocks)
    return np.sqrt(np.maximum(squares / problem.n, np.finfo(np.float32).tiny))
