"""What the draws of a learner say of a total over the pool: the accuracy of its classifier, say.

The classifier that is held now was trained on the labels of the draws. The bets are about the classifier
that was frozen before each draw. Let h be the present one and h_t the one frozen for draw t, a_i(h) the
mark of row i, between ``least`` and ``most``, and U = Σ a_i(h) / N over the rows without a label. Then

    M_t = known_t + U + (Σ_A (a_i(h_t) - a_i(h)) - Σ_B a_i(h)) / N,

where known_t is Σ a_i(h_t) / N over the rows of R_t that have a label now, A are the other rows of R_t,
and B the rows without a label that are not in R_t. The first sum is at most the number of rows without a
label on which h_t and h differ, the second has a term for each row that was drawn or closed before and
has no label. Both are counted, and need no further label and no assumption on
the data: all draws count, and the interval becomes narrow as the classifier settles.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from aced._types import Array, Bools, Float64
from aced.certificates._betting import Evidence
from aced.certificates._drawn import NEVER, Drawn

BOLD = 4.0
"""Bets that are this many times larger than V_t asks for make narrower intervals."""


@dataclass(frozen=True)
class Known:
    """What is known of the pool now."""

    labelled: Bools  # (n,)
    codes: Array  # (n,): labels, where there are any
    said: Array  # (n,): what the present classifier predicts
    doubt: Array  # (n,): how likely it thinks itself wrong

    @property
    def labels(self) -> int:
        """How many rows have a label."""
        return int(self.labelled.sum())


@dataclass(frozen=True)
class Claim:
    """A total over the pool, by the mark of a row."""

    mark: Callable[[Array, Array], Array]
    """Marks of rows, from what a classifier says of them and from their labels."""
    differs: Callable[[Array, Array], Array]
    """Whether two classifiers that say these may give a row different marks."""
    least: float
    most: float
    doubted: bool = False
    """Whether a classifier's doubt is a prediction of the mark."""
    classified: bool = True
    """Whether marks depend on the classifier."""

    def known(self, now: Known) -> float:
        """The sum of the marks of rows with a label."""
        rows = now.labelled
        return float(self.mark(now.said[rows], now.codes[rows]).sum())


def errors() -> Claim:
    """The rows on which the classifier errs."""
    return Claim(lambda said, codes: said != codes, np.not_equal, 0.0, 1.0, doubted=True)


def false_alarms(code: int) -> Claim:
    """The rows that the classifier says are of the class, and are not."""
    return Claim(
        lambda said, codes: (said == code) & (codes != code),
        lambda one, two: (one == code) != (two == code),
        0.0,
        1.0,
    )


def members(code: int) -> Claim:
    """The rows of the class, whatever the classifier says."""
    return Claim(
        lambda said, codes: codes == code,
        lambda one, two: np.zeros(len(one), bool),
        0.0,
        1.0,
        classified=False,
    )


def shortfall(code: int, recall: float) -> Claim:
    """``recall`` for each row of the class, less 1 if it is found: the sum is 0 at the true recall."""
    return Claim(
        lambda said, codes: (codes == code) * (recall - (said == code)),
        lambda one, two: (one == code) != (two == code),
        recall - 1.0,
        recall,
    )


def evidence_of(claim: Claim, drawn: Drawn, now: Known) -> Evidence:
    """What the draws say of U for this claim."""
    n, count = drawn.n, len(drawn)
    usable = drawn.explore > 0
    if claim.classified:
        usable &= np.isin(drawn.frozen, list(drawn.classifiers))
    known, differing, marks = _by_classifier(claim, drawn, now)
    unlabelled = ~now.labelled
    away = np.sort(drawn.left[unlabelled & ~drawn.irregular & (drawn.left != NEVER)])
    out = np.searchsorted(away, np.arange(count), side="right")
    out = out + int((unlabelled & drawn.irregular).sum())
    astray = int((now.labelled & drawn.irregular).sum())  # may have been open or not
    guess, base = np.zeros(count), np.zeros(count)
    least, most = min(claim.least, 0.0), max(claim.most, 0.0)
    below, above = -least * drawn.reach, most * drawn.reach
    if claim.doubted:
        guess, base, below, above = drawn.doubt, drawn.doubts / n, drawn.below, drawn.above
    z = [base + (mark - guess) / (n * _positive(drawn.probabilities)) for mark in marks]
    given_up = np.flatnonzero((drawn.explore > 0) & (drawn.frozen >= 0) & ~usable)
    return Evidence(
        low=z[0],
        high=z[1],
        bottom=np.where(usable, base - below / n, -np.inf),
        top=np.where(usable, base + above / n, np.inf),
        spread=drawn.spread / BOLD,
        least=(known + least * astray - most * out - differing) / n,
        most=(known + most * astray - least * out + differing) / n,
        floor=(np.maximum(known, 0.0) + least * drawn.open) / n,
        ceiling=(np.minimum(known, 0.0) + most * drawn.open) / n,
        limits=(least * unlabelled.sum() / n, most * unlabelled.sum() / n),
        starts=drawn.starts if claim.classified and not drawn.fixed else None,
        alive=int(given_up[-1]) + 1 if len(given_up) else 0,
    )


def _by_classifier(
    claim: Claim, drawn: Drawn, now: Known
) -> tuple[Float64, Float64, tuple[Float64, Float64]]:
    """For every draw: Σ a_i(h_t) over the rows of R_t with a label; in how many rows without one marks
    may differ from the present ones; the least and the largest mark of the row that was drawn."""
    count = len(drawn)
    known, differing = np.zeros(count), np.full(count, float(drawn.n))
    low, high = np.full(count, claim.least), np.full(count, claim.most)
    order = np.flatnonzero(now.labelled & ~drawn.irregular)
    order = order[np.argsort(drawn.left[order], kind="stable")]
    ends, unlabelled = drawn.left[order], ~now.labelled
    frozen = drawn.frozen if claim.classified else np.full(count, -1)
    before = {number: said for number, (_, said) in drawn.classifiers.items()}
    for number, said in before.items() if claim.classified else [(-1, now.said)]:
        mine = np.flatnonzero(frozen == number)
        if not len(mine):
            continue
        marks = np.asarray(claim.mark(said[order], now.codes[order]), dtype=float)
        later = np.append(np.cumsum(marks[::-1])[::-1], 0.0)  # of rows that left later
        known[mine] = later[np.searchsorted(ends, mine, side="right")]
        differing[mine] = np.count_nonzero(claim.differs(said[unlabelled], now.said[unlabelled]))
        rows = drawn.rows[mine]
        has = now.labelled[rows]
        own = np.asarray(claim.mark(said[rows], now.codes[rows]), dtype=float)
        low[mine], high[mine] = np.where(has, own, claim.least), np.where(has, own, claim.most)
    return known, differing, (low, high)


def _positive(q: Float64) -> Float64:
    return np.where(q > 0, q, 1.0)
