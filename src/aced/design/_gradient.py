"""Estimates of G_i = E[(h̃_i - h_i) ζ_i / D], from which ∂F/∂λ_i = -½ λ_i^(-3/2) G_i.

``raw`` averages the definition over the draws, as the paper does. It is unbiased, but
for a single row it is nearly all noise.

``grouped`` uses Gaussian integration by parts: G_i is the density at zero of row i's margin times the
margin's sensitivity to its own ζ_i, over D. Margins of the B maximisers give each row a mean and a
deviation, hence a normal density; the sensitivity is the row's leverage times s_i. Maximisers are of
different kinds (near the incumbent with a small D, far from it with a large one), so the density is
fitted in groups of similar D, and each group is scaled to its share of Σ_i s_i G_i = F, an identity.

Both return G and the standard error of each G_i.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from aced._types import Array, Bools, Float32, Float64, Ints
from aced._workers import PerRow
from aced.design._problem import Found, Problem
from aced.pool import Pool

GROUPS = 4
Score = Callable[..., Array]


@dataclass(frozen=True)
class Sensitivity:
    """G and its standard error, shapes (n,)."""

    mean: Float64
    stderr: Float64


def raw(problem: Problem, found: Found) -> Sensitivity:
    """Sample mean of (h̃_i - h_i) ζ_i / D over the draws."""
    return raw_from_sums(*raw_sums(problem, found), len(found.ratio))


def raw_sums(problem: Problem, found: Found) -> tuple[Float64, Float64]:
    """Σ_b and Σ_b (·)² of (h̃_i - h_ib) ζ_ib / D_b, shapes (n,)."""
    share = (1 / found.denominator).astype(np.float32)
    score, args = found.hypotheses.scorer()
    labels = PerRow(found.incumbent.labels)
    sums, squares = problem.oracle.workers.each(
        _terms, problem.oracle.pool, labels, found.weights.noise, share, score, *args
    )
    return sums, squares


def _terms(
    block: Any, incumbent: Bools, zeta: Float32, share: Float32, score: Score, *args: Any
) -> tuple[Array, Array]:
    h = (score(block, *args) > 0).astype(np.float32)
    terms = ((incumbent[:, None].astype(np.float32) - h) * zeta * share).astype(float)
    return terms.sum(axis=1), np.square(terms).sum(axis=1)


def raw_from_sums(sums: Float64, squares: Float64, draws: int) -> Sensitivity:
    mean = sums / draws
    variance = np.maximum(squares / draws - mean**2, 0) * draws / max(draws - 1, 1)
    return Sensitivity(mean, np.sqrt(variance / draws))


def grouped(problem: Problem, found: Found, leverage: Float64) -> Sensitivity:
    """Normal densities of the margins at zero, in groups of similar denominators."""
    scale = found.weights.scale
    parts = _groups(found)
    density, relative = _in_groups(problem, found, problem.oracle.pool, leverage * scale, parts)
    density *= _shares(found, parts, scale.astype(float) @ density)
    variance = np.einsum("ig,ig,ig->i", density, density, relative)
    return Sensitivity(density.sum(axis=1), np.sqrt(variance))


def row_weights(problem: Problem, found: Found, pool: Pool) -> Float64:
    """The g_i of G_i = g_i s_i, for the rows of any pool under the same metric."""
    scale, level = found.weights.scale, float(np.median(found.level))
    parts = _groups(found)
    leverage = found.maximiser.leverage(level)
    assert leverage is not None
    density, _ = _in_groups(problem, found, problem.oracle.pool, leverage * scale, parts)
    shares = _shares(found, parts, scale.astype(float) @ density)
    leverage = found.maximiser.leverage(level, pool)
    assert leverage is not None
    return np.asarray(_in_groups(problem, found, pool, leverage, parts)[0] @ shares)


def _groups(found: Found) -> list[Ints]:
    """The draws, in groups of similar D."""
    order = np.argsort(found.denominator, kind="stable")
    return np.array_split(order, max(1, min(GROUPS, len(found.ratio) // 6)))


def _in_groups(
    problem: Problem, found: Found, pool: Pool, weight: Float64, parts: list[Ints]
) -> tuple[Float64, Array]:
    """Weight times density at zero, and its relative variance, of every row and group; (n, groups).

    Maximisers are compared on one scale: margins are taken relative to their root mean square.
    """
    score, args = found.hypotheses.scorer()
    workers = problem.oracle.workers
    (squares,) = workers.fold(_squares, problem.oracle.pool, score, *args)
    sizes = np.sqrt(np.maximum(squares / problem.n, np.finfo(np.float32).tiny)).astype(np.float32)
    density, relative = workers.each(_densities, pool, PerRow(weight), sizes, parts, score, *args)
    return density, relative


def _shares(found: Found, parts: list[Ints], mass: Float64) -> Float64:
    """The factor that scales each group to its share of Σ s G = F."""
    share = np.array([found.ratio[part].sum() / len(found.ratio) for part in parts])
    return np.asarray(share / np.maximum(mass, np.finfo(float).tiny))


def _densities(
    block: Any, weight: Float64, sizes: Float32, parts: list[Ints], score: Score, *args: Any
) -> tuple[Array, Array]:
    """For each row and group: weight times the density at zero, and its relative variance."""
    margins = score(block, *args) / sizes
    density = np.empty((len(margins), len(parts)))
    relative = np.empty(density.shape, np.float32)
    for g, part in enumerate(parts):
        mean = margins[:, part].mean(axis=1, dtype=float)
        spread = margins[:, part].std(axis=1, ddof=1, dtype=float) + 1e-9
        z2 = np.square(mean / spread)
        density[:, g] = weight * np.exp(-z2 / 2) / spread
        # delta method: Var(mean) = spread²/m and Var(spread) = spread²/2m
        relative[:, g] = (np.square(z2) + 1) / (2 * len(part))
    return density, relative


def _squares(block: Any, score: Score, *args: Any) -> tuple[Array]:
    margins = score(block, *args)
    return (np.einsum("ib,ib->b", margins, margins),)
