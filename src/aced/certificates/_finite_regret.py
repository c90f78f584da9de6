"""The same bound for finitely many hypotheses: exact, and for all looks at once.

The gain of h over the present classifier ĥ is a total over the pool, with the mark [ĥ ≠ y] - [h ≠ y] of
a row. With H hypotheses each has an interval of confidence 1 - α / H (:mod:`._claims`), so that all hold
together, and the regret is at most the largest upper end.
"""

from __future__ import annotations

import copy
from dataclasses import replace

import numpy as np

from aced._types import Array
from aced.certificates._betting import interval
from aced.certificates._certificate import Certificate
from aced.certificates._claims import Claim, Known, evidence_of
from aced.certificates._drawn import Drawn
from aced.certificates._regret import regret_from


def exact_regret(drawn: Drawn, now: Known, hypotheses: Array, confidence: float) -> Certificate:
    """The bound for hypotheses given by their codes on the pool, (H, n)."""
    count = int(max(hypotheses.max(), now.codes.max(), now.said.max())) + 1
    each = 1 - (1 - confidence) / len(hypotheses)
    ends = [_gain(drawn, now, one.astype(np.int64), count, each) for one in hypotheses]
    estimate, bound = np.max(ends, axis=0)
    return regret_from(float(estimate), float(bound), confidence, now.labels)


def _gain(drawn: Drawn, now: Known, other: Array, count: int, confidence: float) -> tuple[float, float]:
    """Estimate and upper end of the gain of one hypothesis. What both predict of a row is one code."""

    def both(said: Array) -> Array:
        return np.asarray(said.astype(np.int64) * count + other)

    def mark(said: Array, codes: Array) -> Array:
        return np.asarray((said // count != codes).astype(float) - (said % count != codes))

    pairs = copy.copy(drawn)
    pairs.classifiers = {k: (labels, both(said)) for k, (labels, said) in drawn.classifiers.items()}
    claim = Claim(mark, np.not_equal, -1.0, 1.0)
    known = replace(now, said=both(now.said))
    evidence = evidence_of(claim, pairs, known)
    low, high = interval(evidence, confidence)
    sure = claim.known(known) / drawn.n
    return sure + (low + high) / 2, sure + high
