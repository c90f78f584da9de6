"""What every oracle must do.

Every check takes ``make`` (a function of a pool and workers that makes the oracle), ``pool``, and
``seed``, from which the weights to try are drawn.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from aced._types import Float64
from aced._workers import Workers
from aced.oracles import (
    GaussianNoise,
    Maximiser,
    Oracle,
    Weights,
    argmax,
    best_per_draw,
    labels_of,
    value,
)
from aced.pool import Pool
from aced.testing._checks import run

Make = Callable[[Pool, Workers], Oracle]
Check = Callable[[Make, Pool, int], None]

LEVELS = np.array([0, 0.1, 1, 3, 10, 100], dtype=np.float32)


def oracle_checks() -> tuple[Check, ...]:
    """The suite: one function for each thing that is required of an oracle."""
    return (
        check_the_pool_is_the_one_it_was_made_for,
        check_values_are_the_weights_of_the_labels,
        check_scaling_the_weights_changes_no_answer,
        check_a_vector_alone_is_answered_as_in_company,
        check_tallies_are_those_of_the_labels,
        check_a_large_level_favours_the_estimate,
        check_an_anchor_loses_no_value,
        check_leverages_are_not_negative,
        check_hypotheses_are_joined_and_rebuilt,
        check_the_sign_of_the_margin_is_the_label,
        check_the_number_of_threads_changes_nothing,
    )


def check_oracle(make: Make, pool: Pool, *, seed: int = 0) -> None:
    """Run the whole suite on oracles that ``make`` makes over ``pool``, with weights by ``seed``."""
    run(oracle_checks(), make, pool, seed)


def check_the_pool_is_the_one_it_was_made_for(make: Make, pool: Pool, seed: int = 0) -> None:
    assert make(pool, Workers(1)).pool is pool, "oracle.pool must be the pool that it was made with"


def check_values_are_the_weights_of_the_labels(make: Make, pool: Pool, seed: int = 0) -> None:
    vectors = _vectors(pool, seed)
    labels, values = argmax(make(pool, Workers(1)), vectors)
    assert labels.shape == vectors.shape, "each weight vector must get one labelling"
    assert labels.dtype == bool, "labels must be bool"
    expected = (vectors * labels).sum(axis=1)
    assert np.allclose(values, expected, rtol=1e-3, atol=1e-2), "values must be Σ v_i h_i"


def check_scaling_the_weights_changes_no_answer(make: Make, pool: Pool, seed: int = 0) -> None:
    oracle, vectors = make(pool, Workers(1)), _vectors(pool, seed)
    agreement = (argmax(oracle, 1000 * vectors)[0] == argmax(oracle, vectors)[0]).mean()
    assert agreement > 0.97, f"scaling the weights changed {1 - agreement:.0%} of the labels"


def check_a_vector_alone_is_answered_as_in_company(make: Make, pool: Pool, seed: int = 0) -> None:
    oracle, vectors = make(pool, Workers(1)), _vectors(pool, seed)
    alone, value_alone = argmax(oracle, vectors[2])
    assert alone.shape == (1, len(pool)), "a flat vector is one weight vector"
    in_company = argmax(oracle, vectors)[1][2]
    assert value_alone[0] >= 0.9 * in_company - 1e-6, f"{value_alone[0]} alone, {in_company} with others"


def check_tallies_are_those_of_the_labels(make: Make, pool: Pool, seed: int = 0) -> None:
    oracle, weights, maximiser = _family(make, pool, seed)
    found = best_per_draw(LEVELS, maximiser.maximise(LEVELS), oracle)
    labels = labels_of(oracle, found.hypotheses)
    zeta = np.concatenate([weights.noise.block(j) for j in range(pool.blocks)]).T
    tally = np.stack([labels @ weights.mu, (labels * zeta * weights.scale).sum(axis=1)])
    assert np.allclose(found.tally, tally, rtol=1e-3, atol=1e-2), "tallies must match the labels"


def check_a_large_level_favours_the_estimate(make: Make, pool: Pool, seed: int = 0) -> None:
    oracle, weights, maximiser = _family(make, pool, seed)
    found = best_per_draw(LEVELS, maximiser.maximise(LEVELS), oracle).tally[0, -1]
    most = float(weights.mu[weights.mu > 0].sum())
    assert found >= 0.9 * most - 1e-6, f"Σ μ̂ h is {found} at a large r, and {most} can be had"


def check_an_anchor_loses_no_value(make: Make, pool: Pool, seed: int = 0) -> None:
    oracle, _, maximiser = _family(make, pool, seed)
    plain = best_per_draw(LEVELS, maximiser.maximise(LEVELS), oracle)
    anchor = plain.hypotheses.take(np.array([3]))
    anchored = best_per_draw(LEVELS, maximiser.maximise(LEVELS, anchor), oracle)
    before = value(LEVELS, plain.tally)
    worse = before - value(LEVELS, anchored.tally)
    assert (worse <= 1e-3 * np.abs(before) + 1e-3).all(), "with an anchor the values became smaller"


def check_leverages_are_not_negative(make: Make, pool: Pool, seed: int = 0) -> None:
    leverage = _family(make, pool, seed)[2].leverage(1.0)
    if leverage is not None:
        assert leverage.shape == (len(pool),), "there must be one leverage for each row"
        assert (leverage >= 0).all(), "leverages must not be negative"


def check_hypotheses_are_joined_and_rebuilt(make: Make, pool: Pool, seed: int = 0) -> None:
    oracle = make(pool, Workers(1))
    first = oracle.initial()
    assert len(first) == 1, "initial() must be one hypothesis"
    both = oracle.gather([first, first])
    assert len(both) == 2, "gather joins"
    again = oracle.from_array(both.to_array())
    assert (labels_of(oracle, again) == labels_of(oracle, both)).all(), "from_array must undo to_array"


def check_the_sign_of_the_margin_is_the_label(make: Make, pool: Pool, seed: int = 0) -> None:
    first = make(pool, Workers(1)).initial()
    margins = first.margins(0)
    assert margins is None or ((margins > 0) == first.labels(0)).all(), "a margin has the wrong sign"


def check_the_number_of_threads_changes_nothing(make: Make, pool: Pool, seed: int = 0) -> None:
    (one, value_one), (many, value_many) = (
        argmax(make(pool, Workers(threads)), _vectors(pool, seed)) for threads in (1, 3)
    )
    assert (one == many).all(), "labels depend on the number of threads"
    assert (value_one == value_many).all(), "values depend on the number of threads"


def _vectors(pool: Pool, seed: int) -> Float64:
    """Five weight vectors."""
    return np.random.default_rng(seed).standard_normal((5, len(pool)))


def _family(make: Make, pool: Pool, seed: int) -> tuple[Oracle, Weights, Maximiser]:
    """Weights r μ̂ - s ζ where μ̂ knows a third of the labels of a rule that the class can follow."""
    rng, oracle = np.random.default_rng(seed), make(pool, Workers(1))
    truth, _ = argmax(oracle, rng.standard_normal(len(pool)))
    mu = np.where(rng.random(len(pool)) < 0.3, 2.0 * truth[0] - 1, 0.0).astype(np.float32)
    scale = (0.5 + rng.random(len(pool))).astype(np.float32)
    weights = Weights(pool, mu, scale, GaussianNoise(pool, len(LEVELS), seed=7))
    return oracle, weights, oracle.prepare(weights)
