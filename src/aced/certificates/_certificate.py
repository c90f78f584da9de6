"""Certificates: accuracy, recall, precision and counts on the pool, valid at every look."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from aced.certificates import _claims
from aced.certificates._betting import Evidence, interval, rejected
from aced.certificates._claims import BOLD, Claim, Known, evidence_of
from aced.certificates._drawn import Drawn

GUESS = 2.0
"""The errors for which it counts that classifiers expect their errors rightly, beside those seen."""
RECENT = 2.0
"""A draw counts by this power of the share of the present labels that its classifier had."""
FEWEST = 10
"""With more draws than this, fixed predictions are judged by the draws alone."""
STEPS = 20
"""Halvings that find an end of an interval of recall."""
MEASURES = ("accuracy", "recall", "precision")


@dataclass(frozen=True)
class Certificate:
    """An interval for a number that describes the whole pool.

    With the probability ``confidence``, all intervals for the same number that one run ever shows hold.
    """

    of: str  # what the number is
    estimate: float
    low: float
    high: float
    confidence: float
    labels: int  # rows with a label
    count: Certificate | None = None  # of recall and precision: the rows of the class in the pool

    def __str__(self) -> str:
        sure = f"{100 * self.confidence:g} % confidence"
        return f"{self.of} {self.estimate:.3f}, from {self.low:.3f} to {self.high:.3f} with {sure}"


def measure(drawn: Drawn, now: Known, confidence: float, of: str, code: int) -> Certificate:
    """The certificate of one of :data:`MEASURES`; ``code`` is the class that is meant, if one is."""
    if of == "accuracy":
        return accuracy(drawn, now, confidence)
    return (recall if of == "recall" else precision)(drawn, now, confidence, code)


def accuracy(drawn: Drawn, now: Known, confidence: float) -> Certificate:
    """The share of rows on which the present classifier is right."""
    own = float(now.doubt[~now.labelled].sum(dtype=float))
    wrong, low, high = _total(_claims.errors(), drawn, now, confidence, own)
    return Certificate("accuracy", 1 - wrong, 1 - high, 1 - low, confidence, now.labels)


def count(drawn: Drawn, now: Known, confidence: float, code: int) -> Certificate:
    """How many rows of the pool are of the class."""
    rows, low, high = (
        share * drawn.n for share in _total(_claims.members(code), drawn, now, confidence, None)
    )
    return Certificate("count", rows, low, high, confidence, now.labels)


def precision(drawn: Drawn, now: Known, confidence: float, code: int) -> Certificate:
    """Of the rows that the present classifier says are of the class, the share that is."""
    said = int((now.said == code).sum())
    rows, right, low, high = count(drawn, now, confidence, code), 0.0, 0.0, 1.0
    if said:
        wrong = _total(_claims.false_alarms(code), drawn, now, confidence, None)
        right, high, low = (min(max(1 - share * drawn.n / said, 0.0), 1.0) for share in wrong)
    return Certificate("precision", right, low, high, confidence, now.labels, rows)


def recall(drawn: Drawn, now: Known, confidence: float, code: int) -> Certificate:
    """Of the rows of the class, the share that the present classifier finds."""
    rows = count(drawn, now, confidence, code)

    def stands(share: float) -> bool:
        claim = _claims.shortfall(code, share)
        evidence = evidence_of(claim, drawn, now)
        rest = -claim.known(now) / drawn.n  # U, if this were the recall
        low, high = evidence.limits
        return low - 1e-12 <= rest <= high + 1e-12 and not rejected(evidence, rest, confidence)

    estimate = float(_recall(drawn, now, code))
    middle = next((s for s in (estimate, *np.linspace(0, 1, 41)) if stands(float(s))), None)
    if middle is None:
        return Certificate("recall", estimate, 0.0, 1.0, confidence, now.labels, rows)
    ends = [_end(stands, float(middle), end) for end in (0.0, 1.0)]
    inside = min(max(estimate, ends[0]), ends[1])
    return Certificate("recall", inside, ends[0], ends[1], confidence, now.labels, rows)


def _end(stands: Callable[[float], bool], inside: float, end: float) -> float:
    """The last value towards ``end`` that stands, from one ``inside`` that does; rounded outwards."""
    if stands(end):
        return end
    for _ in range(STEPS):
        middle = (inside + end) / 2
        if stands(middle):
            inside = middle
        else:
            end = middle
    return end


def _recall(drawn: Drawn, now: Known, code: int) -> float:
    """Members that are found over all members, each estimated."""
    missed = Claim(
        lambda said, codes: (codes == code) & (said != code),
        lambda one, two: (one == code) != (two == code),
        0.0,
        1.0,
    )
    hit = Claim(lambda said, codes: (codes == code) & (said == code), missed.differs, 0.0, 1.0)
    found = []
    for claim in (hit, missed):
        evidence = evidence_of(claim, drawn, now)
        rest = min(max(_estimate(evidence), 0.0), evidence.limits[1])
        found.append(claim.known(now) / drawn.n + rest)
    return found[0] / sum(found) if sum(found) else 0.0


def _total(
    claim: Claim, drawn: Drawn, now: Known, confidence: float, own: float | None
) -> tuple[float, float, float]:
    """Estimate, least and largest value of a total, as a share of the pool; ``own`` is what the
    classifier expects of the rows without a label."""
    evidence = evidence_of(claim, drawn, now)
    known = claim.known(now) / drawn.n
    low, high = interval(evidence, confidence)
    plain = own is None or (drawn.fixed and len(drawn) > FEWEST)
    found = _estimate(evidence) if plain or own is None else own / drawn.n * _fared(evidence, drawn)
    return float(known + min(max(found, low), high)), float(known + low), float(known + high)


def _fared(evidence: Evidence, drawn: Drawn) -> float:
    """The errors that classifiers made over those that they expected of themselves, by the draws.

    Each draw counts for as many errors as it would have to expect if errors came one by one with its
    variance: a draw that stands for many rows says less than it weighs. Young classifiers know their
    errors badly, so that late draws count for more.
    """
    expected = drawn.doubts / drawn.n
    variance = BOLD * evidence.spread
    worth = np.where(np.isfinite(evidence.top), expected / variance, 0.0)
    made_with = {number: labels for number, (labels, _) in drawn.classifiers.items()}
    labels = np.array([made_with.get(number, 0) for number in drawn.frozen.tolist()], float)
    worth *= (labels / max(labels.max(initial=0.0), 1.0)) ** RECENT
    made = float((worth * (evidence.low + evidence.high) / 2).sum())
    return (GUESS + max(made, 0.0)) / (GUESS + float((worth * expected).sum()))


def _estimate(evidence: Evidence) -> float:
    """U by the draws, each weighted by how much it can say."""
    if not len(evidence.low):
        return 0.0
    z, offset = (evidence.low + evidence.high) / 2, (evidence.least + evidence.most) / 2
    slack = evidence.most - evidence.least
    worth = np.where(np.isfinite(evidence.top), 1 / (BOLD * evidence.spread + len(z) * slack**2), 0.0)
    found = (worth * np.where(worth > 0, z - offset, 0.0)).sum()
    return float(found / max(worth.sum(), 1e-12))
