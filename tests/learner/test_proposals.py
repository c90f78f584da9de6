"""Proposals: joined with the model as far as labels bear them out, and fair game for certificates."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import brute
from scipy.stats import binom
from sklearn.datasets import load_digits
from sklearn.tree import DecisionTreeClassifier

from aced import InvalidInput, Learner
from aced.learner._proposals import PRIOR, Proposals, spread
from tests.helpers import blobs


def some_digits(seed=0, n=500):
    rows, labels = load_digits(return_X_y=True)
    chosen = np.random.default_rng(seed).permutation(len(rows))[:n]
    return rows[chosen], labels[chosen]


def proposed(truth, error, seed=0):
    """Proposals of which about this share is wrong, and that know how sure they may be."""
    rng = np.random.default_rng([seed, 9])
    chance = rng.beta(0.5, 0.5 * (1 - error) / error, len(truth))
    other = (truth + rng.integers(1, 10, len(truth))) % 10
    return np.where(rng.random(len(truth)) < chance, other, truth), 1 - chance


def run(rows, truth, labels, seed=0, **how):
    learner = Learner(rows, batch_size=20, budget=labels, seed=seed, threads=1, **how)
    while queries := learner.ask():
        learner.tell(queries.ids, truth[queries.ids])
    return learner


def test_the_weights_minimise_the_loss_that_is_written_down():
    rng = np.random.default_rng(0)
    n, classes = 40, 3
    truth, said = rng.integers(0, classes, n), rng.integers(0, classes, n)
    said[:25] = truth[:25]
    shares = rng.dirichlet(np.ones(classes), n) * 0.8
    shares[np.arange(n), truth] += 0.2
    sure, chances = rng.uniform(0.3, 0.99, n), rng.uniform(0.02, 0.9, n)
    chances[:5] = np.nan  # told without a draw
    rows = np.arange(0, n, 2)
    left_out = rng.dirichlet(np.ones(classes), len(rows))
    joined = Proposals(said, sure).joined(classes, shares, rows, truth[rows], left_out, chances[rows])

    def together(at, model, which):
        score = at[0] * np.log(model)
        for place, row in enumerate(which):
            score[place, said[row]] += at[1] * np.log(sure[row] * (classes - 1) / (1 - sure[row]))
        p = np.exp(score)
        return p / p.sum(axis=1, keepdims=True)

    weight = np.where(np.isnan(chances[rows]), 1, 1 / chances[rows])
    weight = np.minimum(weight / weight.mean(), 20)
    weight /= weight.mean()

    def loss(at):
        p = together(at, left_out, rows)[np.arange(len(rows)), truth[rows]]
        return -(weight * np.log(p)).sum() + PRIOR * ((at[0] - 1) ** 2 + (at[1] - 1) ** 2) / 2

    best = brute(loss, [(0, 2), (0, 2)], Ns=80)
    assert joined.weights == pytest.approx(best, abs=1e-3)
    every = together(joined.weights, shares, np.arange(n))
    assert np.exp(joined.log_shares) == pytest.approx(every)
    assert joined.said.tolist() == every.argmax(axis=1).tolist()
    assert joined.doubt == pytest.approx(1 - every.max(axis=1), abs=1e-6)


def test_a_class_without_a_label_counts_as_rare():
    whole = spread(np.array([[0.9, 0.1]]), np.array([0, 2]), 3, labels=17)
    assert whole.sum() == pytest.approx(1)
    assert whole[0, 1] == pytest.approx(0.05 / 1.05)


def test_good_proposals_help_and_poor_ones_are_seen_through():
    rows, truth = some_digits()
    good, sure = proposed(truth, 0.1)
    poor = np.random.default_rng(3).integers(0, 10, len(truth))
    right = {}
    for name, how in {
        "alone": {},
        "good": {"proposals": good, "proposals_confidence": sure},
        "poor": {"proposals": poor, "proposals_confidence": np.full(len(truth), 0.95)},
    }.items():
        learner = run(rows, truth, 60, classes=range(10), **how)
        right[name] = np.mean(learner.predict() == truth)
        if how:
            last = learner.history[-1]
            assert (last["proposal_weight"] > 0.5) == (name == "good")
    assert right["good"] > max(right["alone"], np.mean(good == truth)) + 0.03
    assert right["poor"] > right["alone"] - 0.03


def test_before_the_first_label_proposals_are_the_classifier():
    rows, truth = some_digits()
    said, sure = proposed(truth, 0.1)
    learner = Learner(rows, proposals=said, proposals_confidence=sure, seed=0, threads=1)
    assert learner.predict().tolist() == said.tolist()
    assert learner.predict_proba().shape == (500, 10)
    assert learner.predict_proba().sum(axis=1) == pytest.approx(1)
    assert learner.classifier is None
    queries = learner.ask(60)
    assert (queries.probabilities >= 0.1 / np.arange(500, 440, -1) - 1e-12).all()
    assert sure[queries.ids].mean() < sure.mean() - 0.03  # doubtful ones come first
    learner.tell(queries.ids, truth[queries.ids])
    found = learner.accuracy()
    assert found.low <= np.mean(learner.predict() == truth) <= found.high
    assert np.mean(learner.classifier.predict(rows) == truth) > 0.4  # the model alone


def test_certificates_hold_with_proposals():
    """30 runs, a look after every 20 of 80 labels, α = 0.1. If a run misses with probability 0.1, 8
    misses or more have probability below 0.01: that is the rate of false alarms."""
    missed = 0
    for seed in range(30):
        rows, truth = blobs(200, 3, seed=seed)
        rng, ever = np.random.default_rng(seed), False
        said = np.where(rng.random(200) < 0.3, 1 - truth, truth)
        learner = Learner(
            rows, proposals=said, proposals_confidence=rng.uniform(0.5, 1, 200), classes=(0, 1),
            explore=0.3, batch_size=20, budget=80, seed=seed, threads=1,
        )  # fmt: skip
        while queries := learner.ask():
            learner.tell(queries.ids, truth[queries.ids])
            found = learner.accuracy(0.9)
            ever |= not found.low - 1e-9 <= np.mean(learner.predict() == truth) <= found.high + 1e-9
        missed += ever
    assert missed < 8
    assert binom.sf(7, 30, 0.1) < 0.01


def test_a_saved_learner_goes_on_to_the_bit(tmp_path):
    rows, truth = some_digits()
    said, sure = proposed(truth, 0.2)
    for labels in (0, 20, 60):
        one = Learner(rows, proposals=said, proposals_confidence=sure, batch_size=20, threads=1)
        for _ in range(labels // 20):
            ids = one.ask().ids
            one.tell(ids, truth[ids])
        one.save(tmp_path / f"{labels}.aced")
        other = Learner.load(tmp_path / f"{labels}.aced", rows, threads=1)
        for _ in range(2):
            mine, theirs = one.ask(), other.ask()
            assert mine.ids.tolist() == theirs.ids.tolist()
            assert mine.probabilities.tolist() == theirs.probabilities.tolist()
            for learner in (one, other):
                learner.tell(mine.ids, truth[mine.ids])
        assert one.accuracy() == other.accuracy()
        assert one.predict_proba().tolist() == other.predict_proba().tolist()


def test_a_loaded_learner_keeps_the_classes_that_are_proposed(tmp_path):
    rows, _ = blobs(200, 3)
    names = np.array(["a", "b", "c"])[np.arange(200) % 3]
    learner = Learner(rows, proposals=names, threads=1)
    learner.tell([0], ["b"])
    learner.save(tmp_path / "l.npz")
    again = Learner.load(tmp_path / "l.npz", rows, threads=1)
    for one in (learner, again):
        one.tell([0], ["a"], overwrite=True)
        assert one.classes == ["a", "b", "c"]
        assert one.predict().tolist() == learner.predict().tolist()


def test_weights_follow_from_the_draws_also_where_rows_are_told_before_they_are_recalled():
    rows, truth = blobs(200, 3)
    said = np.where(np.random.default_rng(0).random(200) < 0.3, 1 - truth, truth)
    how = {"proposals": said, "classes": (0, 1), "batch_size": 20, "threads": 1}
    one = run(rows, truth, 60, **{k: v for k, v in how.items() if k not in ("batch_size", "threads")})
    other = Learner(rows, **how)
    ids, labels, _ = one.labelled()
    other.tell(ids, labels)
    other.recall(one.memory)
    assert other.predict_proba() == pytest.approx(one.predict_proba())


def test_a_new_class_moves_the_codes_of_proposals():
    rows, truth = blobs(200, 3)
    names = np.array(["dog", "eel"])[truth]
    learner = Learner(rows, proposals=names, seed=0, threads=1)
    learner.tell([0], ["ant"])
    assert learner.classes == ["ant", "dog", "eel"]
    assert np.mean(learner.predict() == names) > 0.95


@pytest.mark.parametrize(
    ("how", "sentence"),
    [
        ({"proposals": [0, 1]}, "proposals are 2, but the pool has 200 rows"),
        ({"proposals": [None] * 200}, "proposals: one of them is missing"),
        ({"proposals": [7] * 200, "classes": (0, 1)}, "proposals: one of them is 7, which is not"),
        ({"proposals": [1] * 200, "l2": 1.0}, "leave classifier and l2 out"),
        (
            {"proposals": [1] * 200, "classifier": DecisionTreeClassifier()},
            "leave classifier and l2 out",
        ),
        ({"proposals_confidence": [0.5] * 200}, "goes with proposals"),
        ({"proposals": ["a"] * 200}, "proposals are all 'a'; pass classes, two or more"),
        ({"proposals": [0, 1] * 100, "proposals_confidence": [0.5]}, "must be 200 numbers, got shape"),
        ({"proposals": [0, 1] * 100, "proposals_confidence": [1.5] * 200}, "numbers from 0 to 1"),
        ({"proposals": [0, 1] * 100, "proposals_confidence": ["x"] * 200}, "numbers from 0 to 1"),
        ({"proposals": [0, 1] * 100, "proposals_confidence": [np.nan] * 200}, "numbers from 0 to 1"),
    ],
)
def test_proposals_that_cannot_be_used_are_refused_in_a_sentence(how, sentence):
    rows, _ = blobs(200, 3)
    with pytest.raises(InvalidInput, match=sentence):
        Learner(rows, **how)


def test_what_leaves_proposals_out_says_so():
    rows, truth = blobs(200, 3)
    learner = run(rows, truth, 40, proposals=truth, classes=(0, 1))
    assert learner.savings() is None
    with pytest.raises(InvalidInput, match="proposals are no part of the class that a regret is about"):
        learner.regret()
