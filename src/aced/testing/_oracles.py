"""What every oracle must do.

Every check takes ``make`` (a function of a pool and workers that makes the oracle), ``pool``, and
``seed``, from which the weights to try are drawn. The oracle may be for any number of classes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from aced._types import Array, Codes, Float64
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
        check_the_largest_score_is_the_label,
        check_the_number_of_threads_changes_nothing,
    )


def check_oracle(make: Make, pool: Pool, *, seed: int = 0) -> None:
    """Run the whole suite on oracles that ``make`` makes over ``pool``, with weights by ``seed``."""
    run(oracle_checks(), make, pool, seed)


def check_the_pool_is_the_one_it_was_made_for(make: Make, pool: Pool, seed: int = 0) -> None:
    assert make(pool, Workers(1)).pool is pool, "oracle.pool must be the pool that it was made with"


def check_values_are_the_weights_of_the_labels(make: Make, pool: Pool, seed: int = 0) -> None:
    oracle = make(pool, Workers(1))
    vectors = _vectors(oracle, seed)
    labels, values = argmax(oracle, vectors)
    assert labels.shape == vectors.shape[:2], "each weight vector must get one labelling"
    assert labels.dtype == np.int8, "labels must be codes, as int8"
    assert labels.min() >= 0, "labels must be codes from 0 up"
    assert labels.max() < oracle.classes, "labels must be codes below the number of classes"
    expected = _chosen(vectors, labels).sum(axis=1)
    assert np.allclose(values, expected, rtol=1e-3, atol=1e-2), "values must be Σ_i v_{i,h(i)}"


def check_scaling_the_weights_changes_no_answer(make: Make, pool: Pool, seed: int = 0) -> None:
    oracle = make(pool, Workers(1))
    vectors = _vectors(oracle, seed)
    agreement = (argmax(oracle, 1000 * vectors)[0] == argmax(oracle, vectors)[0]).mean()
    assert agreement > 0.97, f"scaling the weights changed {1 - agreement:.0%} of the labels"


def check_a_vector_alone_is_answered_as_in_company(make: Make, pool: Pool, seed: int = 0) -> None:
    oracle = make(pool, Workers(1))
    vectors = _vectors(oracle, seed)
    alone, value_alone = argmax(oracle, vectors[2:3])
    assert alone.shape == (1, len(pool)), "one weight vector must get one labelling"
    in_company = argmax(oracle, vectors)[1][2]
    assert value_alone[0] >= 0.9 * in_company - 1e-6, f"{value_alone[0]} alone, {in_company} with others"


def check_tallies_are_those_of_the_labels(make: Make, pool: Pool, seed: int = 0) -> None:
    oracle, weights, maximiser = _family(make, pool, seed)
    found = best_per_draw(LEVELS, maximiser.maximise(LEVELS), oracle)
    labels = labels_of(oracle, found.hypotheses)
    zeta = np.concatenate([weights.noise.block(j) for j in range(pool.blocks)])
    zeta = zeta.reshape(len(pool), -1, len(LEVELS)).transpose(2, 0, 1) * weights.scale[:, None]
    mu = np.broadcast_to(weights.mu, zeta.shape)
    tally = np.stack([_chosen(mu, labels).sum(axis=1), _chosen(zeta, labels).sum(axis=1)])
    assert np.allclose(found.tally, tally, rtol=1e-3, atol=1e-2), "tallies must match the labels"


def check_a_large_level_favours_the_estimate(make: Make, pool: Pool, seed: int = 0) -> None:
    oracle, weights, maximiser = _family(make, pool, seed)
    found = best_per_draw(LEVELS, maximiser.maximise(LEVELS), oracle).tally[0, -1]
    most = float(np.maximum(weights.mu.max(axis=1), 0).sum())
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


def check_the_largest_score_is_the_label(make: Make, pool: Pool, seed: int = 0) -> None:
    oracle, _, maximiser = _family(make, pool, seed)
    found = best_per_draw(LEVELS, maximiser.maximise(LEVELS), oracle).hypotheses
    if (scorer := found.scorer()) is not None:
        score, args = scorer
        scores = oracle.workers.each(_scores, pool, score, *args)[0].reshape(len(pool), -1, len(found))
        labels = labels_of(oracle, found)
        padded = np.concatenate([np.zeros((len(pool), 1, len(found))), scores], axis=1)
        assert (labels == padded.argmax(axis=1).T).all(), "a label is not the class with the best score"


def _scores(block: Any, score: Any, *args: Any) -> tuple[Any]:
    return (score(block, *args),)


def check_the_number_of_threads_changes_nothing(make: Make, pool: Pool, seed: int = 0) -> None:
    oracles = [make(pool, Workers(threads)) for threads in (1, 3)]
    vectors = _vectors(oracles[0], seed)
    (one, value_one), (many, value_many) = (argmax(oracle, vectors) for oracle in oracles)
    assert (one == many).all(), "labels depend on the number of threads"
    assert (value_one == value_many).all(), "values depend on the number of threads"


def _vectors(oracle: Oracle, seed: int) -> Float64:
    """Five weight vectors, (5, n, K - 1)."""
    shape = (5, len(oracle.pool), oracle.classes - 1)
    return np.random.default_rng(seed).standard_normal(shape)


def _chosen(values: Array, labels: Codes) -> Float64:
    """values (B, n, K - 1) of the classes in ``labels``, 0 for class 0; (B, n)."""
    padded = np.concatenate([np.zeros((*values.shape[:2], 1)), values], axis=2)
    return np.take_along_axis(padded, labels[:, :, None].astype(np.int64), axis=2)[:, :, 0]


def _family(make: Make, pool: Pool, seed: int) -> tuple[Oracle, Weights, Maximiser]:
    """Weights r μ̂ - s ζ where μ̂ knows a third of the labels of a rule that the class can follow."""
    rng, oracle = np.random.default_rng(seed), make(pool, Workers(1))
    others = oracle.classes - 1
    truth, _ = argmax(oracle, rng.standard_normal((1, len(pool), others)))
    known = rng.random(len(pool)) < 0.3
    hot = np.where(truth[0][:, None] == 0, -1.0, truth[0][:, None] == np.arange(1, others + 1))
    scale = (0.5 + rng.random(len(pool))).astype(np.float32)
    noise = GaussianNoise(pool, len(LEVELS), 7, oracle.classes)
    weights = Weights(pool, (hot * known[:, None]).astype(np.float32), scale, noise)
    return oracle, weights, oracle.prepare(weights)
