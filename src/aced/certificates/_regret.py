"""How much more accurate on the pool any classifier of the class could be than the present one.

======== ============ =============================================================================
symbol   name in code meaning
======== ============ =============================================================================
N                     the rows of the pool
ĥ        said         the present classifier
p_i      shares       probabilities of row i's classes; of a labelled row, by the model without it
π_i      chance       the chance that row i was drawn so far
L_i(c)   losses       the loss of class c on row i: 1 - p_i(c) where there is no label, and
                      [y ≠ c] + (1/π_i - 1) ([y ≠ c] - (1 - p_i(c))) where there is one
s_i      scale        sqrt(2 (1 - Σ_c p_i(c)²) (1 - π_i) / π_i)
ζ        noise        Gaussian noise of each row and class (:mod:`aced.oracles._noise`)
======== ============ =============================================================================

Σ_i L_i(h(x_i)) / N estimates the error rate of h: what the model expects of all rows, put right by how
it fared on those that were drawn, each standing for 1 / π_i. Rows that were told without a draw count as
they are. The variance is about Σ s_i² / N², and that of a difference of two classifiers is the same sum
over the rows on which they differ. So the regret of ĥ is at most

    quantile over ζ of max_h (1/N) [ Σ_i L_i(ĥ) - L_i(h) + s_i (ζ_i,ĥ - ζ_i,h) ],

with about the probability of the quantile. As in the paper, this is one search for the best weighted
classifier for each ζ. On labelled rows the errors of ĥ are those that the model makes of rows left out:
a classifier fits the labels that it was trained on.

π_i follows from the designs that the rows were drawn from, as if no row had been closed; for a row that
was drawn, its own probability at its draw is added, which a design does not show if it is by gain.

The bound is asymptotic: it needs many draws and a model that is not far off. The search,
:mod:`aced.oracles._polish`, may miss the best classifier; the bound is then too small.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.stats import norm

from aced._types import Float32, Float64, Ints
from aced.certificates._certificate import Certificate
from aced.certificates._claims import Known
from aced.certificates._drawn import Drawn
from aced.oracles import (
    Candidates,
    GaussianNoise,
    Hypotheses,
    LinearOracle,
    Weights,
    best_per_draw,
    exchanged,
    polish,
    tally_all,
    value,
)

DRAWS = 64
"""ζ that the quantile is taken of."""


@dataclass(frozen=True)
class Losses:
    """What draws and model say of every row."""

    losses: Float64  # (n, K): L_i(c) / N
    scale: Float64  # (n,): s_i / N
    own: float  # Σ_i L_i(ĥ) / N
    present: Float64  # (n,): its terms


def losses_of(drawn: Drawn, now: Known, codes: Ints, shares: Float64) -> Losses:
    """L, s and the estimated error of ĥ; ``codes`` (K,) are those of the columns of p (n, K)."""
    n, rows = drawn.n, np.flatnonzero(now.labelled)
    place = np.zeros(int(max(codes.max(), now.codes.max(initial=0), now.said.max(initial=0))) + 1, int)
    place[codes] = np.arange(len(codes))
    losses = 1 - shares
    doubted = losses[rows]  # what the model expects
    wrong = np.ones((len(rows), len(codes)))
    wrong[np.arange(len(rows)), place[now.codes[rows]]] = 0
    chance = -np.expm1(-drawn.rates)
    use = now.labelled[drawn.rows] & (drawn.explore > 0)
    came = drawn.rows[use]
    chance[came] += (1 - chance[came]) * drawn.probabilities[use]
    chance[np.setdiff1d(rows, came)] = 1.0  # they are known whatever was drawn
    chance = np.clip(chance, 1e-9, 1.0)
    correction = np.zeros(n)
    correction[came] = 1 / chance[came] - 1
    c = correction[rows]
    losses[rows] = wrong + c[:, None] * (wrong - doubted)
    said, left_out = place[now.said], shares[rows].argmax(axis=1)
    each = np.arange(len(rows))
    own = 1 - shares[np.arange(n), said]
    own[rows] = wrong[each, said[rows]] + c * (wrong[each, left_out] - doubted[each, left_out])
    spread = 2 * (1 - np.square(shares).sum(axis=1)).clip(0) * (1 - chance) / chance
    return Losses(losses / n, np.sqrt(spread) / n, float(own.sum() / n), own / n)


def regret(
    found: Losses,
    oracle: LinearOracle,
    present: Hypotheses,
    confidence: float,
    labels: int,
    seed: int,
) -> Certificate:
    """The bound, with ``present`` as the one hypothesis that ĥ is."""
    gains: Float32 = np.asarray(found.losses[:, :1] - found.losses[:, 1:], np.float32)
    base = found.own - float(found.losses[:, 0].sum())
    scale = np.asarray(found.scale, np.float32).clip(1e-9)  # nothing is quite certain
    noise = GaussianNoise(oracle.pool, DRAWS, seed, found.losses.shape[1])
    weights = Weights(oracle.pool, gains, scale, noise)
    here = oracle.from_array(np.repeat(present.to_array(), DRAWS, axis=0))
    with oracle.workers.session():
        own = tally_all(weights, here, oracle.workers)
        best = _best(oracle, weights, present, here)
    by_draw = np.sort(base + value(np.ones(DRAWS, np.float32), best.tally) + own[1])
    bound = _quantile(by_draw, confidence)
    return regret_from(base + float(best.tally[0].max()), bound, confidence, labels)


def regret_from(estimate: float, bound: float, confidence: float, labels: int) -> Certificate:
    """The certificate of a regret, which is never below 0 or above 1."""
    high = min(max(bound, 0.0), 1.0)
    return Certificate("regret", min(max(estimate, 0.0), high), 0.0, high, confidence, labels)


def _quantile(ascending: Float64, confidence: float) -> float:
    """The quantile of these draws, from above; beyond them, that of a normal distribution like them."""
    place = int(np.ceil(confidence * (len(ascending) + 1)))
    if place <= len(ascending):
        return float(ascending[place - 1])
    return float(max(ascending[-1], ascending.mean() + norm.ppf(confidence) * ascending.std(ddof=1)))


def _calm(oracle: LinearOracle, gains: Float32) -> Hypotheses:
    """One good hypothesis for the gains without noise, found where gains and losses weigh the same."""
    size = [np.where(gains > 0, gains, 0).sum(axis=0), np.where(gains < 0, -gains, 0).sum(axis=0)]
    even = gains / np.where(gains > 0, *np.maximum(size, 1e-12))
    none = np.zeros(1, np.float32)
    begun = oracle.prepare(Weights.given(oracle.pool, even[None])).maximise(none)
    start = best_per_draw(none, begun, oracle).hypotheses
    return polish(oracle.prepare(Weights.given(oracle.pool, gains[None])), none, start).hypotheses


def _best(oracle: LinearOracle, weights: Weights, present: Hypotheses, here: Hypotheses) -> Candidates:
    """The best hypothesis found for each ζ: from the present one, and from that of the surrogate."""
    r = np.ones(weights.draws, np.float32)
    maximiser = oracle.prepare(weights)
    by_surrogate = best_per_draw(r, maximiser.maximise(r, present), oracle)
    found = [polish(maximiser, r, start) for start in (here, by_surrogate.hypotheses)]
    every = oracle.gather([*(one.hypotheses for one in found), _calm(oracle, weights.mu)])
    found.append(polish(maximiser, r, exchanged(maximiser, r, every)))
    return best_per_draw(r, found, oracle)
