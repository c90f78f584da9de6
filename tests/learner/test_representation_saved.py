"""A learner in a chosen representation, saved, damaged and loaded."""

from __future__ import annotations

import numpy as np
import pytest

from aced import InvalidInput, Learner, Pool, _archive

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
