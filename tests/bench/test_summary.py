"""What the report says of records."""

from __future__ import annotations

import numpy as np
import pytest

from aced.bench._summary import POOL, ranking, tasks_of


def test_summaries_are_what_the_records_say(records):
    (task,) = tasks_of(records)
    assert {runs.strategy for runs in task.shown} == {"aced", "passive", "margin", "iwal0"}
    np.testing.assert_array_equal(task.horizon(), [20, 40, 60])
    aced_runs = next(runs for runs in task.shown if runs.strategy == "aced")
    plain = aced_runs.at(np.array([20, 40, 60]), POOL, best=False)
    best = aced_runs.at(np.array([20, 40, 60]), POOL, best=True)
    by_hand = [[p[POOL] for p in r["curve"]] for r in aced_runs.records]
    np.testing.assert_allclose(plain, by_hand)
    np.testing.assert_allclose(best, np.maximum.accumulate(by_hand, axis=1))
    needed = aced_runs.labels_needed(POOL)
    for labels, curve in zip(needed, by_hand, strict=True):
        reached = [20 * (i + 1) for i, v in enumerate(curve) if v >= task.everything[POOL]]
        assert labels == (reached[0] if reached else None)
    chosen = next(runs for runs in task.shown if runs.strategy == "iwal0")
    assert chosen.label in ("iwal0 C0=0.0001", "iwal0 C0=0.1")
    found = ranking([task])
    assert found is not None
    assert sorted(found.strategies) == ["aced", "margin", "passive"]
    assert sum(found.ranks) == pytest.approx(6)
