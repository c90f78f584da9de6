"""What random labelling would have taken: its runs exactly, its estimate against simulations."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from scipy.stats import chisquare
from sklearn.datasets import load_digits
from sklearn.tree import DecisionTreeClassifier

from aced import InvalidInput, Learner
from aced.certificates import Drawn
from aced.learner import _random
from aced.learner._random import random_run


def some_digits():
    rows, labels = load_digits(return_X_y=True)
    chosen = np.random.default_rng(0).permutation(len(rows))[:700]
    return rows[chosen], labels[chosen]


def labelled(strategy, labels, seed=0, **how):
    rows, truth = some_digits()
    learner = Learner(rows, strategy=strategy, batch_size=20, budget=labels, seed=seed, threads=1, **how)
    while queries := learner.ask():
        learner.tell(queries.ids, truth[queries.ids])
    return learner, truth


def test_a_run_begins_like_one_of_random_labelling_whatever_the_strategy_prefers():
    """3000 pools of twelve rows, drawn by weights that differ much and by uniform draws. Each of the 132
    ordered pairs comes first equally often; the test alarms by chance once in a thousand times."""
    rng, weights, explore, n = np.random.default_rng(0), 2.0 ** -np.arange(12), 0.6, 12
    pairs = dict.fromkeys(permutations(range(n), 2), 0)
    for _ in range(3000):
        drawn, left = Drawn(n), np.ones(n, bool)
        for _ in range(n):
            rows = np.flatnonzero(left)
            q = explore / len(rows) + (1 - explore) * weights[rows] / weights[rows].sum()
            at = rng.choice(len(rows), p=q / q.sum())
            drawn.add(left.copy(), rows[[at]], q[[at]], explore)
            left[rows[at]] = False
        run = random_run(drawn, rng)
        assert len(set(run.tolist())) == len(run)
        if len(run) >= 2:
            pairs[tuple(run[:2].tolist())] += 1
    assert sum(pairs.values()) >= 2990  # else the missing ones could be other than these
    assert chisquare(list(pairs.values())).pvalue > 0.001


def test_random_labelling_saves_nothing_against_itself():
    for seed in range(2):
        learner, _ = labelled("passive", 160, seed)
        found = learner.savings()
        assert found is not None
        assert 0.7 * 160 < found.random < 1.5 * 160


def test_the_band_holds_what_random_labelling_really_takes():
    """Five runs with 160 labels. A band is meant to hold it in four of five; three are asked for."""
    sizes, wrong = range(40, 441, 40), []
    for seed in range(2):
        rows, truth = some_digits()
        learner = Learner(rows, strategy="passive", batch_size=40, budget=440, seed=seed, threads=1)
        wrong.append([])
        while queries := learner.ask():
            learner.tell(queries.ids, truth[queries.ids])
            said = learner.predict() == truth
            said[learner.labelled()[0]] = True
            wrong[-1].append(1 - said.mean())
    curve = np.mean(wrong, axis=0)
    held = 0
    for seed in range(5):
        learner, truth = labelled("blend", 160, seed)
        said = learner.predict() == truth
        said[learner.labelled()[0]] = True
        took = np.interp(said.mean() - 1, -curve, sizes)
        found = learner.savings()
        assert found is not None
        assert found.labels == 160 == found.ours[-1].labels
        assert [one.labels for one in found.by_random] == [one.labels for one in found.ours]
        assert all(one.low <= one.accuracy <= one.high for one in found.ours + found.by_random)
        held += found.low <= took <= found.high
    assert held >= 3
    assert "random labelling would have taken about" in str(found)


def test_it_is_the_same_again_and_disturbs_nothing():
    one, _ = labelled("blend", 100)
    other, _ = labelled("blend", 100)
    assert one.savings() == one.savings() == other.savings()
    other.budget = one.budget = 140
    assert one.ask().ids.tolist() == other.ask().ids.tolist()


def test_of_a_large_pool_some_rows_stand_for_the_others(monkeypatch):
    learner, _ = labelled("blend", 120)
    whole = learner.savings()
    monkeypatch.setattr(_random, "MOST_ROWS", 420)
    some = learner.savings()
    assert some is not None
    assert some != whole
    assert some.accuracy == pytest.approx(whole.accuracy, abs=0.03)
    assert some.low < whole.high
    assert whole.low < some.high


def test_a_row_that_was_released_and_drawn_again_counts_once():
    rows, truth = some_digits()
    learner = Learner(rows, strategy="passive", representation="linear", seed=0, threads=1)
    learner.release(learner.ask(60, fresh=True).ids)
    ids = learner.ask(60, fresh=True).ids
    learner.tell(ids, truth[ids])
    found = learner.savings()
    assert found is not None
    assert found.labels == learner.labels_known == 60
    assert found.low < 75


def test_nothing_is_said_without_enough_draws_or_a_model():
    rows, truth = some_digits()
    learner = Learner(rows, batch_size=20, seed=0, threads=1)
    learner.tell(ids := learner.ask(12).ids, truth[ids])
    assert learner.savings() is None
    learner, _ = labelled("passive", 40, classifier=DecisionTreeClassifier(max_depth=2, random_state=0))
    assert learner.savings() is None
    own = {"classifier": DecisionTreeClassifier(max_depth=2, random_state=0), "representation": "linear"}
    assert labelled("passive", 40, **own)[0].savings() is None
    learner, _ = labelled("margin", 40)
    with pytest.raises(InvalidInput, match="margin has no share of uniform draws"):
        learner.savings()
    with pytest.raises(InvalidInput, match="there are none yet"):
        Learner(some_digits()[0]).savings()
