"""Linear hypotheses that are made better by the count of errors itself.

The surrogate of :mod:`._linear` weighs a row by how wrong its margin is. Where most rows cannot be
separated, its best hypothesis is far from the best one. So from any hypothesis w this climbs

    Σ_i Σ_c v_ic softmax_c(β w·x_i),

which for β → ∞ is Σ_i v_{i,h(x_i)}. β grows from soft to steep, while the slopes of w give margins of
mean square 1. A step is along H⁻¹ times the gradient, with momentum, and scaled alike. The best one met
on the way is kept, so that nothing is lost. It costs two products a step.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import expit

from aced._types import Array, Float32, Float64
from aced.oracles import _passes
from aced.oracles._base import Candidates, Hypotheses
from aced.oracles._geometry import fold, mix_classes
from aced.oracles._linear import KAPPA, LinearHypotheses, LinearMaximiser
from aced.oracles._weights import value

STEEPNESS = (2.0, 8.0, 32.0)
"""β, one after the other;"""
STEPS = 4
"""so many steps with each."""
LENGTH, MOMENTUM = 0.5, 0.5
SHIFTS = (-3.0, -2.0, -1.0, -0.5, 0.5, 1.0, 2.0, 3.0)
"""By how much the constant of a class is moved at the start, to see what is best."""
FLAT = 1e-2
"""The constant counts this much where margins are scaled: a class of few rows is far from the mean."""


def polish(maximiser: LinearMaximiser, r: Float32, start: Hypotheses) -> Candidates:
    """For each of the B weights at levels r (B,), the best hypothesis met from ``start`` (B of them)."""
    oracle, draws = maximiser.oracle, len(r)
    form = maximiser.metric.at(float(np.median(r)))
    one = np.zeros((1, oracle.pool.features + 1))
    one[0, -1] = 1.0
    unit = float(maximiser.metric.sizes(one)[0])

    def scaled(points: Array) -> Array:
        slopes = points.copy()
        slopes[:, -1] *= FLAT
        size = np.sqrt(np.maximum(maximiser.sizes(slopes), 1e-30) / unit)
        return np.asarray(points / np.tile(size, oracle.classes - 1)[:, None])

    raw = start.to_array().reshape(draws, oracle.classes - 1, -1).transpose(1, 0, 2)
    point = scaled(np.concatenate([np.stack([fold(maximiser.geometry, w) for w in c]) for c in raw]))
    point = _moved(maximiser, point, r)
    best, tally, speed = point, None, np.zeros_like(point)
    for beta in STEEPNESS:
        for _ in range(STEPS):
            met, gradient = _step(maximiser, point, r, beta)
            if tally is None:
                tally = met
            better = value(r, met) > value(r, tally)
            tally = np.where(better, met, tally)
            best = np.where(np.tile(better, oracle.classes - 1)[:, None], point, best)
            along = mix_classes(maximiser.metric.solve(form, gradient), draws, KAPPA)
            speed = MOMENTUM * speed + scaled(along)
            point = scaled(point + LENGTH / np.sqrt(beta) * speed)
        speed = np.zeros_like(point)
    assert tally is not None
    coefficients = maximiser.geometry.unfold(best)
    return Candidates(LinearHypotheses(oracle.pool, coefficients, oracle.classes), tally)


def exchanged(maximiser: LinearMaximiser, r: Float32, hypotheses: Hypotheses) -> Hypotheses:
    """For each of the B weights, the best of any number of hypotheses."""
    oracle = maximiser.oracle
    label, args = hypotheses.labeller()
    how = *maximiser.weights.rows, label, *args
    signal, noise = oracle.workers.fold(_crossed, oracle.pool, *how)
    return hypotheses.take((signal[:, None] * r - noise).argmax(axis=0))


def _crossed(
    block: Any, zeta: Float32, scale: Float32, mu: Float32, label: Any, *args: Any
) -> tuple[Array, Array]:
    """Σ μ̂ h (H,) and Σ s ζ h (H, B) over one block, for every hypothesis and every ζ."""
    labels, others = np.asarray(label(block, *args)), mu.shape[1]
    spread = zeta * scale[:, None]
    draws = spread.shape[1] // others
    signal, noise = np.zeros(labels.shape[1]), np.zeros((labels.shape[1], draws))
    for c in range(others):
        chosen = (labels == c + 1).astype(np.float32)
        signal += mu[:, c] @ chosen
        noise += chosen.T @ spread[:, c * draws : (c + 1) * draws]
    return signal, noise


def _moved(maximiser: LinearMaximiser, point: Array, r: Float32) -> Array:
    """Each hypothesis with the constant of one class moved to where the sum is largest."""
    slopes, bias = _raw(maximiser, point)
    oracle, draws = maximiser.oracle, len(r)
    how = *maximiser.weights.rows, slopes, bias, r
    tallies = oracle.workers.fold(_shifted, oracle.pool, *how)[0]
    values = np.stack([value(r, tally) for tally in tallies])
    found, by, each = values.argmax(axis=0), np.append(0.0, SHIFTS), np.arange(draws)
    moved = point.copy()
    for c in range(oracle.classes - 1):
        own = (found > 0) & ((found - 1) // len(SHIFTS) == c)
        moved[c * draws + each[own], -1] += by[1 + (found[own] - 1) % len(SHIFTS)]
    return moved


def _raw(maximiser: LinearMaximiser, point: Array) -> tuple[Float32, Float32]:
    """Slopes (p, (K - 1) B) and biases in the pool's own coordinates."""
    coefficients = maximiser.geometry.unfold(point)
    return np.ascontiguousarray(coefficients[:, :-1].T), coefficients[:, -1].copy()


