"""Blend: uniform draws, Fisher gains and strata, with probabilities that are known."""

from __future__ import annotations

import copy
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats
from sklearn.ensemble import RandomForestClassifier

from aced import InvalidInput, Learner, Pool
from aced.strategies import Bait, Blend, Strata, _blend
from aced.strategies._fisher import Fisher, information
from aced.strategies._shares import Draws
from aced.strategies._sketch import CONSTANT, find_axes
from aced.strategies._strata import capped, strata
from tests.helpers import many_blobs


def learner(strategy: Blend | str = "blend", n: int = 200, classes: int = 3, **arguments) -> Learner:
    rows, codes = many_blobs(n=n, classes=classes)
    found = Learner(Pool(rows), strategy=strategy, batch_size=10, threads=1, **arguments)
    found.tell(np.arange(20), codes[:20])
    return found


def brute_gain(places: np.ndarray, gaps: np.ndarray, labelled: list[int], row: int) -> float:
    """The fall of tr(A⁻¹ M) if the row is labelled, by two inverses."""
    w, m = information(gaps), 12
    target = (places * np.square(1 - np.square(gaps))[:, None]).T @ places

    def variance(rows: list[int]) -> float:
        form = np.eye(places.shape[1]) + sum(w[i] * np.outer(places[i], places[i]) for i in rows) / m
        return float(np.trace(np.linalg.inv(form) @ target))

    return variance(labelled) - variance([*labelled, row])


def test_gains_are_those_of_inverses_also_after_rows_were_taken():
    rng = np.random.default_rng(0)
    places, gaps = rng.normal(size=(40, 6)).astype(np.float32), rng.random(40)
    known = list(range(12))
    fisher = Fisher(places, gaps, np.array(known))
    for taken in (20, 31, 25):
        expected = [brute_gain(places.astype(float), gaps, known, row) for row in range(40)]
        np.testing.assert_allclose(fisher.gains(), expected, rtol=1e-4)
        fisher.take(taken)
        known.append(taken)


def test_a_row_that_stands_for_many_counts_as_many():
    rng = np.random.default_rng(1)
    places, gaps = rng.normal(size=(20, 4)).astype(np.float32), rng.random(20)
    known, copies = np.arange(5), np.append(np.ones(10), np.full(10, 3.0))
    whole = np.concatenate([places, places[10:], places[10:]])
    both = np.concatenate([gaps, gaps[10:], gaps[10:]])
    some, every = Fisher(places, gaps, known, copies), Fisher(whole, both, known)
    np.testing.assert_allclose(some.gains(), every.gains()[:20], rtol=1e-4)


def test_strata_are_a_partition_of_about_equal_mass():
    rng = np.random.default_rng(0)
    places, mass = rng.normal(size=(500, 3)).astype(np.float32), capped(rng.random(500) ** 4, 1 / 16)
    parts = strata(places, mass, 16, rng)
    assert sorted(np.concatenate(parts).tolist()) == list(range(500))
    masses = np.array([mass[part].sum() for part in parts])
    np.testing.assert_allclose(masses, 1 / 16, atol=4 * mass.max())


def test_strata_lie_together():
    rng = np.random.default_rng(0)
    places = (rng.normal(size=(400, 2)) + 20 * np.repeat(np.eye(2), 200, axis=0)).astype(np.float32)
    for part in strata(places, np.ones(400), 8, rng):
        assert min((part < 200).sum(), (part >= 200).sum()) <= 1  # sums of mass are rounded


@pytest.mark.parametrize("count", [1, 2, 7])
def test_there_are_as_many_strata_as_asked_for_even_if_one_row_has_all_the_mass(count):
    mass = capped(np.append(1.0, np.full(6, 1e-12)), 1 / count)
    parts = strata(np.zeros((7, 2), np.float32), mass, count, np.random.default_rng(0))
    assert len(parts) == count
    assert all(len(part) for part in parts)


def test_mass_is_capped_and_the_rest_keeps_its_proportions():
    found = capped(np.array([10.0, 5.0, 2.0, 1.0, 1.0]), 0.3)
    assert found.sum() == pytest.approx(1)
    assert found.max() == pytest.approx(0.3)
    assert found[2] / found[3] == pytest.approx(2)


