"""A learner in a chosen representation, saved, damaged and loaded."""

from __future__ import annotations

import numpy as np
import pytest

from aced import InvalidInput, Learner, Pool, _archive
from aced.strategies import AcedPaper

ROWS = np.random.default_rng(0).normal(size=(600, 6))
TRUTH = (np.square(ROWS[:, :2]).sum(axis=1) > 1.4).astype(int)  # two of six columns matter


def taught(representation: str) -> Learner:
    learner = Learner(
        Pool(ROWS), strategy="aced", representation=representation, batch_size=30, threads=1, seed=5
    )
    for _ in range(3):
        queries = learner.ask()
        learner.tell(queries.ids, TRUTH[queries.ids])
    learner.ask()
    return learner


@pytest.mark.parametrize(("representation", "kind"), [("auto", "weighted"), ("rbf", "rbf")])
def test_a_loaded_learner_goes_on_to_the_bit(tmp_path, representation, kind):
    learner = taught(representation)
    assert learner.history[-1]["representation"] == kind
    assert learner.history[-1]["error_rbf"] > 0
    learner.save(tmp_path / "saved")
    other = Learner.load(tmp_path / "saved", Pool(ROWS), threads=1)
    for _ in range(2):
        for one in (learner, other):
            one.tell(one.pending, TRUTH[one.pending])
        queries, same = learner.ask(), other.ask()
        np.testing.assert_array_equal(queries.ids, same.ids)
        np.testing.assert_array_equal(queries.probabilities, same.probabilities)
        np.testing.assert_array_equal(learner.design, other.design)
    for name in ("representation", "error_linear", "error_rbf", "error_weighted"):
        assert learner.history[-1].get(name) == other.history[-1].get(name)


@pytest.mark.parametrize("strategy", ["blend", "aced-paper"])
def test_an_interrupted_ask_does_not_move_the_choice(monkeypatch, strategy):
    """Labels that come after the interruption find the choice where it was before."""
    for seed in range(4):
        one, two = (Learner(ROWS, strategy=strategy, batch_size=25, seed=seed) for _ in range(2))
        for learner in (one, two):
            for _ in range(2):
                queries = learner.ask()
                learner.tell(queries.ids, TRUTH[queries.ids])
        with monkeypatch.context() as patch:
            patch.setattr(type(one.strategy), "plan", interrupted)
            with pytest.raises(KeyboardInterrupt):
                one.ask()
        more = np.setdiff1d(np.arange(40), one.labelled()[0])[:15]
        for learner in (one, two):
            learner.tell(more, TRUTH[more])
        np.testing.assert_array_equal(one.ask().ids, two.ask().ids)
        for name in ("representation", "error_linear", "error_rbf", "error_weighted"):
            assert one.history[-1].get(name) == two.history[-1].get(name)


def interrupted(*_: object) -> None:
    raise KeyboardInterrupt


def test_a_learner_that_was_saved_before_its_round_says_the_same(tmp_path):
    for seed in range(4):
        learner = Learner(ROWS, batch_size=30, seed=seed)
        for _ in range(2):
            queries = learner.ask()
            learner.tell(queries.ids, TRUTH[queries.ids])
        learner.ask()
        learner.save(tmp_path / "l.npz")
        other = Learner.load(tmp_path / "l.npz", ROWS)
        for one in (learner, other):
            one.ask()
        last, same = (dict(one.history[-1]) for one in (learner, other))
        assert last.pop("seconds") > 0
        same.pop("seconds")
        assert last == same


def test_strategies_for_rows_as_they_are_do_not_see_lifted_ones(monkeypatch):
    seen = []
    plan = AcedPaper.plan
    monkeypatch.setattr(AcedPaper, "plan", lambda *a: seen.append(a[1].pool.features) or plan(*a))
    learner = Learner(ROWS, strategy="aced-paper", batch_size=60)
    for _ in range(3):
        queries = learner.ask()
        learner.tell(queries.ids, TRUTH[queries.ids])
    assert seen == [6, 6, 6]
    assert learner.history[-1]["representation"] != "linear"  # the classifier's, which is kept


def test_the_history_of_a_stream_says_nothing_of_a_representation():
    learner = Learner(ROWS, strategy="cal")
    for _ in range(40):
        queries = learner.ask(1)
        learner.tell(queries.ids, TRUTH[queries.ids])
    assert "representation" not in learner.history[-1]


def test_a_classifier_is_not_trained_on_a_row_twice():
    learner = Learner(ROWS)
    with pytest.raises(InvalidInput, match="ids: a row is there twice; give every row once"):
        learner.train([1, 2, 1], TRUTH[[1, 2, 1]])


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    path = tmp_path_factory.mktemp("saved") / "learner"
    taught("auto").save(path)
    return _archive.read(path, set(), "learner")


@pytest.mark.parametrize(
    ("place", "value"), [(0, -1), (0, 9), (0, 0.5), (1, 7), (2, np.nan), (2, -1), (2, np.inf), (3, -1)]
)
def test_a_damaged_choice_is_refused(saved, tmp_path, place, value):
    meta, arrays = saved
    choice = arrays["choice"].copy()
    choice[place] = value
    refused(tmp_path, meta, {**arrays, "choice": choice})


@pytest.mark.parametrize(
    ("name", "array"),
    [
        ("column_weights", np.ones(2)),
        ("column_weights", np.full(6, np.nan)),
        ("column_weights", np.full(6, -1.0)),
        ("column_weights", None),
        ("landmarks", np.zeros(0, np.int64)),
        ("landmarks", np.zeros(512, np.int64)),
        ("landmarks", np.full(512, 10**6)),
    ],
)
def test_damaged_weights_and_landmarks_are_refused(saved, tmp_path, name, array):
    meta, arrays = saved
    left = {key: kept for key, kept in arrays.items() if key != name}
    refused(tmp_path, meta, left if array is None else {**left, name: array})


def refused(folder, meta, arrays):
    _archive.write(folder / "damaged", meta, arrays)
    with pytest.raises(InvalidInput, match="is not a saved learner"):
        Learner.load(folder / "damaged", Pool(ROWS), threads=1)


def test_an_unknown_representation_is_refused_in_a_sentence():
    with pytest.raises(InvalidInput, match="representation must be one of auto, linear, rbf"):
        Learner(Pool(ROWS), representation="trees")
    with pytest.raises(InvalidInput, match="l2 is for rows as they are; drop one"):
        Learner(Pool(ROWS), representation="rbf", l2=1.0)
