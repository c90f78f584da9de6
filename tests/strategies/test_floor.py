"""Draws with a floor: every open row has a chance, and the recorded probabilities are what they are."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import chi2

from aced import InvalidInput, Learner
from aced.strategies import Explored, make_strategy, with_floor
from tests.helpers import blobs


def learner(strategy, seed=0, **options):
    rows, labels = blobs(40, 3)
    made = Learner(rows, strategy=strategy, classes=[0, 1], batch_size=6, seed=seed, **options)
    start = np.arange(0, 40, 5)
    made.tell(start, labels[start])
    return made


@pytest.mark.parametrize(
    ("strategy", "explore"),
    [
        ("blend", None),
        ("strata", None),
        ("blend", 0.3),
        ("margin", 0.2),
        ("core-set", 0.2),
    ],
)
def test_first_draws_follow_their_probabilities(strategy, explore):
    """1500 first draws; a row's recorded probability is the same whenever it is drawn. χ² over the rows;
    the false-alarm rate is 0.001 for each of five cases."""
    made, runs = learner(strategy, explore=explore), 1500
    counts, q = np.zeros(40), np.full(40, np.nan)
    view = {}

    def keep(seen, size, rng):
        view["view"] = seen
        return plan(seen, size, rng)

    plan, made.strategy.plan = made.strategy.plan, keep
    made.ask(1, fresh=True)
    gamma = made.strategy.floor
    for seed in range(runs):
        found = plan(view["view"], 1, np.random.default_rng(seed))
        row = int(found.positions[0])
        assert np.isnan(q[row]) or found.probabilities[0] == pytest.approx(q[row])
        assert found.probabilities[0] >= gamma / view["view"].open.sum() * (1 - 1e-9)
        counts[row], q[row] = counts[row] + 1, found.probabilities[0]
    drawn = counts > 0
    assert counts[~view["view"].open].sum() == 0
    rest = max(1 - q[drawn].sum(), 0.0)  # rows that never came
    expected = runs * q[drawn]
    statistic = ((counts[drawn] - expected) ** 2 / expected).sum() + runs * rest
    assert statistic < chi2.ppf(0.999, int(view["view"].open.sum()) - 1)


@pytest.mark.parametrize(("strategy", "explore"), [("blend", None), ("margin", 0.3), ("aced", 0.3)])
def test_estimates_of_a_known_total_are_unbiased(strategy, explore):
    """Horvitz-Thompson over batches of 6 draws without replacement, 800 (100 of aced): the mean
    is within four standard errors of the total. The false-alarm rate is below 0.0001."""
    made = learner(strategy, explore=explore)
    view = {}

    def keep(seen, size, rng):
        view["view"] = seen
        return plan(seen, size, rng)

    plan, made.strategy.plan = made.strategy.plan, keep
    made.ask(1, fresh=True)
    marks = np.random.default_rng(5).random(40)
    is_open = view["view"].open
    estimates = []
    for seed in range(100 if strategy == "aced" else 800):
        found = plan(view["view"], 6, np.random.default_rng(seed))
        seen, parts = 0.0, []
        for row, q in zip(found.positions, found.probabilities, strict=True):
            parts.append(marks[row] / q + seen)
            seen += marks[row]
        estimates.append(np.mean(parts))
    error = np.std(estimates) / np.sqrt(len(estimates))
    assert abs(np.mean(estimates) - marks[is_open].sum()) < 4 * error


def test_a_floor_gives_any_strategy_a_certificate():
    rows, labels = blobs(200, 3)
    for strategy in ("margin", "ridge-margin", "badge", "core-set", "committee", "aced", "bait"):
        made = Learner(rows, strategy=strategy, explore=0.3, batch_size=20, budget=80, seed=1)
        while queries := made.ask():
            made.tell(queries.ids, labels[queries.ids])
        found = made.accuracy()
        assert found.low <= np.mean(made.predict() == labels) <= found.high


def test_it_is_saved(tmp_path):
    made = learner("margin", explore=0.3)
    made.ask()
    made.save(tmp_path / "learner")
    loaded = Learner.load(tmp_path / "learner", made.pool)
    assert isinstance(loaded.strategy, Explored)
    assert loaded.strategy.floor == 0.3
    assert loaded.ask(10, fresh=True).ids.tolist() == made.ask(10, fresh=True).ids.tolist()


def test_a_strategy_that_explores_enough_is_left_alone():
    assert with_floor("blend", 0.3).explore == 0.3
    assert with_floor(make_strategy("passive"), 0.3).name == "passive"
    assert not isinstance(with_floor("passive", 0.3), Explored)


@pytest.mark.parametrize("explore", [0, 1, 1.5, -0.1, "x", np.nan])
def test_a_share_that_is_none_is_refused(explore):
    with pytest.raises(InvalidInput) as caught:
        learner("margin", explore=explore)
    assert caught.value.argument == "explore"


def test_a_stream_has_none():
    with pytest.raises(InvalidInput, match="is a stream"):
        learner("iwal0", explore=0.1)
