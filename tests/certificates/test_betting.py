"""Intervals by betting: exact on tiny pools, by simulation on larger ones."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from scipy.stats import binom

from aced.certificates import Evidence, interval
from aced.certificates._betting import too_large, too_small


def walk(marks, guess, weights, explore, order):
    """The evidence of draws in this order, without replacement, and their probability."""
    n, left, chance = len(marks), np.ones(len(marks), bool), 1.0
    columns = {name: [] for name in ("z", "bottom", "top", "least", "ceiling")}
    for row in order:
        rows = np.flatnonzero(left)
        q = np.zeros(n)
        q[rows] = explore / len(rows) + (1 - explore) * weights[rows] / weights[rows].sum()
        base = guess[rows].sum() / n
        columns["z"].append((marks[row] - guess[row]) / (n * q[row]) + base)
        columns["bottom"].append(base - (guess[rows] / (n * q[rows])).max())
        columns["top"].append(base + ((1 - guess[rows]) / (n * q[rows])).max())
        columns["least"].append(marks[~left].sum())
        columns["ceiling"].append(len(rows) / n)
        chance *= q[row]
        left[row] = False
    return {name: np.array(values) for name, values in columns.items()}, chance


def evidence_of(columns, marks, order, starts=None):
    """Evidence of the total over the rows that have not been drawn."""
    n, drawn = len(marks), marks[list(order)].sum()
    known = (drawn - columns["least"]) / n  # marks of the rows of R_t that are known now
    z = columns["z"]
    return Evidence(
        low=z,
        high=z,
        bottom=columns["bottom"],
        top=columns["top"],
        spread=np.full(len(z), 0.2),
        least=known,
        most=known,
        floor=np.zeros(len(z)),
        ceiling=columns["ceiling"],
        limits=(0.0, (n - len(order)) / n),
        starts=starts,
    )


@pytest.mark.parametrize("starts", [None, np.array([0, 2])])
@pytest.mark.parametrize("bets", [too_large, too_small])
def test_what_is_bet_on_the_truth_stays_one_in_expectation_exactly(bets, starts):
    """Every sequence of draws from six rows, with its probability: no simulation, no false alarm."""
    marks = np.array([1.0, 0, 0, 1, 0, 0])
    guess = np.array([0.7, 0.1, 0.4, 0.2, 0.0, 0.1])
    weights = np.array([5.0, 1, 2, 1, 0, 0.5])
    wealth, total, highest = np.zeros(4), 0.0, 0.0
    for order in permutations(range(6), 4):
        columns, chance = walk(marks, guess, weights, 0.3, order)
        truth = (marks.sum() - marks[list(order)].sum()) / 6
        after = np.exp(bets(evidence_of(columns, marks, order, starts), truth))
        wealth, total, highest = wealth + chance * after, total + chance, max(highest, after.max())
    assert total == pytest.approx(1)
    begun = np.ones(4) if starts is None else np.array([0.5, 0.5, 0.75, 0.75])
    assert wealth == pytest.approx(begun)
    assert highest > 1.2 * begun[-1]  # there was something to win


def simulated(seed, n=400, draws=160):
    """A pool with a guess that is off, drawn by the guess and a floor."""
    rng = np.random.default_rng(seed)
    p = rng.beta(0.4, 2.0, n)
    marks = (rng.random(n) < p).astype(float)
    guess = np.clip(0.6 * p + 0.05, 0, 1)
    weights, left, order = np.sqrt(guess * (1 - guess)), np.ones(n, bool), []
    for _ in range(draws):
        rows = np.flatnonzero(left)
        q = 0.3 / len(rows) + 0.7 * weights[rows] / weights[rows].sum()
        order.append(int(rng.choice(rows, p=q / q.sum())))
        left[order[-1]] = False
    return marks, walk(marks, guess, weights, 0.3, order)[0], order


def test_all_looks_hold_at_once_and_the_interval_becomes_narrow():
    """100 runs, a look after every 8 draws, α = 0.1. Each run misses with probability at most 0.1, so
    that 19 misses or more have probability below 0.01: that is the rate of false alarms."""
    runs, confidence, missed, widths = 100, 0.9, 0, []
    for seed in range(runs):
        marks, columns, order = simulated(seed)
        ever = False
        for look in range(8, 161, 8):
            part = {name: values[:look] for name, values in columns.items()}
            low, high = interval(evidence_of(part, marks, order[:look]), confidence)
            truth = (marks.sum() - marks[order[:look]].sum()) / len(marks)
            ever |= not low - 1e-9 <= truth <= high + 1e-9
        missed += ever
        widths.append(high - low)
    assert missed < 19
    assert binom.sf(18, runs, 1 - confidence) < 0.01
    assert np.mean(widths) < 0.2


def test_a_missing_label_only_widens_the_interval():
    marks, columns, order = simulated(5)
    evidence = evidence_of(columns, marks, order)
    low, high = interval(evidence, 0.95)
    z_low, z_high = evidence.low.copy(), evidence.high.copy()
    z_low[10], z_high[10] = evidence.bottom[10], evidence.top[10]
    doubtful = Evidence(**{**vars(evidence), "low": z_low, "high": z_high})
    wider = interval(doubtful, 0.95)
    assert wider[0] <= low + 1e-9
    assert wider[1] >= high - 1e-9
    assert wider[1] - wider[0] > high - low


def test_room_between_the_total_and_the_draws_only_widens_the_interval():
    marks, columns, order = simulated(6)
    evidence = evidence_of(columns, marks, order)
    low, high = interval(evidence, 0.95)
    room = {"least": evidence.least - 0.02, "most": evidence.most + 0.02}
    wider = interval(Evidence(**{**vars(evidence), **room}), 0.95)
    assert wider[0] <= low
    assert wider[1] >= high
    assert wider[1] - wider[0] == pytest.approx(high - low + 0.04, abs=0.02)


def test_draws_without_a_floor_say_nothing():
    ones = np.ones(50)
    none = 0 * ones
    evidence = Evidence(
        none, none, -np.inf * ones, np.inf * ones, ones, none, none, none, ones, (0.0, 0.8)
    )
    assert interval(evidence, 0.95) == (0.0, 0.8)


def test_without_draws_everything_is_possible():
    none = np.zeros(0)
    assert interval(Evidence(*[none] * 9, (0.0, 0.7)), 0.95) == (0.0, 0.7)
