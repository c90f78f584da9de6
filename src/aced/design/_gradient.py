"""Estimates of G_i = E[(ζ_{i,h̃(i)} - ζ_{i,h(i)}) / D], from which ∂F/∂λ_i = -½ λ_i^(-3/2) G_i.

``raw`` averages the definition over the draws, as the paper does. It is unbiased, but
for a single row it is nearly all noise.

``grouped`` uses Gaussian integration by parts: G_i is the density at zero of row i's margin times the
margin's sensitivity to its own ζ_i, over D. Margins of the B maximisers give each row a mean and a
deviation, hence a normal density; the sensitivity is the row's leverage times s_i. Maximisers are of
different kinds (near the incumbent with a small D, far from it with a large one), so the density is
fitted in groups of similar D, and each group is scaled to its share of Σ_i s_i G_i = F, an identity.
With K classes the label changes where the first two classes tie. Let class c lead by m_c, its score less
the best of the others. Each boundary between two classes is where both their leads are zero, so the
density of all boundaries together is ½ Σ_c (density of m_c at zero). For two classes m_1 = -m_0, and
this is the density of the margin.

Both return G and the standard error of each G_i.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from aced._types import Array, Codes, Float32, Float64, Ints
from aced._workers import PerRow
from aced.design._problem import Found, Problem
from aced.oracles import lead_moments
from aced.pool import Pool

GROUPS = 4
Score = Callable[..., Array]


@dataclass(frozen=True)
class Sensitivity:
    """G and its standard error, shapes (n,)."""

    mean: Float64
    stderr: Float64


def raw(problem: Problem, found: Found) -> Sensitivity:
    """Sample mean of (ζ_{i,h̃(i)} - ζ_{i,h(i)}) / D over the draws."""
    return raw_from_sums(*raw_sums(problem, found), len(found.ratio))


def raw_sums(problem: Problem, found: Found) -> tuple[Float64, Float64]:
    """Σ_b and Σ_b (·)² of (ζ_{i,h̃(i)} - ζ_{i,h(i)}) / D for draw b, shapes (n,)."""
    share = (1 / found.denominator).astype(np.float32)
    label, args = found.hypotheses.labeller()
    labels = PerRow(found.incumbent.labels)
    sums, squares = problem.oracle.workers.each(
        _terms, problem.oracle.pool, labels, found.weights.noise, share, label, *args
    )
    return sums, squares


def _terms(
    block: Any, incumbent: Codes, zeta: Float32, share: Float32, label: Score, *args: Any
) -> tuple[Array, Array]:
    h, draws = label(block, *args), len(share)
    total = np.zeros((len(h), draws))
    for c in range(1, zeta.shape[1] // draws + 1):
        moved = (incumbent == c)[:, None].astype(np.float32) - (h == c)
        total += moved * zeta[:, (c - 1) * draws : c * draws] * share
    return total.sum(axis=1), np.square(total).sum(axis=1)


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
    scorer, workers = found.hypotheses.scorer(), problem.oracle.workers
    assert scorer is not None
    score, args = scorer
    (squares,) = workers.fold(_squares, problem.oracle.pool, len(found.ratio), score, *args)
    sizes = np.sqrt(np.maximum(squares / problem.n, np.finfo(np.float32).tiny)).astype(np.float32)
    density, relative = workers.each(_densities, pool, PerRow(weight), sizes, parts, score, *args)
    return density, relative


def _shares(found: Found, parts: list[Ints], mass: Float64) -> Float64:
    """The factor that scales each group to its share of Σ s G = F.

    Maximisers that are all the same have no row on their boundary, and their group says nothing.
    """
    share = np.array([found.ratio[part].sum() / len(found.ratio) for part in parts])
    known = mass >= np.finfo(float).tiny
    return np.asarray(np.divide(share, mass, out=np.zeros(len(parts)), where=known))


def _densities(
    block: Any, weight: Float64, sizes: Float32, parts: list[Ints], score: Score, *args: Any
) -> tuple[Array, Array]:
    """For each row and group: weight times the density at zero, and its relative variance."""
    scores = score(block, *args)
    if scores.shape[1] > len(sizes):
        return _lead_densities(scores, weight, sizes, parts)
    margins = scores / sizes
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


def _lead_densities(
    scores: Float32, weight: Float64, sizes: Float32, parts: list[Ints]
) -> tuple[Array, Array]:
    """The same for more than two classes: ½ Σ_c of the densities of each class's lead."""
    groups, counts = np.empty(len(sizes), np.int64), np.array([len(part) for part in parts])
    for g, part in enumerate(parts):
        groups[part] = g
    moments = np.empty((len(scores), scores.shape[1] // len(sizes) + 1, len(parts), 2))
    lead_moments(scores, sizes, groups, counts, moments)
    spread = np.sqrt(moments[..., 1] / (counts - 1)) + 1e-9  # (rows, K, groups)
    z2 = np.square(moments[..., 0] / spread)
    each = np.exp(-z2 / 2) / spread
    total = each.sum(axis=1)
    variance = (np.square(each) * (np.square(z2) + 1) / (2 * counts)).sum(axis=1)
    relative = variance / np.maximum(np.square(total), np.finfo(float).tiny)
    return weight[:, None] * total / 2, relative.astype(np.float32)


def _squares(block: Any, draws: int, score: Score, *args: Any) -> tuple[Array]:
    """2 Σ_i Σ_c (f_c - mean_c f_c)² of each draw over all K classes; Σ_i margin² for two."""
    scores = score(block, *args)
    squares = np.einsum("ib,ib->b", scores, scores)
    if scores.shape[1] == draws:
        return (squares,)
    by_class = scores.reshape(len(scores), -1, draws)
    total = by_class.sum(axis=1)
    mean = np.einsum("ib,ib->b", total, total) / (by_class.shape[1] + 1)
    return (2 * (squares.reshape(-1, draws).sum(axis=0) - mean),)