def _shifted(
    block: Any, zeta: Float32, scale: Float32, mu: Float32, slopes: Float32, bias: Float32, r: Float32
) -> tuple[Array]:
    """Tallies of the hypotheses as they are, and with each class moved by each shift."""
    draws, others = len(r), mu.shape[1]
    found = np.zeros((1 + others * len(SHIFTS), 2, draws))
    for rows, part in _passes.parts(block, len(bias), draws):
        scores = np.asarray(_passes.times(rows, slopes) + bias)
        spread = zeta[part] * scale[part, None]
        found[0] += _tally(scores, mu[part], spread)
        for c in range(others):
            own = slice(c * draws, (c + 1) * draws)
            for k, shift in enumerate(SHIFTS):
                scores[:, own] += np.float32(shift)
                found[1 + c * len(SHIFTS) + k] += _tally(scores, mu[part], spread)
                scores[:, own] -= np.float32(shift)
    return (found,)


def _tally(scores: Array, mu: Float32, spread: Float32) -> Float64:
    """Σ μ̂ h and Σ s ζ h of some rows, (2, B), from their scores (m, (K - 1) B)."""
    others = mu.shape[1]
    draws = scores.shape[1] // others
    labels = _passes.best_class(scores, draws)
    found = np.zeros((2, draws))
    for c in range(others):
        chosen = (labels == c + 1).astype(np.float32)
        found[0] += mu[:, c] @ chosen
        found[1] += np.einsum("ib,ib->b", chosen, spread[:, c * draws : (c + 1) * draws])
    return found


def _step(maximiser: LinearMaximiser, point: Array, r: Float32, beta: float) -> tuple[Float64, Array]:
    """Tally of the hypotheses at ``point``, and the gradient."""
    slopes, bias = _raw(maximiser, point)
    oracle = maximiser.oracle
    how = *maximiser.weights.rows, slopes, bias, r, np.float32(beta)
    tally, raw, total = oracle.workers.fold(_steep, oracle.pool, *how)
    return tally, maximiser.geometry.fold_gradient(raw, total)


def _pull(scores: Float32, v: Float32) -> Float32:
    """The derivative of Σ_c v_c softmax_c by the scores (m, (K - 1) B); v is (m, K - 1, B)."""
    if v.shape[1] == 1:
        shares = expit(scores)
        return np.asarray(shares * (1 - shares) * v[:, 0], dtype=np.float32)
    scores = scores.reshape(v.shape)
    top = np.maximum(scores.max(axis=1, keepdims=True), 0)
    shares = np.exp(scores - top)
    shares /= shares.sum(axis=1, keepdims=True) + np.exp(-top)  # class 0 has the score 0
    return np.asarray(shares * (v - (shares * v).sum(axis=1, keepdims=True))).reshape(len(v), -1)


def _steep(
    block: Any,
    zeta: Float32,
    scale: Float32,
    mu: Float32,
    slopes: Float32,
    bias: Float32,
    r: Float32,
    beta: Float32,
) -> tuple[Array, Array, Array]:
    """Tally (2, B) and gradient of the smooth sum, for the coefficients, over one block."""
    draws, others = len(r), mu.shape[1]
    tally = np.zeros((2, draws))
    found: list[Array] = []
    for rows, part in _passes.parts(block, len(bias), draws):
        flat = np.asarray(_passes.times(rows, slopes) + bias)
        spread = zeta[part] * scale[part, None]
        tally += _tally(flat, mu[part], spread)
        pull = _pull(beta * flat, mu[part][:, :, None] * r - spread.reshape(-1, others, draws))
        pull *= beta
        added = _passes.transposed_times(rows, pull), pull.sum(axis=0)
        found = [a + b for a, b in zip(found, added, strict=True)] if found else list(added)
    return tally, found[0], found[1]
