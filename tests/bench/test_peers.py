"""Other libraries in our loop: they choose what they should, and leave our process as it was."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from aced import InvalidInput, Learner, Pool
from aced._workers import Workers
from aced.bench import Job, Records, run_job, run_jobs
from aced.bench._peers import PEERS, Peer, Setting, _counts, _Run, as_theirs, make_peer, simulate_peer
from aced.datasets import Dataset
from tests.bench.jobs import without_timing
from tests.helpers import blobs, many_blobs

pytest.importorskip("skactiveml")
pytest.importorskip("small_text")
WAYS = [(name, way) for name, ways in PEERS.items() for way in ways]


def job(strategy, classifier, task="field-pocket", seed=0):
    representation = "auto" if classifier == "ours" else None
    return Job(task, strategy, seed, 45, 15, None, {}, None, representation, classifier)


@pytest.mark.parametrize(("name", "way"), WAYS)
def test_every_peer_runs_to_the_end_and_to_the_same_record(name, way):
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    one, two = run_job(job(name, way)), run_job(job(name, way))
    assert "failed" not in one
    assert without_timing([one]) == without_timing([two])
    assert [point["labels"] for point in one["curve"]] == [15, 30, 45]
    assert np.array_equal(before, np.random.get_state()[1])  # noqa: NPY002
    assert one["label"] == (name if way == "ours" else f"{name}/{way}")


@pytest.mark.parametrize("name", ["skactiveml-margin", "small-text-breaking-ties"])
def test_margin_sampling_around_our_classifier_chooses_what_ours_does(name):
    rows, codes = blobs(n=200, p=4)
    names = np.array(["no", "yes"])[codes.astype(int)]
    known = np.arange(0, 200, 7)
    ours, held = (
        Learner(Pool(rows), strategy="margin", classes=["no", "yes"], batch_size=10) for _ in "ab"
    )
    for learner in (ours, held):
        learner.tell(known, names[known])
    with as_theirs(0, 1):
        peer = make_peer(name, Setting(rows.astype(np.float32), 2, 0, "ours", held))
        chosen = peer.query(known, codes[known].astype(int), 10)
    assert set(chosen.tolist()) == set(ours.ask().ids.tolist())


@pytest.mark.parametrize("way", ["own", "ours"])
@pytest.mark.parametrize("name", ["skactiveml-margin", "small-text-least-confidence"])
def test_labels_of_many_classes_may_be_any_values(name, way):
    rows, codes = many_blobs(n=150, classes=5)
    names = np.array(["e", "d", "c", "b", "a"])[codes]
    data = Dataset("five", rows.astype(np.float32), names, rows[:30].astype(np.float32), names[:30])
    how = {"budget": 60, "batch": 20, "first": None, "seed": 0, "representation": None}
    curve, failed = simulate_peer(data, Pool(rows), name, way, all_labels={}, workers=Workers(1), **how)
    assert failed is None
    assert curve.curve[-1].holdout_accuracy > 0.8


def test_a_run_that_takes_too_long_ends_with_what_it_has():
    rows, codes = blobs(n=60, p=3)
    data = Dataset("blobs", rows, codes.astype(int), rows[:9], codes[:9].astype(int))
    how = {"budget": 20, "batch": 5, "first": None, "seed": 0, "representation": None, "limit": -1.0}
    curve, failed = simulate_peer(
        data, Pool(rows), "skactiveml-margin", "own", all_labels={}, workers=Workers(1), **how
    )
    assert curve.curve == []
    assert failed == "not finished in -1 seconds"


class Stubborn(Peer):
    """Chooses the first rows, whether or not they have a label."""

    def query(self, known, codes, size):
        return np.arange(size)

    def learn(self, known, codes):
        return

    def predict(self, rows):
        return np.zeros(len(rows), dtype=int)


def test_rows_that_are_chosen_twice_end_the_run():
    codes = np.zeros(9, dtype=int)
    run = _Run(Stubborn(Setting(np.eye(9), 2, 0, "own", None)), codes, np.random.default_rng(0))
    run.extend(3)
    with pytest.raises(ValueError, match="asked for 2 rows, it chose 0 different ones without a label"):
        run.extend(5)


def test_runs_are_scored_where_ours_are():
    assert list(_counts(30, 10, None)) == [10, 20, 30]
    assert list(_counts(60, 25, 10)) == [10, 35, 60]
    assert list(_counts(12, 5, None)) == [5, 10, 12]
    assert list(_counts(3, 5, None)) == [3]


@pytest.mark.parametrize("name", ["skactiveml-badge", "small-text-k-means"])
def test_a_missing_library_is_named_before_the_first_run(name, tmp_path, monkeypatch):
    for module in ("skactiveml", "small_text"):
        for loaded in [one for one in sys.modules if one.partition(".")[0] == module]:
            monkeypatch.delitem(sys.modules, loaded)
        monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(InvalidInput, match=rf"{name} needs \w+; pip install 'aced\[peers\]'"):
        run_jobs([job(name, "own")], Records(tmp_path), processes=1)