def test_axes_are_the_principal_axes_of_rows_divided_by_the_roots_of_the_penalty():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(300, 5)) * [1.0, 2.0, 3.0, 0.5, 1.0]
    penalty = np.array([1.0, 4.0, 0.25, 1.0, 0.0])  # the last column carries nothing
    axes = find_axes(Pool(rows), penalty)
    found = axes.apply(rows.astype(np.float32))
    scaled = (rows - rows.mean(axis=0))[:, :4] / np.sqrt(penalty[:4])
    values, vectors = np.linalg.eigh(scaled.T @ scaled)
    expected = scaled @ vectors[:, ::-1]
    np.testing.assert_allclose(np.abs(found[:, :-1]), np.abs(expected), atol=1e-3)
    assert found[0, -1] == pytest.approx(CONSTANT * np.sqrt(values.sum() / 300), rel=1e-4)


def batch_of(strategy: Blend) -> Draws:
    """The draws of one batch, before the first of them."""
    made: list[Draws] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            _blend, "Draws", lambda *args: made.append(copy.deepcopy(Draws(*args))) or Draws(*args)
        )
        learner(strategy).ask()
    return made[0]


def first_draws(strategy: Blend, count: int) -> tuple[np.ndarray, dict[int, float]]:
    """The first rows of many batches with the same strata, whose turns are in random order, and the
    probabilities recorded for them."""
    batch = batch_of(strategy)
    drawn, chances = np.zeros(200, int), {}
    for seed in range(count):
        held = copy.deepcopy(batch.near)
        order = np.random.default_rng([seed, 1]).permutation(len(held.strata))
        held = replace(held, strata=[held.strata[k] for k in order])
        draws = Draws(held, batch.telling, batch.open, batch.shares)
        rows, q = draws.draw(1, np.random.default_rng(seed))
        drawn[rows[0]] += 1
        chances[int(rows[0])] = float(q[0])
    return drawn, chances


@pytest.mark.parametrize("strategy", [Blend(), Strata(), Blend(tell=0.9, bait=0.1)])
def test_probabilities_sum_to_one_at_every_draw_and_are_never_below_what_is_promised(strategy):
    draws = batch_of(strategy)
    open_rows = np.flatnonzero(draws.open)
    promised = draws.shares.always(draws.telling[open_rows])
    for t in range(10):
        rows = np.flatnonzero(draws.open)
        top = draws._top()
        q = np.array([draws._probability(t, row) + draws.shares.by_gain * (row == top) for row in rows])
        assert q.sum() == pytest.approx(1)
        assert (q >= promised[np.isin(open_rows, rows)] - 1e-12).all()
        row = int(rows[q.argmax()])
        draws.open[row], draws.left, draws.told = False, draws.left - 1, draws.told - draws.telling[row]


def test_what_a_row_tells_is_the_spread_of_an_error_that_is_as_likely_as_the_model_says():
    draws = batch_of(Blend())
    found = draws.telling[draws.open]
    assert found.min() >= found.mean() / 3
    asked = learner(Blend())
    s = (1 - np.asarray(asked._held.scored(_blend.gaps_of), dtype=float))[20:] / 2
    spread = np.sqrt(s * (1 - s))
    np.testing.assert_allclose(found, np.maximum(spread, spread.mean() / 2), rtol=1e-5)


@pytest.mark.parametrize(
    "strategy",
    [
        Blend(),
        Blend(explore=0.3, tell=0.1, bait=0.2),
        Blend(tell=1, bait=0),
        Strata(),
        Bait(explore=0.2),
    ],
    ids=["default", "shares", "telling", "strata", "bait"],
)
def test_rows_are_drawn_with_the_probabilities_that_are_recorded(strategy):
    """A test of fit with the rows that are rare put together; false alarms: 1 in 1000 each."""
    drawn, chances = first_draws(strategy, 3000)
    q = np.zeros(200)
    q[list(chances)] = list(chances.values())
    assert q.sum() <= 1 + 1e-9
    often = 3000 * q >= 5
    observed = np.append(drawn[often], drawn[~often].sum())
    expected = np.append(3000 * q[often], 3000 * (1 - q[often].sum()))
    if expected[-1] < 1:
        observed, expected = observed[:-1], expected[:-1] * observed[:-1].sum() / expected[:-1].sum()
    assert stats.chisquare(observed, expected).pvalue > 0.001


def test_every_open_row_may_be_drawn_and_none_with_less_than_its_uniform_share():
    asked = learner("blend")
    queries = asked.ask()
    open_rows = 180 - np.arange(10)
    assert (queries.probabilities >= 0.1 / open_rows - 1e-12).all()
    assert (queries.probabilities <= 1).all()


