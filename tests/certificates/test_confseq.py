"""The wealth of our bets on uniform draws is that of confseq 0.0.11, an implementation by others.

``benchmarks/confseq_values.py`` wrote its values.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from aced.certificates import Evidence
from aced.certificates._betting import too_large, too_small

KEPT = json.loads(Path(__file__).with_name("confseq.json").read_text())


def uniform(x, n, variance):
    """What uniform draws without replacement say of the total over all rows."""
    left = (n - np.arange(len(x))) / n
    seen = (np.cumsum(x) - x) / n
    none = np.zeros(len(x))
    return Evidence(
        low=left * x,
        high=left * x,
        bottom=none,
        top=left,
        spread=np.full(len(x), variance),
        least=-seen,
        most=-seen,
        floor=np.full(len(x), -np.inf),
        ceiling=np.full(len(x), np.inf),
        limits=(0.0, 1.0),
    )


@pytest.mark.parametrize(
    "case", KEPT["cases"], ids=lambda one: f"{np.mean(one['x']):.2f}-{one['m']:.2f}"
)
def test_the_wealth_is_that_of_confseq(case):
    evidence = uniform(np.array(case["x"], float), KEPT["n"], KEPT["variance"])
    every = slice(KEPT["every"] - 1, None, KEPT["every"])
    compared = 0
    for bets, side in ((too_large, "too_large"), (too_small, "too_small")):
        theirs = np.array(case[side], float)
        possible = np.isfinite(theirs)  # where no labels could make m the mean, confseq says infinity
        ours = np.exp(bets(evidence, case["m"])[every])
        assert ours[possible] == pytest.approx(theirs[possible], rel=1e-6)
        compared += possible.sum()
    assert compared >= 10


def test_every_side_was_seen_to_win_and_to_lose():
    for side in ("too_large", "too_small"):
        last = [one[side][-1] for one in KEPT["cases"]]
        assert min(last) < 0.7
        assert max(last) > 100
