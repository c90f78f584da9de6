import json

import numpy as np
import pytest

from aced import InvalidInput, Pool
from aced.bench import fit_all, simulate
from aced.datasets import Dataset
from aced.strategies import make_strategy
from tests.helpers import blobs, many_blobs

ROWS, LABELS = blobs(n=60, p=3)


def score_all():
    data = Dataset("blobs", ROWS, LABELS, ROWS[:0], LABELS[:0])
    fit_all(data, Pool(ROWS), l2=1.0)


def run():
    data = Dataset("blobs", ROWS, LABELS, ROWS[:0], LABELS[:0])
    how = {"all_labels": {}, "budget": 10, "batch": 5, "seed": 0, "l2": 1.0}
    simulate(data, Pool(ROWS), make_strategy("passive"), **how)


@pytest.mark.parametrize("use", [score_all, run])
def test_a_holdout_without_rows_gets_one_sentence(use):
    with pytest.raises(InvalidInput, match="X_test"):
        use()


def test_rows_in_a_tiny_unit_are_scored_like_the_rows():
    plain, tiny = (
        fit_all(Dataset("blobs", X, LABELS, X[:20], LABELS[:20]), Pool(X), l2=1.0)
        for X in (ROWS, ROWS * 1e-10)
    )
    assert tiny["holdout_accuracy"] == pytest.approx(plain["holdout_accuracy"], abs=0.05)
    assert tiny["pool_accuracy"] == pytest.approx(plain["pool_accuracy"], abs=0.05)


@pytest.mark.parametrize("strategy", ["passive", "margin", "entropy", "badge", "core-set", "density"])
def test_any_number_of_classes_is_simulated_and_recorded(strategy):
    rows, codes = many_blobs(n=150, classes=5)
    names = np.array(["e", "d", "c", "b", "a"])[codes]
    data = Dataset("five", rows, names, rows[:30], names[:30])
    pool = Pool(rows)
    everything = fit_all(data, pool, l2=None)
    how = {"all_labels": everything, "budget": 60, "batch": 20, "seed": 0, "l2": None}
    record = simulate(data, pool, make_strategy(strategy), **how).to_json()
    assert [point["labels"] for point in record["curve"]] == [20, 40, 60]
    assert record["curve"][-1]["holdout_accuracy"] > 0.8
    assert json.loads(json.dumps(record)) == record


def test_a_strategy_for_two_classes_is_refused_before_anything_is_fitted():
    rows, codes = many_blobs(n=60, classes=3)
    data = Dataset("three", rows, codes)
    how = {"all_labels": {}, "budget": 10, "batch": 5, "seed": 0, "l2": None}
    with pytest.raises(InvalidInput, match="iwal0 is made for two classes only, and three has 3; use a"):
        simulate(data, Pool(rows), make_strategy("iwal0"), **how)
