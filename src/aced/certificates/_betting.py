"""An interval for a total over the pool that holds at every look, by betting on the draws.

Waudby-Smith and Ramdas (2024), Shekhar and others (2023): weighted draws without replacement.

======== ============ =============================================================================
symbol   name in code meaning
======== ============ =============================================================================
N                     the rows of the pool; all totals are shares of it
a_i                   the mark of row i, known once i has a label: 1 if a classifier errs on it, say
R_t                   the rows still open before draw t
q_t(i)                the probability of row i at draw t; positive on all of R_t
s_t(i)                a prediction of a_i, made before draw t
Z_t      low, high    (a_I - s_t(I)) / (N q_t(I)) + Σ_{R_t} s_t / N, for the row I that was drawn
M_t                   E[Z_t | past] = Σ_{R_t} a_i / N
U                     the total that is asked for: Σ a_i / N over the rows that have no label now
V_t      spread       the variance of Z_t, as predicted before the draw
W_t                   wealth: what bets that M is too large, or too small, have made of 1
======== ============ =============================================================================

For every bet b_t ≥ 0 that is chosen before draw t and keeps the factors positive,

    W_t = Π_{s ≤ t} (1 + b_s (M_s - Z_s))

is a nonnegative martingale from 1: it ever reaches 2 / α with probability at most α / 2 (Ville). So is
every mixture of such products. U is in doubt as long as no look back has found the wealth that large,
for the bets on "too large" and for those on "too small".

Where U does not say what M_t is, only that M_t - U is between two numbers, the least factor counts.
Each factor is monotone in M_t, also where the bet depends on M_t by its cap, so that the least one is at
an end. The same goes for a row that was drawn and has no label: of its marks the worse one counts.

Bets are b_t = min(θ / V_t, cap) for each θ of :data:`THETA`, and begin at each of the ``starts``: old
draws may say little of U, and then only components that begin later grow.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from aced._types import Float64, Ints

THETA = 0.4 * 2.0 ** -np.arange(7)
"""The differences, in shares of the pool, that bets are made for."""
CAP = 0.95
"""The most of the wealth that a bet may lose."""
STEPS = 40
"""Halvings that find an end of the interval."""


@dataclass(frozen=True)
class Evidence:
    """What T draws, in order, say of U. All are (T,) and shares of the pool but for the starts."""

    low: Float64  # Z_t with the least mark that the drawn row may have
    high: Float64  # Z_t with the largest
    bottom: Float64  # the least Z_t could have been, whatever row had been drawn; -inf without a floor
    top: Float64  # the most; +inf without a floor
    spread: Float64  # V_t > 0
    least: Float64  # the least M_t - U
    most: Float64  # the largest
    floor: Float64  # the least M_t, whatever U is
    ceiling: Float64  # the largest
    limits: tuple[float, float]  # U is between these, whatever the draws say
    starts: Ints | None = None
    """Draws with which components begin, ascending; None: the first is known to be the only one."""
    alive: int = 0
    """Components that began before this draw are given up: not all of their draws are known any more."""


def interval(evidence: Evidence, confidence: float) -> tuple[float, float]:
    """The least and the largest U that are not rejected.

    With the probability ``confidence`` all intervals, for as many looks as one likes, have U.

    >>> ones = np.ones(60)
    >>> z = np.tile([0.0, 1.0], 30)  # 60 fair draws from a pool without end
    >>> none = 0 * ones
    >>> evidence = Evidence(z, z, none, ones, ones / 4, none, none, none, ones, (0.0, 1.0))
    >>> low, high = interval(evidence, 0.95)
    >>> round(low, 2), round(high, 2)
    (0.3, 0.7)
    """
    limit = np.log(2 / (1 - confidence))
    low, high = evidence.limits
    below = _largest(lambda u: _most(too_large(evidence, u)) < limit, low, high)
    above = _largest(lambda u: _most(too_small(evidence, -u)) < limit, -high, -low)
    ends = min(-above, high), max(below, low)
    return min(ends), max(ends)  # they cross only where all is rejected


def rejected(evidence: Evidence, u: float, confidence: float) -> bool:
    """Whether U = u is rejected."""
    limit = np.log(2 / (1 - confidence))
    return bool(max(_most(too_large(evidence, u)), _most(too_small(evidence, u))) >= limit)


def _largest(stands: Callable[[float], bool], low: float, high: float) -> float:
    """An upper bound, closer than 2^-STEPS, of the values that stand. All that stand are below."""
    if stands(high):
        return high
    for _ in range(STEPS):
        middle = (low + high) / 2
        if stands(middle):
            low = middle
        else:
            high = middle
    return high


def _most(wealth: Float64) -> float:
    return float(wealth.max(initial=0.0))


def too_large(evidence: Evidence, u: float) -> Float64:
    """The log wealth of bets that U = u is too large, after each draw; (T,)."""
    mean = np.clip(u + evidence.least, evidence.floor, evidence.ceiling)
    room = np.maximum(evidence.top - mean, 1e-12)
    return _log_wealth(mean - evidence.high, room, evidence)


def too_small(evidence: Evidence, u: float) -> Float64:
    """The log wealth of bets that U = u is too small, after each draw; (T,)."""
    mean = np.clip(u + evidence.most, evidence.floor, evidence.ceiling)
    room = np.maximum(mean - evidence.bottom, 1e-12)
    return _log_wealth(evidence.low - mean, room, evidence)


def _log_wealth(gain: Float64, room: Float64, evidence: Evidence) -> Float64:
    """Where a bet of 1 wins ``gain`` (T,), and at worst loses ``room``."""
    bets = np.minimum(THETA[:, None] / evidence.spread, CAP / room)  # (J, T)
    grown = np.cumsum(np.log1p(bets * gain), axis=1)
    wealth = grown
    if evidence.starts is not None:
        begun = np.full(grown.shape, -np.inf)
        before = np.concatenate([np.zeros((len(THETA), 1)), grown[:, :-1]], axis=1)
        shares = np.log(weights(len(evidence.starts)))
        use = (evidence.starts >= evidence.alive) & (evidence.starts < grown.shape[1])
        starts = evidence.starts[use]
        begun[:, starts] = shares[use] - before[:, starts]
        with np.errstate(invalid="ignore"):  # -inf before the first start
            wealth = np.logaddexp.accumulate(begun, axis=1) + grown
    return np.asarray(np.logaddexp.reduce(wealth, axis=0) - np.log(len(THETA)))


def weights(count: int) -> Float64:
    """The share of the first wealth that each of ``count`` starts has; however many come, below 1.

    >>> weights(4)
    array([0.5   , 0.25  , 0.125 , 0.0625])
    """
    return np.asarray(0.5 ** (1.0 + np.arange(count)))
