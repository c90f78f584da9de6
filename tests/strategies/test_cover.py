"""Online Active Cover: its probabilities, and the ranges of the published program."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_digits

from aced import InvalidInput, Learner, Pool
from aced.strategies import ActiveCover
from aced.strategies._online import Online
from aced.strategies._vw_cover import Program
from tests.helpers import blobs


class Watched(ActiveCover):
    """Remembers how each row was judged."""

    def __init__(self, *args, **options):
        super().__init__(*args, **options)
        self.judged = []

    def _judge(self, x):
        found = super()._judge(x)
        self.judged.append((self._k, *found, self._least(self._weight)))
        return found


def stream(rows, labels, strategy, seed=0):
    pool = Pool(rows)
    learner = Learner(pool, strategy=strategy, seed=seed)
    asked = []
    while len(query := learner.ask(1)):
        learner.tell(query.ids, labels[query.ids])
        asked.append(float(query.probabilities[0]))
    return learner, np.array(asked)


def test_probabilities_and_the_region():
    rows, labels = blobs(500, 6, flip=0.1)
    learner, asked = stream(rows, labels, Watched(0.05))
    judged = np.array(learner.strategy.judged, dtype=float)
    k, inside, _, chance, least = judged.T
    assert inside[k <= 3].all()
    assert (chance[inside == 0] == 0).all()  # never outside the region after the first three
    later = (inside == 1) & (k > 3)
    assert (chance[later] >= 2 * least[later] / (1 + 2 * least[later]) - 1e-12).all()
    assert 0 < asked.min() <= asked.max() <= 1
    assert 10 < len(asked) < 400
    everything, _ = stream(rows, labels, ActiveCover(0.05, oracular=True))
    assert everything.labels_known > learner.labels_known  # oracular asks for all of the region


# queries and pool accuracy of Vowpal Wabbit's active_cover over several orders, widened by the
# spread of a single run (its random numbers and ours differ)
RANGES = {"breast": (75, 160, 0.950, 0.985), "digits": (400, 600, 0.870, 0.915)}


def standard(name):
    """Standardised rows, and labels 0 or 1."""
    loader = {"breast": load_breast_cancer, "digits": load_digits}[name]
    rows, labels = loader(return_X_y=True)
    labels = labels % 2 if name == "digits" else labels
    spread = rows.std(axis=0)
    return ((rows - rows.mean(axis=0)) / np.where(spread > 0, spread, 1)).astype(np.float32), labels


@pytest.mark.parametrize("name", RANGES)
def test_queries_and_accuracy_are_in_the_range_of_the_published_program(name):
    rows, labels = standard(name)
    fewest, most, low, high = RANGES[name]
    queries, scores = [], []
    for seed in range(4):
        learner, _ = stream(rows, labels, ActiveCover(0.1), seed)
        queries.append(learner.labels_known)
        weights = learner.strategy._learners.weights[0]
        scores.append(((np.column_stack([rows, np.ones(len(rows))]) @ weights > 0) == labels).mean())
    assert fewest < np.mean(queries) < most
    assert low < np.mean(scores) < high


@pytest.mark.parametrize("name", RANGES)
def test_row_by_row_it_judges_as_the_published_program(name):
    """The program decides, ours follows and says what it would have done: told the label, as the
    program is when it judges a row, it has the same region and the same probabilities."""
    pytest.importorskip("vowpalwabbit")
    rows, labels = standard(name)
    signs = 2.0 * labels - 1
    program, ours = Program(0.1, seed=1), ActiveCover(0.1)
    ours._learners = Online(1 + ours.cover, rows.shape[1] + 1, 1.0)
    plain, told = ours._learners.sensitivity, 0.0
    ours._learners.sensitivity = lambda x, margin, _: plain(x, margin, told)
    same, apart = [], []
    for k, row in enumerate(np.random.default_rng(0).permutation(len(rows))[:300]):
        chance = program.learn(rows[row], int(labels[row]))
        skipped = program.skipped
        x, told = np.append(rows[row].astype(float), 1.0), signs[row]
        ours._k = k + 1
        inside, threshold, mine = ours._judge(x)
        same.append(inside == (chance > 0 or skipped))
        if chance > 0 and inside:
            apart.append(abs(mine - chance))
        answer = signs[row] if chance > 0 else 0.0
        ours._update(x, answer, chance or 1.0, threshold, chance > 0 or skipped)
    assert all(same)
    assert len(apart) > 30
    assert max(apart) < 1e-4


def test_more_mellow_asks_more():
    rows, labels = blobs(600, 5, flip=0.05)
    counts = [stream(rows, labels, ActiveCover(c0))[0].labels_known for c0 in (0.003, 0.03, 0.3)]
    assert counts[0] < counts[1] < counts[2]


def test_saved_and_loaded_it_goes_on_as_before(tmp_path):
    rows, labels = blobs(300, 4, flip=0.1)
    pool = Pool(rows)

    def play(learner, times):
        for _ in range(times):
            query = learner.ask(1)
            learner.tell(query.ids, labels[query.ids])

    one = Learner(pool, strategy=ActiveCover(0.1), seed=2)
    play(one, 25)
    waiting = one.ask(6).ids  # their labels come before the save, and are learnt from after it
    one.tell(waiting, labels[waiting])
    one.save(tmp_path / "half.npz")
    two = Learner.load(tmp_path / "half.npz", pool)
    play(one, 10)
    play(two, 10)
    np.testing.assert_array_equal(one.labelled()[0], two.labelled()[0])
    for name, array in one.strategy.state().items():
        np.testing.assert_array_equal(array, two.strategy.state()[name])


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: ActiveCover(0.0), "c0"),
        (lambda: ActiveCover(cover=-1), "cover"),
        (lambda: ActiveCover(passes=0), "passes"),
        (lambda: ActiveCover(rate=0.0), "rate"),
    ],
)
def test_bad_options_are_named(make, words):
    with pytest.raises(InvalidInput, match=words):
        make()