def test_weighting_by_the_probabilities_is_unbiased():
    """Σ y / q of a batch, averaged over draws, is the number of open rows with y = 1. The bound of 4
    standard errors is a false alarm of 1 in 15,000."""
    rows, codes = many_blobs(n=120, classes=2)
    y = codes.astype(float)
    found = []
    for seed in range(400):
        how = {"representation": "linear", "batch_size": 6, "threads": 1, "seed": seed}
        asked = Learner(Pool(rows), strategy=Blend(explore=0.4), **how)
        asked.tell(np.arange(20), codes[:20])
        queries = asked.ask()
        told = y[:20].sum() + np.concatenate([[0.0], np.cumsum(y[queries.ids])[:-1]])
        found.append(float(np.mean(told + y[queries.ids] / queries.probabilities)))
    error = np.std(found, ddof=1) / np.sqrt(len(found))
    assert abs(np.mean(found) - y.sum()) < 4 * error


def test_before_two_classes_all_draws_are_uniform():
    asked = Learner(Pool(np.eye(30)), strategy="blend", batch_size=5, threads=1)
    np.testing.assert_allclose(asked.ask().probabilities, 1 / (30 - np.arange(5)))


@pytest.mark.parametrize("how", [{"l2": 1.0}, {"representation": "linear"}, {"representation": "rbf"}])
@pytest.mark.parametrize("classes", [2, 4])
def test_it_draws_whatever_the_classifier_is(how, classes):
    asked = learner("blend", classes=classes, **how)
    queries = asked.ask()
    assert len(set(queries.ids.tolist())) == 10
    assert asked.design is not None
    assert asked.design.sum() == pytest.approx(1)


def test_a_large_pool_is_looked_at_in_part(monkeypatch):
    monkeypatch.setattr(_blend, "MOST_ROWS", 60)
    asked = learner("blend", n=400)
    queries = asked.ask()
    assert len(set(queries.ids.tolist())) == 10
    assert (queries.probabilities > 0).all()


def test_the_last_rows_of_a_pool_are_drawn_too():
    asked = learner("blend", n=40)
    while queries := asked.ask():
        asked.tell(queries.ids, many_blobs(n=40, classes=3)[1][queries.ids])
    assert asked.labels_known == 40


def test_doubtful_rows_are_drawn_more_often_than_others():
    rows = np.linspace(-1, 1, 400)[:, None]
    asked = Learner(Pool(rows), strategy=Strata(), batch_size=40, threads=1, representation="linear")
    asked.tell(np.arange(0, 400, 20), (np.arange(0, 400, 20) >= 200).astype(int))
    drawn = asked.ask().ids
    assert np.mean(np.abs(rows[drawn]) < 0.5) > 0.6


@pytest.mark.parametrize(
    ("name", "value", "sentence"),
    [
        ("explore", 1.0, "explore must be at least 0 and below 1, got 1.0"),
        ("explore", float("nan"), "explore must be at least 0 and below 1, got nan"),
        ("bait", 1.5, "bait must be from 0 to 1, got 1.5"),
        ("bait", "x", "bait must be from 0 to 1, got 'x'"),
        ("tell", -0.1, "tell must be from 0 to 1, got -0.1"),
        ("bait", 0.8, "bait is a share of the draws beside tell=0.333333: must be at most 0.666667"),
    ],
)
def test_shares_that_make_no_sense_are_refused(name, value, sentence):
    with pytest.raises(InvalidInput, match=sentence):
        Blend(**{name: value})


def test_two_batches_without_labels_between_them_are_one_batch():
    rows, codes = many_blobs(n=200, classes=3)
    asked = [Learner(rows, strategy="bait", batch_size=20, representation="linear") for _ in range(2)]
    for one in asked:
        one.tell(np.arange(20), codes[:20])
    apart = [asked[0].ask(20, fresh=True).ids for _ in range(2)]
    np.testing.assert_array_equal(np.concatenate(apart), asked[1].ask(40, fresh=True).ids)


def test_rows_that_others_will_label_count_like_those_asked_for():
    one, two = (learner("bait", representation="linear") for _ in range(2))
    asked = one.ask(10).ids
    two.exclude(asked, awaited=True)
    assert sorted(two.pending.tolist()) == sorted(asked.tolist())
    one._rng.bit_generator.state = two._rng.bit_generator.state
    np.testing.assert_array_equal(one.ask(10, fresh=True).ids, two.ask(10, fresh=True).ids)


def test_a_forest_with_two_classes_is_taken_at_its_word():
    rows, codes = many_blobs(n=300, classes=2)
    for count in (2, 3):
        asked = Learner(
            rows,
            strategy=Blend(),
            classes=list(range(count)),
            classifier=RandomForestClassifier(20, random_state=0),
        )
        asked.tell(np.arange(60), codes[:60])
        p = asked.classifier.predict_proba(rows)
        gaps = asked._held.scored(_blend.gaps_of)
        np.testing.assert_allclose(gaps, np.abs(p[:, 1] - p[:, 0]), atol=1e-6)
