"""What draws say of a total: the bracket exactly, and all looks while classifiers are given up."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom

from aced.certificates import Drawn, Frozen, Known, _drawn
from aced.certificates._betting import rejected
from aced.certificates._claims import errors, evidence_of


def test_the_bracket_holds_the_truth_whatever_was_told_and_missing():
    """Rows are told without a draw between plans, and some drawn rows never get a label: what is known
    of the open rows is exact but for rows without a label that are not open."""
    rng, n = np.random.default_rng(0), 300
    truth = rng.integers(0, 2, n)
    said = np.where(rng.random(n) < 0.3, 1 - truth, truth).astype(np.uint8)
    wrong = said != truth
    for missing in (0.0, 0.3):
        drawn = Drawn(n, fixed=True)
        drawn.freeze(Frozen(1, said, np.full(n, 0.3, np.float32)))
        is_open, labelled, means = np.ones(n, bool), np.zeros(n, bool), []
        for _ in range(25):
            before, chosen = is_open.copy(), rng.choice(np.flatnonzero(is_open), 3, replace=False)
            left = np.flatnonzero(is_open)
            for row in chosen:
                means.append(wrong[left].sum() / n)
                left = left[left != row]
            drawn.add(before, chosen, np.full(3, 0.01), 1.0)
            is_open[chosen] = False
            labelled[chosen] = rng.random(3) >= missing
            told = rng.choice(np.flatnonzero(is_open), 4, replace=False)
            is_open[told], labelled[told] = False, True
        evidence = evidence_of(errors(), drawn, Known(labelled, truth, said, np.full(n, 0.3)))
        total = (wrong & ~labelled).sum() / n
        assert (total + evidence.least <= np.array(means) + 1e-12).all()
        assert (total + evidence.most >= np.array(means) - 1e-12).all()
        if not missing:
            assert evidence.least == pytest.approx(evidence.most)
        else:
            assert (evidence.most - evidence.least).max() > 0.02


def test_classifiers_that_are_given_up_take_their_bets_with_them(monkeypatch):
    """100 runs with uniform draws and many looks, α = 0.2, and classifiers given up as early as can be.
    If the truth is rejected at some look with probability 0.2, 31 runs or more have probability below
    0.01: that is the rate of false alarms."""
    monkeypatch.setattr(_drawn, "FORGET", 3)
    runs, n, missed = 100, 1500, 0
    for seed in range(runs):
        rng = np.random.default_rng(seed)
        wrong = rng.random(n) < 0.1
        truth, said = np.zeros(n, np.int64), wrong.astype(np.uint8)
        drawn, is_open, ever = Drawn(n), np.ones(n, bool), False
        while is_open.sum() > 600:
            labels = int((~is_open).sum())
            if drawn.wants(labels):
                drawn.freeze(Frozen(labels, said, np.full(n, 0.1, np.float32)))
            chosen = rng.permutation(np.flatnonzero(is_open))[:10]
            drawn.add(is_open, chosen, 1 / (is_open.sum() - np.arange(10)), 1.0)
            is_open[chosen] = False
            if labels % 50 == 0:
                evidence = evidence_of(errors(), drawn, Known(~is_open, truth, said, 0.1 * wrong))
                ever |= rejected(evidence, (wrong & is_open).sum() / n, 0.8)
        missed += ever
    assert missed < 31
    assert binom.sf(30, runs, 0.2) < 0.01
