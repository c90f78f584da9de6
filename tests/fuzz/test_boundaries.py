"""A few cases of every boundary; benchmarks/fuzz.py runs them for an hour."""

from __future__ import annotations

import pytest

from tests.fuzz._runner import BOUNDARIES, fuzz

CASES = {
    "http": 50,
    "sockets": 120,
    "ledger": 150,
    "folder": 50,
    "learner": 600,
    "tables": 150,
    "label_studio": 150,
}


@pytest.mark.parametrize("boundary", BOUNDARIES)
def test_nothing_ends_in_a_traceback_a_hang_or_a_silent_loss(boundary):
    tally = fuzz(boundary, seed=1, cases=CASES[boundary])
    assert not tally.problems, tally.report()
    assert tally.cases == CASES[boundary]
    assert tally.counts["refused"]
    assert tally.counts["taken"]
