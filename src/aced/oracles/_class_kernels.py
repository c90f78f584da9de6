"""The elementwise work between two matrix products for more than two classes, fused and compiled.

With two classes these are the kernels of :mod:`aced.oracles._kernels`, which need no exp. Here a row
has scores f_1 … f_{K-1} for each draw, and f_0 = 0. With a_c = v_c - min_c v_c and A = Σ_c a_c, the
surrogate Σ_c a_c (-log softmax_c(f)) falls fastest along

    -∂/∂f_c = a_c - A softmax_c(f),

which for two classes is v σ(-sign(v) f).

exp(x) for x ≤ 0 is P(x/16)^16, P the Padé approximant of order (3, 3); x is cut at -20. The relative
error is below 1e-5 for x ≥ -5 and below 1e-3 everywhere.
"""

from __future__ import annotations

import numpy as np

from aced._types import Float32
from aced.oracles._kernels import fast

_f = np.float32
_ZERO, _ONE, _CUT, _SIXTEENTH = _f(0), _f(1), _f(-20), _f(1 / 16)
_P0, _P1, _P2 = _f(120), _f(60), _f(12)


@fast
def _exp(x: np.float32) -> np.float32:
    """e^x for x ≤ 0."""
    y = (_CUT if x < _CUT else x) * _SIXTEENTH
    square = y * y
    even, odd = _P0 + _P2 * square, y * (_P1 + square)
    root = (even + odd) / (even - odd)
    root *= root
    root *= root
    root *= root
    return root * root


@fast
def residual(
    scores: Float32,
    bias: Float32,
    zeta: Float32,
    scale: Float32,
    mu: Float32,
    r: Float32,
    tally: Float32,
) -> None:
    """Replace scores (rows, (K - 1) B) by a_c - A softmax_c; add Σ μ̂ h, Σ s ζ h to tally (2, B)."""
    draws, others = len(r), mu.shape[1]
    top, chosen, spread = np.empty(draws, _f), np.empty(draws, _f), np.empty(draws, _f)
    least, total, mass = np.empty(draws, _f), np.empty(draws, _f), np.empty(draws, _f)
    for i in range(scores.shape[0]):
        s, row, noise = scale[i], scores[i], zeta[i]
        for b in range(draws):
            top[b] = chosen[b] = spread[b] = least[b] = total[b] = _ZERO
        for c in range(others):
            u, first = mu[i, c], c * draws
            for b in range(draws):
                z = noise[first + b] * s
                v = r[b] * u - z
                f = row[first + b] + bias[first + b]
                row[first + b] = f
                wins = f > top[b]
                top[b] = f if wins else top[b]
                chosen[b] = u if wins else chosen[b]
                spread[b] = z if wins else spread[b]
                least[b] = v if v < least[b] else least[b]
                total[b] += v
        for b in range(draws):
            tally[0, b] += chosen[b]
            tally[1, b] += spread[b]
            total[b] -= _f(others + 1) * least[b]
            mass[b] = _exp(-top[b])
        for c in range(others):
            first = c * draws
            for b in range(draws):
                e = _exp(row[first + b] - top[b])
                row[first + b] = e
                mass[b] += e
        for b in range(draws):
            mass[b] = total[b] / mass[b]
        for c in range(others):
            u, first = mu[i, c], c * draws
            for b in range(draws):
                v = r[b] * u - noise[first + b] * s
                row[first + b] = v - least[b] - mass[b] * row[first + b]


@fast
def shifted_tally(
    scores: Float32,
    bias: Float32,
    anchor: Float32,
    steps: Float32,
    zeta: Float32,
    scale: Float32,
    mu: Float32,
    tally: Float32,
) -> None:
    """Tallies of the hypotheses with scores anchor + steps[q, b] f_b; tally is (Q, 2, B)."""
    draws, others = steps.shape[1], mu.shape[1]
    top, chosen, spread = np.empty(draws, _f), np.empty(draws, _f), np.empty(draws, _f)
    for i in range(scores.shape[0]):
        s, row, noise = scale[i], scores[i], zeta[i]
        for q in range(steps.shape[0]):
            for b in range(draws):
                top[b] = chosen[b] = spread[b] = _ZERO
            for c in range(others):
                u, start, first = mu[i, c], anchor[i, c], c * draws
                for b in range(draws):
                    f = start + steps[q, b] * (row[first + b] + bias[first + b])
                    wins = f > top[b]
                    top[b] = f if wins else top[b]
                    chosen[b] = u if wins else chosen[b]
                    spread[b] = noise[first + b] if wins else spread[b]
            for b in range(draws):
                tally[q, 0, b] += chosen[b]
                tally[q, 1, b] += spread[b] * s


@fast
def lead_moments(
    scores: Float32, sizes: Float32, group: np.ndarray, counts: np.ndarray, out: np.ndarray
) -> None:
    """Mean and squared deviation of each class's lead over the best other class, in groups of draws.

    scores (rows, (K - 1) B) are divided by sizes (B,); group (B,) numbers the groups, counts has their
    sizes, and out (rows, K, groups, 2) is filled.
    """
    draws = len(sizes)
    others = scores.shape[1] // draws
    for i in range(scores.shape[0]):
        row, found = scores[i], out[i]
        found[:] = 0.0
        for b in range(draws):
            first = second = _ZERO
            second = _f(-np.inf)
            best = 0
            for c in range(others):
                f = row[c * draws + b]
                if f > first:
                    first, second, best = f, first, c + 1
                elif f > second:
                    second = f
            g, inverse = group[b], _ONE / sizes[b]
            for c in range(others + 1):
                own = row[(c - 1) * draws + b] if c > 0 else _ZERO
                lead = np.float64((own - (second if c == best else first)) * inverse)
                found[c, g, 0] += lead
                found[c, g, 1] += lead * lead
        for c in range(others + 1):
            for g in range(len(counts)):
                mean = found[c, g, 0] / counts[g]
                found[c, g, 0] = mean
                found[c, g, 1] = max(found[c, g, 1] - counts[g] * mean * mean, 0.0)
