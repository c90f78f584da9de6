"""How accurate given predictions are."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom

from aced import Audit, InvalidInput
from aced.certificates import doubt, draw_telling, fitted, own_doubt


def predicted(seed=0, n=2000, error=0.1, classes=3, informed=True):
    """Truth, predictions, and a confidence that knows where the errors are, or does not."""
    rng = np.random.default_rng(seed)
    chance = rng.beta(0.3, 0.3 * (1 - error) / error, n)
    truth = rng.integers(0, classes, n)
    said = np.where(rng.random(n) < chance, (truth + 1) % classes, truth)
    sure = 1 - 0.7 * chance if informed else rng.random(n)
    return truth, said, sure


def audited(truth, said, sure, labels=300, **options):
    audit = Audit(said, confidence=sure, **options)
    while audit.labels_known < labels:
        queries = audit.ask(25)
        audit.tell(queries.ids, truth[queries.ids])
    return audit


def test_all_looks_hold_at_once():
    """40 runs with good, poor and no confidence, confidence 0.8, a look after every 20 labels. A run
    misses with probability at most 0.2; 16 misses or more have probability below 0.01, the rate of
    false alarms."""
    runs, missed = 40, 0
    for seed in range(runs):
        truth, said, sure = predicted(seed, 600, 0.15, informed=seed % 3 == 0)
        audit = Audit(said, confidence=None if seed % 3 == 2 else sure, seed=seed)
        right, ever = float(np.mean(truth == said)), False
        for _ in range(10):
            queries = audit.ask(20)
            audit.tell(queries.ids, truth[queries.ids])
            found = audit.accuracy(0.8)
            ever |= not found.low - 1e-9 <= right <= found.high + 1e-9
        missed += ever
    assert missed < 16
    assert binom.sf(15, runs, 0.2) < 0.01


def test_a_confidence_that_knows_saves_labels():
    """The mean width of 8 audits with 200 labels, with and without the confidence. Fixed seeds: no false
    alarm."""
    widths = {True: [], False: []}
    for seed in range(8):
        truth, said, sure = predicted(seed)
        for knows, given in ((True, sure), (False, None)):
            found = audited(truth, said, given, 200, seed=seed).accuracy()
            widths[knows].append(found.high - found.low)
    assert np.mean(widths[True]) < 0.9 * np.mean(widths[False])


def test_with_every_label_it_is_exact():
    truth, said, sure = predicted(1, 150)
    audit = audited(truth, said, sure, 150)
    assert audit.remaining == 0
    assert audit.accuracy().low == pytest.approx(np.mean(truth == said))
    assert audit.accuracy().high == pytest.approx(np.mean(truth == said))


def test_by_class():
    truth, said, sure = predicted(2)
    audit = audited(truth, said, sure, 500)
    for label in (0, 1, 2):
        is_it, called = truth == label, said == label
        found = audit.accuracy(of="precision", label=label)
        assert found.low <= (is_it & called).sum() / called.sum() <= found.high
        assert found.count.low <= is_it.sum() <= found.count.high
        found = audit.accuracy(of="recall", label=label)
        assert found.low <= (is_it & called).sum() / is_it.sum() <= found.high


def test_a_label_that_nobody_predicted_is_an_error():
    said = np.array(["cat"] * 50 + ["dog"] * 50)
    audit = Audit(said, seed=0)
    queries = audit.ask(100)
    audit.tell(queries.ids, np.where(said[queries.ids] == "cat", "ant", "dog"))
    assert audit.accuracy().estimate == pytest.approx(0.5)
    assert audit.classes == ["ant", "cat", "dog"]
    audit.tell(queries.ids, said[queries.ids], overwrite=True)
    assert audit.accuracy().estimate == pytest.approx(1)


def test_the_same_seed_asks_the_same():
    truth, said, sure = predicted(3)
    one, two = (audited(truth, said, sure, 100, seed=4) for _ in range(2))
    assert one.ask(30).ids.tolist() == two.ask(30).ids.tolist()
    assert one.accuracy() == two.accuracy()


def test_reached():
    truth, said, sure = predicted(4, error=0.05)
    audit = audited(truth, said, sure, 400)
    assert audit.reached(0.5)
    assert "You can stop: at least" in str(audit.reached(0.5))
    far = audit.reached(0.94)
    assert not far
    assert "more labels" in str(far)
    assert not audit.reached(0.999).outlook


def test_the_outlook_is_about_right():
    """Labels that are foreseen against labels that were needed, in 10 audits; a guess within a factor of
    3 in eight of them. Fixed seeds: no false alarm."""
    close = 0
    for seed in range(10):
        truth, said, sure = predicted(seed, 4000, 0.05)
        audit = audited(truth, said, sure, 100, seed=seed)
        ahead, begun = audit.reached(0.9).outlook, audit.labels_known
        while not audit.reached(0.9):
            queries = audit.ask(10)
            audit.tell(queries.ids, truth[queries.ids])
        needed = audit.labels_known - begun
        if ahead is not None:
            close += (ahead.middle + 10) / 3 <= needed + 10 <= 3 * (ahead.middle + 10)
    assert close >= 8


def test_draws_follow_their_probabilities():
    """The first of two draws, 4000 times: χ² with 10 degrees of freedom; false-alarm rate 0.001."""
    s = doubt(own_doubt(np.linspace(0.3, 1, 12), 12), 0.0, 1.0)
    is_open = np.arange(12) != 5
    counts, rng = np.zeros(12), np.random.default_rng(0)
    for _ in range(4000):
        found = draw_telling(s, is_open, 0.3, 2, rng)
        counts[found.rows[0]] += 1
    d = np.sqrt(s * (1 - s)) * is_open
    q = 0.3 * is_open / 11 + 0.7 * d / d.sum()
    assert counts[5] == 0
    expected = 4000 * q[is_open]
    assert ((counts[is_open] - expected) ** 2 / expected).sum() < 29.6
    assert found.probabilities[0] == pytest.approx(q[found.rows[0]], rel=1e-5)


def test_bounds_of_the_weights_are_bounds():
    s = doubt(own_doubt(np.random.default_rng(1).random(500), 500), 0.0, 1.0).astype(float)
    is_open = np.random.default_rng(2).random(500) < 0.8
    found = draw_telling(s.astype(np.float32), is_open, 0.2, 40, np.random.default_rng(3))
    left = is_open.copy()
    bounds = found.reach.most, found.reach.above, found.reach.below
    for t, row in enumerate(found.rows):
        d = np.sqrt(s * (1 - s)) * left
        q = 0.2 / left.sum() + 0.8 * d / d.sum()
        assert found.probabilities[t] == pytest.approx(q[row], rel=1e-4)
        for bound, numerator in zip(bounds, (1.0, 1 - s, s), strict=True):
            exact = (numerator / q)[left].max()
            assert exact * (1 - 1e-6) <= bound[t] <= 1.5 * exact
        assert found.reach.spread[0] == pytest.approx((s * (1 - s) / q)[is_open].sum(), rel=0.05) or t
        left[row] = False


def test_doubt_learns_from_labels():
    """Overconfident predictions: of those that say 0.99, a tenth is wrong."""
    own = own_doubt(np.full(400, 0.99), 400)
    wrong = np.arange(400) % 10 == 0
    a, b = fitted(own, wrong, np.ones(400))
    assert doubt(own, a, b)[0] == pytest.approx(0.1, abs=0.03)
    assert doubt(own, *fitted(own[:0], wrong[:0], np.ones(0)))[0] == pytest.approx(0.01, abs=1e-3)


@pytest.mark.parametrize(
    ("options", "argument"),
    [
        ({"predictions": []}, "predictions"),
        ({"predictions": ["a", None]}, "predictions[1]"),
        ({"confidence": [0.5]}, "confidence"),
        ({"confidence": [0.5, 1.5]}, "confidence"),
        ({"confidence": [0.5, np.nan]}, "confidence"),
        ({"confidence": ["x", "y"]}, "confidence"),
        ({"explore": 0}, "explore"),
        ({"explore": 1.5}, "explore"),
        ({"seed": -1}, "seed"),
        ({"ids": [1, 1]}, "ids"),
        ({"classes": ["a"]}, "classes"),
    ],
)
def test_bad_input_is_refused(options, argument):
    with pytest.raises(InvalidInput) as caught:
        Audit(**{"predictions": ["a", "b"], **options})
    assert caught.value.argument == argument
