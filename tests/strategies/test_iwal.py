"""IWAL: its closed form, its weights, and the same decisions as refitting every time."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st

from aced import InvalidInput, Learner, Pool
from aced.oracles._erm import LinearErm
from aced.oracles._penalty_erm import PenaltyErm
from aced.oracles._refit_erm import RefitErm
from aced.strategies import Cal, Iwal
from aced.strategies._iwal import C1, C2, query_probability
from tests.helpers import blobs

gaps = st.floats(0, 1)
errors = st.floats(1e-6, 1)


@given(gaps, errors, st.floats(0.05, 1))
def test_the_closed_form_solves_its_equation(gap, epsilon, share):
    root = np.sqrt(epsilon * share)
    s = float(query_probability(gap, root, epsilon))
    assert 0 < s <= 1
    if s < 1:
        residual = (C1 / np.sqrt(s) - C1 + 1) * root + (C2 / s - C2 + 1) * epsilon - gap
        assert abs(residual) < 1e-10
    else:
        assert gap <= root + epsilon + 1e-12
    at_threshold = float(query_probability(root + epsilon + 1e-13, root, epsilon))
    assert at_threshold == pytest.approx(1, abs=1e-6)


@given(errors, gaps, gaps)
def test_it_falls_with_the_gap_and_grows_with_epsilon(epsilon, one, two):
    low, high = sorted((one, two))
    root = np.sqrt(epsilon)
    assert query_probability(high, root, epsilon) <= query_probability(low, root, epsilon) + 1e-12
    wider = query_probability(high, np.sqrt(2 * epsilon), 2 * epsilon)
    assert wider >= query_probability(high, root, epsilon) - 1e-12


def stream(pool, labels, strategy, seed=0):
    """Ask and answer one by one; returns the learner."""
    learner = Learner(pool, strategy=strategy, seed=seed, threads=1, l2=1e-4)
    while len(queries := learner.ask(1)):
        learner.tell(queries.ids, labels[queries.ids])
    return learner


def test_h_and_its_rivals_are_those_of_a_full_refit():
    rows, labels = blobs(400, 8, flip=0.15)
    pool, rng = Pool(rows), np.random.default_rng(0)
    fast, slow = LinearErm(pool), RefitErm(pool)
    for row in range(150):
        weight = float(rng.uniform(1, 4))
        for erm in (fast, slow):
            erm.add(row, int(labels[row]), weight)
        if row % 10 == 0:
            fast.error()  # warm starts are part of what is tested
    total = sum(slow.weights)
    assert fast.error() == pytest.approx(slow.error(), abs=0.01 * total)
    asked = np.arange(120, 220)  # some of them are examples
    found, expected = fast.rivals(asked), slow.rivals(asked)
    assert np.abs(found - expected).mean() < 0.006 * total
    assert (fast.predict(np.arange(400)) == slow.predict(np.arange(400))).mean() > 0.99


class Beside(Iwal):
    """Judges every row by both, and goes on with the fast one."""

    def _build(self, pool):
        self.slow, self.seen = RefitErm(pool), []
        return LinearErm(pool)

    def _add(self, row, label, weight):
        super()._add(row, label, weight)
        self.slow.add(row, label, weight)

    def _probabilities_of(self, rows):
        fast, found = self._erm, super()._probabilities_of(rows)
        self._erm = self.slow
        self.seen.append(np.stack([found, super()._probabilities_of(rows)]))
        self._erm = fast
        return found


@pytest.mark.parametrize("variant", [0, 1])
def test_decisions_are_those_of_refitting_each_time(variant):
    """Two decisions with the same random number differ with probability |P - P'|: on average over
    the rows judged in one pass, below 0.02 (one example's error is 0.3 to 5 % of them all)."""
    rows, labels = blobs(300, 5, flip=0.1, seed=3)
    strategy = Beside(0.003, variant=variant, passes=1, seeds=20)
    learner = stream(Pool(rows), labels, strategy)
    fast, slow = np.concatenate(learner.strategy.seen, axis=1)
    assert 0.1 < fast.mean() < 0.9  # there was something to decide
    assert np.abs(fast - slow).mean() < 0.02


def test_weights_average_to_one_and_errors_are_unbiased():
    """20 seeds, one pass: the mean weight per row of the stream, and the weighted error of a
    fixed classifier, within 3.3 standard errors (alarm rate 2 x 1e-3)."""
    rows, labels = blobs(250, 4, flip=0.2, seed=1)
    pool = Pool(rows)
    fixed = rows[:, 0] > 0
    wrong = fixed != labels.astype(bool)
    totals, errors = [], []
    for seed in range(20):
        strategy = stream(pool, labels, Iwal(0.01, passes=1, seeds=10), seed).strategy
        weights, at = np.array(strategy._weights), np.array(strategy._rows)
        totals.append(weights.sum() / len(rows))
        errors.append((weights * wrong[at]).sum() / len(rows))
    assert np.std(totals) > 0
    assert abs(np.mean(totals) - 1) < 3.3 * np.std(totals) / np.sqrt(20)
    assert abs(np.mean(errors) - wrong.mean()) < 3.3 * np.std(errors) / np.sqrt(20)


def test_on_a_separable_task_it_asks_for_everything():
    """Nine rows in ten dimensions can be labelled in any way, so every rival errs nowhere."""
    rows, labels = blobs(9, 10, flip=0.5)
    learner = stream(Pool(rows), labels, Iwal(1e-7, passes=1, seeds=2))
    assert learner.labels_known == 9
    np.testing.assert_array_equal(learner.labelled()[2], 1.0)


def test_oracular_asks_a_subset_at_the_same_state():
    rows, labels = blobs(200, 4, flip=0.1)
    pool = Pool(rows)
    plain, oracular = Iwal(0.01, seeds=30), Iwal(0.01, seeds=30, oracular=True)
    for strategy in (plain, oracular):
        strategy._erm = LinearErm(pool)
        strategy._k = 100
        for row in range(100):
            strategy._add(row, int(labels[row]), 1.0)
    ahead = np.arange(100, 200)
    probabilities = plain._probabilities_of(ahead)
    decided = oracular._probabilities_of(ahead)  # where P < 1 a rival may end early, and P be rough
    np.testing.assert_array_equal(probabilities >= 1, decided >= 1)
    np.testing.assert_allclose(probabilities, decided, atol=0.05)
    assert (probabilities[probabilities >= 1] > 0).all()
    assert 0 < (probabilities >= 1).sum() < 100


def test_saved_and_loaded_it_goes_on_as_before(tmp_path):
    rows, labels = blobs(160, 4, flip=0.1)
    pool = Pool(rows)

    def play(learner, times):
        for _ in range(times):
            queries = learner.ask(1)
            learner.tell(queries.ids, labels[queries.ids])

    one = Learner(pool, strategy="iwal1", seed=5, threads=1)
    play(one, 40)
    one.save(tmp_path / "half.npz")
    two = Learner.load(tmp_path / "half.npz", pool, threads=1)
    play(one, 20)
    play(two, 20)
    np.testing.assert_array_equal(one.labelled()[0], two.labelled()[0])


def test_the_penalty_form_serves_other_classes():
    from sklearn.tree import DecisionTreeClassifier

    rows, labels = blobs(80, 3, flip=0.1)
    pool = Pool(rows)
    erm = PenaltyErm(pool, DecisionTreeClassifier(max_depth=2, random_state=0))
    for row in range(40):
        erm.add(row, int(labels[row]), 1.0)
    rivals = erm.rivals(np.arange(40, 60))
    assert (rivals >= 0).all()
    assert np.isfinite(rivals).all()
    learner = stream(pool, labels, Iwal(0.05, passes=1, classifier=DecisionTreeClassifier(max_depth=2)))
    assert learner.labels_known >= 10


def test_cal_stops_outside_the_disagreement_region():
    rows = np.linspace(-1, 1, 300)[:, None]
    labels = (rows[:, 0] > 0.1).astype(int)
    learner = stream(Pool(rows), labels, Cal(seeds=4))
    assert learner.labels_known < 60
    assert learner.classifier.score(rows, labels) > 0.97


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Iwal(0.0), "c0"),
        (lambda: Iwal(variant=2), "variant"),
        (lambda: Iwal(scale="loss"), "scale"),
        (lambda: Iwal(passes=0), "passes"),
        (lambda: Iwal(lag=-0.1), "lag"),
        (lambda: Cal(-1.0), "slack"),
    ],
)
def test_bad_options_are_named(make, words):
    with pytest.raises(InvalidInput, match=words):
        make()
