"""How far people agree when they vote on the same items of K classes.

The notation is that of ``_estimates``: n_ic votes on item i say c, m_i = Σ_c n_ic.
Krippendorff (2011), Computing Krippendorff's alpha-reliability; Cohen (1960), A coefficient of
agreement for nominal scales.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from aced._errors import InvalidInput
from aced._types import Array, Float64, Ints
from aced.crowd._estimates import Votes

CELLS = 2048  # items times classes whose votes are counted at once


@dataclass(frozen=True)
class Agreement:
    """How far votes on the same item agree; NaN where there is nothing to compare.

    ``share`` and ``pairs`` are shares of pairs of votes that agree. The diagonal of ``pairs`` compares
    a person's own repeated votes; that of ``counts`` counts the items they voted on more than once.
    """

    share: float
    alpha: float
    pairs: Float64  # (people, people)
    counts: Ints  # (people, people), items both voted on


def agreement(votes: Votes) -> Agreement:
    """The share of agreeing votes, in all and by pairs of people, and Krippendorff's α (nominal data).

    α = 1 - D_o / D_e over the items with m_i ≥ 2, N votes in all, N_c of which say c:
    D_o = Σ_i (m_i² - Σ_c n_ic²) / (m_i - 1) / N,   D_e = (N² - Σ_c N_c²) / (N (N - 1)).

    α is NaN if all votes name one class, for then votes by chance agree as well.
    """
    tally = votes.tally
    tally = tally[tally.sum(axis=1) > 1].astype(float)
    m = tally.sum(axis=1)
    mixed = np.square(m) - np.square(tally).sum(axis=1)  # ordered pairs of votes that differ
    total, by_code = m.sum(), tally.sum(axis=0)
    raw = 1 - _ratio(mixed.sum(), (m * (m - 1)).sum())
    apart = total**2 - np.square(by_code).sum()
    alpha = 1 - _ratio((mixed / (m - 1)).sum() * (total - 1), apart)

    agreeing, compared = np.zeros((2, votes.people, votes.people))
    counts = np.zeros((votes.people, votes.people), dtype=np.int64)
    several = np.flatnonzero(votes.tally.sum(axis=1)[votes.item] > 1)  # the rest adds nothing below
    voted, place = np.unique(votes.item[several], return_inverse=True)
    order, block = np.argsort(place, kind="stable"), max(1, CELLS // votes.classes)
    ends = np.searchsorted(place[order], np.arange(0, len(voted) + block, block))
    for low, high in pairwise(ends.tolist()):
        part = order[low:high]
        says = _spread(votes, several[part], place[part] % block, block)
        both = says.sum(axis=0)  # (block, people)
        agreeing += (says.transpose(0, 2, 1) @ says).sum(axis=0) - np.diag(both.sum(axis=0))
        compared += both.T @ both - np.diag(both.sum(axis=0))
        shared = (both > 0).astype(float)
        counts += (shared.T @ shared - np.diag((both == 1).sum(axis=0))).astype(np.int64)
    return Agreement(float(raw), float(alpha), _ratio(agreeing, compared), counts)


def cohen_kappa(votes: Votes, a: int, b: int) -> float:
    """Cohen's κ = (p_o - p_e) / (1 - p_e) of people a and b, over their votes on the same items.

    p_e is the agreement of two people who vote at random, each with the shares of the classes
    seen here. κ is NaN if they share no item, or if both name the same class throughout.
    """
    if not (0 <= a < votes.people and 0 <= b < votes.people) or a == b:
        raise InvalidInput(
            "a and b", f"must be two people between 0 and {votes.people - 1}, got {a} and {b}"
        )
    shape = votes.items, votes.classes
    cell = votes.classes * votes.item + votes.code
    first, second = (np.bincount(cell[votes.who == k], minlength=np.prod(shape)) for k in (a, b))
    # entry (c, d): pairs in which a says c and b says d
    table = (first.reshape(shape).T @ second.reshape(shape)).astype(float)
    observed = _ratio(np.trace(table), table.sum())
    by_chance = _ratio(table.sum(axis=1) @ table.sum(axis=0), table.sum() ** 2)
    return float(_ratio(observed - by_chance, 1 - by_chance))


def disputes(votes: Votes) -> Ints:
    """Items whose votes differ. The most evenly split come first; ties are in order of position."""
    tally = votes.tally
    total = tally.sum(axis=1)
    others = total - tally.max(axis=1)  # votes against the class that most name
    items = np.flatnonzero(others)
    split = others[items] / total[items]
    return items[np.argsort(-split, kind="stable")]


def _spread(votes: Votes, part: Ints, row: Ints, block: int) -> Float64:
    """How often each person says c on each item of a block, shape (K, block, people)."""
    shape = votes.classes, block, votes.people
    cell = (votes.code[part] * block + row) * votes.people + votes.who[part]
    return np.bincount(cell, minlength=np.prod(shape)).reshape(shape).astype(float)


def _ratio(above: Array, below: Array) -> Float64:
    """above / below, NaN where below is 0."""
    above, below = np.asarray(above, dtype=float), np.asarray(below, dtype=float)
    return np.asarray(np.where(below != 0, above / np.where(below != 0, below, 1.0), np.nan))
