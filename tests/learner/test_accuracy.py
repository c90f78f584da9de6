"""The accuracy that a learner can vouch for."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom
from sklearn.ensemble import RandomForestClassifier
from sklearn.svm import LinearSVC

from aced import Blend, InvalidInput, Learner


def pool(seed=0, n=400, classes=2, flipped=0.0):
    """Rows and labels; a share of the labels is wrong."""
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(n, 4)).astype(np.float32)
    scores = rows @ rng.normal(size=(4, classes)) + rng.normal(size=(n, classes)) * 0.3
    codes = scores.argmax(axis=1)
    wrong = rng.random(n) < flipped
    codes[wrong] = rng.integers(0, classes, wrong.sum())
    return rows, np.array([f"c{code}" for code in codes])


def labelled(rows, labels, count=150, **options):
    learner = Learner(rows, **{"batch_size": 15, "seed": 0, "budget": count, **options})
    while queries := learner.ask():
        learner.tell(queries.ids, labels[queries.ids])
    return learner


def truth(learner, labels):
    return float(np.mean(learner.predict() == labels))


@pytest.mark.parametrize("strategy", ["passive", "blend"])
def test_all_looks_hold_at_once(strategy):
    """30 runs over pools with 2 to 4 classes and up to 20 % wrong labels, a look after every batch of 5
    to 25, confidence 0.8. A run misses with probability at most 0.2; 13 misses or more have probability
    below 0.01, the rate of false alarms."""
    runs, confidence, missed = 30, 0.8, 0
    for seed in range(runs):
        rows, labels = pool(seed, 200, 2 + seed % 3, 0.1 * (seed % 3))
        size = (5, 10, 25)[seed % 3]
        learner = Learner(rows, strategy=strategy, batch_size=size, seed=seed, budget=75)
        ever = False
        while queries := learner.ask():
            learner.tell(queries.ids, labels[queries.ids])
            found = learner.accuracy(confidence)
            assert found.low <= found.estimate <= found.high
            ever |= not found.low - 1e-9 <= truth(learner, labels) <= found.high + 1e-9
        missed += ever
    assert missed < 13
    assert binom.sf(12, runs, 1 - confidence) < 0.01


RUNS, CONFIDENCE = 20, 0.8


@pytest.fixture(scope="module")
def missed():
    """For recall and precision, in how many runs some look was wrong about it, and about the counts."""
    wrong = {of: np.zeros((RUNS, 2), bool) for of in ("recall", "precision")}
    for seed in range(RUNS):
        rows, labels = pool(seed, 200, 2 + seed % 2, 0.1 * (seed % 3))
        learner = Learner(rows, strategy="passive", batch_size=15, seed=seed, budget=90)
        while queries := learner.ask():
            learner.tell(queries.ids, labels[queries.ids])
            if learner.labels_known > 30:
                said, is_it = learner.predict() == "c1", labels == "c1"
                for of, runs in wrong.items():
                    found = learner.accuracy(CONFIDENCE, of=of, label="c1")
                    exact = (said & is_it).sum() / (is_it if of == "recall" else said).sum()
                    held = found.low - 1e-6 <= exact <= found.high + 1e-6
                    counted = found.count.low - 1e-6 <= is_it.sum() <= found.count.high + 1e-6
                    runs[seed] |= not held, not counted
    return {of: runs.sum(axis=0) for of, runs in wrong.items()}


@pytest.mark.parametrize("of", ["recall", "precision"])
def test_recall_and_precision_hold_at_all_looks(of, missed):
    """20 runs over pools with 2 or 3 classes and up to 20 % wrong labels, confidence 0.8. A run misses
    with probability at most 0.2; 10 misses or more have probability below 0.01, the rate of false
    alarms. So for the counts of the class."""
    assert missed[of].max() < 10
    assert binom.sf(9, RUNS, 1 - CONFIDENCE) < 0.01


@pytest.fixture(scope="module")
def well_known():
    """A learner with 300 labels of 1000, and all labels."""
    rows, labels = pool(1, 1000)
    return labelled(rows, labels, 300, strategy="passive", batch_size=25), labels


@pytest.mark.parametrize("of", ["recall", "precision"])
def test_recall_and_precision_become_narrow(of, well_known):
    found = well_known[0].accuracy(of=of, label="c1")
    assert found.high - found.low < 0.35
    assert found.count.high - found.count.low < 250
    assert abs(found.estimate - 0.95) < 0.05


@pytest.mark.parametrize("of", ["recall", "precision"])
def test_recall_and_precision_with_every_label_are_exact(of):
    rows, labels = pool(3, 90, flipped=0.3)
    learner = labelled(rows, labels, 90)
    found = learner.accuracy(of=of, label="c1")
    said, is_it = learner.predict() == "c1", labels == "c1"
    exact = (said & is_it).sum() / (is_it if of == "recall" else said).sum()
    assert found.low == pytest.approx(exact, abs=1e-4)
    assert found.high == pytest.approx(exact, abs=1e-4)
    assert found.count.low == pytest.approx(is_it.sum())
    assert found.count.high == pytest.approx(is_it.sum())


def test_with_every_label_it_is_exact():
    rows, labels = pool(3, 120)
    learner = labelled(rows, labels, 120)
    found = learner.accuracy()
    assert found.low == pytest.approx(truth(learner, labels))
    assert found.high == pytest.approx(truth(learner, labels))


def test_it_becomes_narrow(well_known):
    learner, labels = well_known
    found = learner.accuracy()
    assert found.high - found.low < 0.2
    assert abs(found.estimate - truth(learner, labels)) < 0.05
    assert found.labels == 300
    assert found.confidence == 0.95
    assert str(found).startswith("accuracy 0.9")


def test_more_confidence_is_a_wider_interval():
    rows, labels = pool(1)
    learner = labelled(rows, labels)
    sure, less = learner.accuracy(0.99), learner.accuracy(0.8)
    assert sure.low < less.low


def test_labels_that_are_still_out_only_widen_it():
    rows, labels = pool(2)
    learner = Learner(rows, strategy="passive", batch_size=15, seed=0)
    for _ in range(8):
        queries = learner.ask()
        learner.tell(queries.ids, labels[queries.ids])
    learner.ask()
    waiting = learner.accuracy()
    assert waiting.low <= truth(learner, labels) <= waiting.high


def test_a_label_that_never_comes_may_be_any():
    """A row that was drawn and skipped counts as wrong below, and as right above."""
    rows, labels = pool(2)
    whole, holes = (Learner(rows, strategy="passive", batch_size=10, seed=0) for _ in range(2))
    for round_ in range(12):
        for learner in (whole, holes):
            queries = learner.ask()
            ids = queries.ids if learner is whole or round_ < 4 else queries.ids[1:]
            learner.tell(ids, labels[ids])
    assert holes.accuracy().low <= truth(holes, labels) <= holes.accuracy().high
    assert holes.accuracy().low < whole.accuracy().low


def test_the_order_of_labels_does_not_matter():
    rows, labels = pool(4)
    one, two = (Learner(rows, strategy="passive", batch_size=20, seed=1) for _ in range(2))
    for _ in range(5):
        first, second = one.ask(), two.ask()
        one.tell(first.ids, labels[first.ids])
        for i in second.ids[::-1]:
            two.tell([i], [labels[i]])
    assert one.accuracy() == two.accuracy()


def test_a_corrected_label_counts_as_corrected():
    rows, labels = pool(4)
    right, wrong = (Learner(rows, strategy="passive", batch_size=20, seed=1) for _ in range(2))
    for round_ in range(6):
        for learner in (right, wrong):
            queries = learner.ask()
            given = labels[queries.ids]
            if learner is wrong and round_ == 5:
                given = np.where(given == "c0", "c1", "c0")
            learner.tell(queries.ids, given)
    assert wrong.accuracy() != right.accuracy()
    ids = wrong.labelled()[0]
    wrong.tell(ids, labels[ids], overwrite=True)
    assert wrong.accuracy() == right.accuracy()


def test_rows_that_were_told_and_not_drawn_count_exactly():
    rows, labels = pool(5)
    learner = labelled(rows, labels, 100, strategy="passive")
    before = learner.accuracy()
    others = np.setdiff1d(np.arange(len(rows)), learner.labelled()[0])
    learner.tell(others[:250], labels[others[:250]])
    after = learner.accuracy()
    assert after.low <= truth(learner, labels) <= after.high
    assert after.high - after.low < before.high - before.low


def test_released_and_excluded_rows_are_in_doubt():
    rows, labels = pool(6)
    learner = Learner(rows, strategy="passive", batch_size=15, seed=0, budget=200)
    learner.exclude([1, 2, 3])
    for _ in range(10):
        queries = learner.ask()
        learner.tell(queries.ids[2:], labels[queries.ids[2:]])
        learner.release(queries.ids[:1])
        learner.exclude(queries.ids[1:2])
        found = learner.accuracy()
        assert found.low <= truth(learner, labels) <= found.high


def test_a_new_class_moves_no_prediction():
    """Classes are learnt from the labels, and a new one sorts before the others."""
    rows, labels = pool(7, 300, 3)
    names = {"c0": "z", "c1": "m", "c2": "a"}
    labels = np.array([names[label] for label in labels])
    learner = Learner(rows, strategy="passive", batch_size=10, seed=0)
    first = np.flatnonzero(labels != "a")[:20]
    learner.tell(first, labels[first])
    for _ in range(10):
        queries = learner.ask()
        learner.tell(queries.ids, labels[queries.ids])
        found = learner.accuracy()
        assert found.low <= truth(learner, labels) <= found.high


def test_saved_and_loaded_it_is_the_same(tmp_path):
    rows, labels = pool(8)
    learner = labelled(rows, labels, 100, budget=150)
    learner.save(tmp_path / "learner")
    again = Learner.load(tmp_path / "learner", rows)
    assert again.accuracy() == learner.accuracy()
    for one in (learner, again):
        queries = one.ask()
        one.tell(queries.ids, labels[queries.ids])
    assert again.accuracy() == learner.accuracy()


@pytest.mark.parametrize("classifier", [RandomForestClassifier(20), LinearSVC()])
def test_any_classifier_has_one(classifier):
    rows, labels = pool(9, 200)
    learner = labelled(rows, labels, 60, classifier=classifier, strategy="passive")
    found = learner.accuracy()
    assert found.low <= truth(learner, labels) <= found.high


@pytest.mark.parametrize(
    ("strategy", "confidence", "argument", "words"),
    [
        ("margin", 0.95, "strategy", "margin has no share of uniform draws"),
        ("iwal0", 0.95, "strategy", "is a stream"),
        ("blend", 1.0, "confidence", "between 0 and 1"),
        ("blend", np.nan, "confidence", "between 0 and 1"),
    ],
)
def test_what_cannot_be_said_is_refused(strategy, confidence, argument, words):
    rows, labels = pool(0, 100)
    learner = Learner(rows, strategy=strategy, classes=["c0", "c1"], budget=20, batch_size=10)
    for _ in range(11):
        queries = learner.ask(1)
        learner.tell(queries.ids, labels[queries.ids])
    with pytest.raises(InvalidInput, match=words) as caught:
        learner.accuracy(confidence)
    assert caught.value.argument == argument


@pytest.mark.parametrize(
    ("asked", "argument"),
    [
        ({"of": "f1"}, "of"),
        ({"of": "recall"}, "label"),
        ({"label": "c0"}, "label"),
        ({"of": "precision", "label": "c9"}, "label"),
    ],
)
def test_a_measure_needs_its_class(asked, argument):
    rows, labels = pool(0, 100)
    with pytest.raises(InvalidInput) as caught:
        labelled(rows, labels, 20).accuracy(**asked)
    assert caught.value.argument == argument


def test_without_labels_there_is_none():
    with pytest.raises(InvalidInput, match="there are none yet"):
        Learner(pool()[0]).accuracy()


def test_blend_without_uniform_draws_is_refused_for_what_it_lacks():
    """It can draw every row, but no floor is known."""
    learner = Learner(np.eye(20), strategy=Blend(explore=0.0), batch_size=5)
    with pytest.raises(
        InvalidInput, match=r"blend has no share of uniform draws here.*pass explore=0\.1"
    ):
        learner.accuracy()


def test_a_floor_above_blend_keeps_the_bounds_of_its_own_draws():
    """Blend's own draws give rows more than γ / open; those of the floor around it give γ / open."""
    rows, labels = pool(2, 200)
    learner = labelled(rows, labels, 60, strategy=Blend(), explore=0.3, batch_size=15)
    drawn = learner._evidence.drawn
    later = drawn.explore < 1
    np.testing.assert_allclose(drawn.reach[later], drawn.open[later] / 0.3)
