"""What every oracle must do."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from aced._types import Float64
from aced._workers import Workers
from aced.oracles import GaussianNoise, Oracle, Weights, argmax, best_per_draw, labels_of, value
from aced.pool import Pool

Make = Callable[[Pool, Workers], Oracle]


def check_oracle(make: Make, pool: Pool, *, seed: int = 0) -> None:
    """Run the whole suite on oracles that ``make`` builds over ``pool``."""
    rng = np.random.default_rng(seed)
    oracle = make(pool, Workers(1))
    assert oracle.pool is pool, "oracle.pool must be the pool it was made for"
    _check_argmax(oracle, rng)
    _check_family(oracle, rng)
    _check_hypotheses(oracle)
    _check_threads(make, pool, rng)


def _check_argmax(oracle: Oracle, rng: np.random.Generator) -> None:
    vectors = rng.standard_normal((5, len(oracle.pool)))
    labels, values = argmax(oracle, vectors)
    assert labels.shape == vectors.shape, "one labeling of the pool per weight vector"
    assert labels.dtype == bool, "labels must be bool"
    expected = (vectors * labels).sum(axis=1)
    assert np.allclose(values, expected, rtol=1e-3, atol=1e-2), "values must be Σ v_i h_i"
    # scaling v does not change which h is best
    scaled, _ = argmax(oracle, 1000 * vectors)
    agreement = (scaled == labels).mean()
    assert agreement > 0.97, f"scaling the weights changed {1 - agreement:.0%} of the labels"
    # a single vector is answered as it is in company
    alone, value_alone = argmax(oracle, vectors[2])
    assert alone.shape == (1, len(oracle.pool)), "a flat vector is one weight vector"
    assert value_alone[0] >= 0.9 * values[2] - 1e-6, "a vector alone is answered much worse"


def _check_family(oracle: Oracle, rng: np.random.Generator) -> None:
    n = len(oracle.pool)
    truth, _ = argmax(oracle, rng.standard_normal(n))  # a rule that the class can follow
    mu = np.where(rng.random(n) < 0.3, 2.0 * truth[0] - 1, 0.0).astype(np.float32)
    scale = (0.5 + rng.random(n)).astype(np.float32)
    weights = Weights(oracle.pool, mu, scale, GaussianNoise(oracle.pool, 6, seed=7))
    r = np.array([0, 0.1, 1, 3, 10, 100], dtype=np.float32)
    maximiser = oracle.prepare(weights)
    found = best_per_draw(r, maximiser.maximise(r), oracle)
    labels = labels_of(oracle, found.hypotheses)
    zeta = np.concatenate([weights.noise.block(j) for j in range(oracle.pool.blocks)]).T
    tally = np.stack([labels @ mu, (labels * zeta * scale).sum(axis=1)])
    assert np.allclose(found.tally, tally, rtol=1e-3, atol=1e-2), "tallies must match the labels"
    # at a large r the answer follows μ̂
    most = float(mu[mu > 0].sum())
    assert found.tally[0, -1] >= 0.9 * most - 1e-6, "a large r must favour agreement with μ̂"
    # an anchor never makes the answer worse
    anchored = best_per_draw(r, maximiser.maximise(r, found.hypotheses.take(np.array([3]))), oracle)
    worse = value(r, found.tally) - value(r, anchored.tally)
    assert (worse <= 1e-3 * np.abs(value(r, found.tally)) + 1e-3).all(), "an anchor lost value"
    leverage: Float64 | None = maximiser.leverage(1.0)
    if leverage is not None:
        assert leverage.shape == (n,), "one leverage per row"
        assert (leverage >= 0).all(), "leverages are not negative"


def _check_hypotheses(oracle: Oracle) -> None:
    first = oracle.initial()
    assert len(first) == 1, "initial() is one hypothesis"
    both = oracle.gather([first, first])
    assert len(both) == 2, "gather joins"
    again = oracle.from_array(both.to_array())
    assert (labels_of(oracle, again) == labels_of(oracle, both)).all(), "to_array and from_array invert"
    margins = first.margins(0)
    if margins is not None:
        assert ((margins > 0) == first.labels(0)).all(), "the sign of the margin is the label"


def _check_threads(make: Make, pool: Pool, rng: np.random.Generator) -> None:
    vectors = rng.standard_normal((4, len(pool)))
    one, value_one = argmax(make(pool, Workers(1)), vectors)
    many, value_many = argmax(make(pool, Workers(3)), vectors)
    assert (one == many).all(), "labels depend on the number of threads"
    assert (value_one == value_many).all(), "values depend on the number of threads"
