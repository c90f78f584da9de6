import pytest

from aced import InvalidInput, Pool
from aced.bench import fit_all, simulate
from aced.datasets import Dataset
from aced.strategies import make_strategy
from tests.helpers import blobs

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
