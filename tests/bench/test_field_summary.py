"""What the field says, on curves whose answers can be worked out by hand."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from aced.bench._field_summary import (
    Curves,
    Field,
    geometric,
    labels_to,
    mean_ranks,
    ratio,
    share,
    signed_ranks,
    summarise,
    worst,
)
from aced.bench._summary import HOLDOUT, POOL

COUNTS = np.arange(10, 101, 10)


def curves(accuracy, label="x", counts=COUNTS, task="t"):
    """Curves from accuracies (seeds, counts) that are the same on pool and holdout."""
    found = np.atleast_2d(np.asarray(accuracy, dtype=float))
    return Curves(task, label, counts, {POOL: found, HOLDOUT: found}, tuple(range(len(found))), 0.1)


def test_the_area_is_the_mean_over_seeds_and_label_counts():
    line = COUNTS / 100  # 0.1 … 1.0
    assert curves([line, line - 0.1]).area(HOLDOUT) == pytest.approx(0.5)
    assert curves([line, line - 0.1]).final(POOL) == pytest.approx(0.95)


@pytest.mark.parametrize(
    ("value", "labels"), [(0.0, 10), (0.1, 10), (0.15, 15), (0.5, 50), (1.0, 100), (1.01, None)]
)
def test_labels_to_an_accuracy_lie_on_the_line_between_two_counts(value, labels):
    found = labels_to(COUNTS, COUNTS / 100, value)
    assert found == (None if labels is None else pytest.approx(labels))


def test_labels_count_to_the_first_crossing_of_a_curve_that_falls_again():
    assert labels_to(np.array([1, 2, 3, 4]), np.array([0.0, 1.0, 0.0, 1.0]), 0.5) == 1.5


def test_half_the_labels_are_a_ratio_of_a_half_and_turned_round_of_two():
    fast, slow = curves(COUNTS / 100), curves(COUNTS / 200)
    for compared in (share, ratio):
        assert compared(fast, slow, HOLDOUT) == pytest.approx(0.5)
        assert compared(slow, fast, HOLDOUT) == pytest.approx(2.0)
        assert compared(fast, fast, HOLDOUT) == pytest.approx(1.0)
    assert geometric([0.5, 2.0]) == pytest.approx(1.0)


def test_a_peer_that_was_done_early_needed_few_labels_but_had_all():
    flat = curves(np.minimum(COUNTS / 100, 0.3))  # at its last accuracy after 30 labels
    assert ratio(curves(COUNTS / 100), flat, HOLDOUT) == pytest.approx(1.0)
    assert share(curves(COUNTS / 100), flat, HOLDOUT) == pytest.approx(0.3)


def test_the_worst_difference_is_in_standard_errors_of_the_paired_mean():
    passive = curves([[0.5, 0.5, 0.5], [0.7, 0.7, 0.7]], "passive", COUNTS[:3])
    # differences of the two seeds: (0.1, 0.3), (-0.1, -0.3), (-0.2, 0.2)
    mine = curves([[0.6, 0.4, 0.3], [1.0, 0.4, 0.9]], "x", COUNTS[:3])
    found = worst(mine, passive, HOLDOUT)
    assert found.errors == pytest.approx(-2.0)  # mean -0.2, spread 0.1 √2, two seeds
    assert (found.difference, found.labels) == (pytest.approx(-0.2), 20)
    assert worst(passive, passive, HOLDOUT).errors == 0.0
    assert worst(curves([0.1, 0.1, 0.1], counts=COUNTS[:3]), passive, HOLDOUT) is None  # one seed


def test_a_difference_that_is_the_same_in_every_seed_is_infinitely_many_errors():
    passive, mine = (curves([[level] * 3] * 2, counts=COUNTS[:3]) for level in (0.5, 0.25))
    assert worst(mine, passive, HOLDOUT).errors == -np.inf


def field(areas):
    """A field of one-point curves from {label: areas by task}."""
    tasks = len(next(iter(areas.values())))
    return Field(
        {
            f"t{task}": {
                label: curves([[values[task]]], label, COUNTS[:1]) for label, values in areas.items()
            }
            for task in range(tasks)
        }
    )


def test_ranks_are_means_over_tasks_and_equals_share():
    found = field({"a": [0.9, 0.9], "b": [0.8, 0.9], "c": [0.7, 0.1]})
    assert mean_ranks(found, ["a", "b", "c"], HOLDOUT) == {"a": 1.25, "b": 1.75, "c": 3.0}


def test_the_signed_rank_test_is_exact_and_corrected():
    ahead = np.array([0.01, 0.02, 0.03, 0.04, 0.05, 0.06])
    found = field({"a": 0.5 + ahead, "b": np.full(6, 0.5), "c": 0.4 - ahead})
    # six differences of one sign: 2 of 2⁶ signs are as extreme
    assert signed_ranks(found, "a", ["b"], HOLDOUT) == {"b": pytest.approx(2 / 64)}
    both = signed_ranks(found, "a", ["b", "c"], HOLDOUT)
    assert both == {"b": pytest.approx(4 / 64), "c": pytest.approx(4 / 64)}
    few = field({"a": ahead[:4], "b": np.zeros(4)})
    assert signed_ranks(few, "a", ["b"], HOLDOUT) == {}


def test_who_lacks_a_task_has_no_rank_and_is_tested_on_the_others():
    ahead = np.array([0.01, 0.02, 0.03, 0.04, 0.05, 0.06])
    found = field({"a": 0.5 + ahead, "b": np.full(6, 0.5), "c": np.full(6, 0.9)})
    del found.curves["t0"]["c"]
    assert mean_ranks(found, ["a", "b", "c"], HOLDOUT) == {"a": 1.0, "b": 2.0}
    assert found.tasks("a", "c") == ["t1", "t2", "t3", "t4", "t5"]
    assert signed_ranks(found, "a", ["c"], HOLDOUT) == {"c": pytest.approx(2 / 32)}


def test_accuracies_with_all_labels_are_those_of_our_classifier():
    theirs = {"all_labels": {POOL: 0.1, HOLDOUT: 0.1}}
    records = [record("t", "a/own", 0, [0.5], **theirs), record("t", "passive", 0, [0.5])]
    assert summarise(records, "aced").everything["t"] == {POOL: 0.9, HOLDOUT: 0.8}
    assert summarise(records[:1], "aced").everything["t"] == {POOL: 0.1, HOLDOUT: 0.1}


def record(task, label, seed, accuracies, **more):
    points = [{"labels": int(n), POOL: a, HOLDOUT: a} for n, a in zip(COUNTS, accuracies, strict=False)]
    return {
        "dataset": task,
        "label": label,
        "seed": seed,
        "curve": points,
        "all_labels": {POOL: 0.9, HOLDOUT: 0.8},
        "timing": {"seconds": [0.5 * (k + 1) for k in range(len(points))], "total": 1.0},
        **more,
    }


def test_a_run_that_failed_is_counted_and_is_in_no_mean():
    records = [record("t", "x", seed, [0.5, 0.7]) for seed in (1, 0)]
    records.append(record("t", "x", 2, [0.1], failed="ValueError: no"))
    records.append(record("t", "y", 0, [], failed="MemoryError: much"))
    found = summarise(records, "x")
    assert found.curves["t"]["x"].area(HOLDOUT) == pytest.approx(0.6)
    assert found.curves["t"]["x"].seeds == (0, 1)
    assert found.curves["t"]["x"].seconds == pytest.approx(0.5)
    assert found.failed["t"] == {"x": ("ValueError: no",), "y": ("MemoryError: much",)}
    assert found.labels() == ["x"]
    assert found.everything["t"] == {POOL: 0.9, HOLDOUT: 0.8}


def test_the_chance_of_a_deficit_is_that_of_signs_drawn_anew():
    """Against a loop over all signs; where the two are alike, chances below 0.1 are as rare as that."""
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, 6, 4))
    one, two = (curves(rows, counts=COUNTS[:4]) for rows in (a, b))

    def least(rows: np.ndarray) -> float:
        return float((rows.mean(axis=0) / (rows.std(axis=0, ddof=1) / np.sqrt(6))).min())

    flips = [np.array(signs)[:, None] for signs in product([1, -1], repeat=6)]
    lowest = [least((a - b) * flip) for flip in flips]
    found = worst(one, two, HOLDOUT)
    assert found.errors == pytest.approx(least(a - b))
    assert found.chance == pytest.approx(np.mean(np.array(lowest) <= found.errors + 1e-9))

    chances = []
    for _ in range(300):
        pair = rng.normal(size=(2, 10, 10)).cumsum(axis=2)
        chances.append(worst(curves(pair[0]), curves(pair[1]), HOLDOUT).chance)
    # 300 draws at a rate of at most 0.1: more than 50 are a false alarm of 0.013 %
    assert np.mean(np.array(chances) <= 0.1) <= 50 / 300
