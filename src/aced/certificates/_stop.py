"""Whether labelling may stop: a certificate held against what was wanted."""

from __future__ import annotations

import math
from dataclasses import dataclass

from aced.certificates import _claims
from aced.certificates._certificate import Certificate, measure
from aced.certificates._claims import Known, evidence_of
from aced.certificates._drawn import Drawn
from aced.certificates._outlook import Outlook, outlook


@dataclass(frozen=True)
class Stop:
    """What can be claimed, and whether it is what was wanted. It is true if it is."""

    reached: bool
    claim: str
    certificate: Certificate
    outlook: Outlook | None = None
    """The labels that may still be needed; None if that cannot be foreseen."""

    def __bool__(self) -> bool:
        return self.reached

    def __str__(self) -> str:
        if self.reached:
            return f"You can stop: {self.claim}."
        return f"Not yet: {self.claim}; {said(self.outlook)}."


def stop(
    drawn: Drawn, now: Known, wanted: float, confidence: float, of: str, code: int, label: str
) -> Stop:
    """Whether accuracy, recall or precision is at least ``wanted``; ``label`` names the ``code``."""
    found = measure(drawn, now, confidence, of, code)
    ahead = None
    if of == "accuracy" and found.low < wanted:
        claim_of = _claims.errors()
        rest = 1 - wanted - claim_of.known(now) / drawn.n
        ahead = outlook(evidence_of(claim_of, drawn, now), rest, confidence) if rest > 0 else None
    return Stop(found.low >= wanted, claimed(found, label), found, ahead)


def stop_by_regret(found: Certificate, most: float) -> Stop:
    """Whether the regret is at most ``most``."""
    return Stop(found.high <= most, claimed(found, ""), found)


def claimed(found: Certificate, label: str) -> str:
    """What the lower end says, in words; ``label`` is the class that recall and precision are of."""
    sure = f"with {100 * found.confidence:g} % confidence"
    if found.of == "regret":
        high = math.ceil(found.high * 1000) / 10
        return f"no classifier of the class is right on {high} % more of the pool, {sure}"
    low = int(found.low * 1000) / 10  # never rounded up
    what = {
        "accuracy": "of the pool is classified rightly",
        "recall": f"of the rows of {label} are found",
        "precision": f"of the rows that are called {label} are of it",
    }[found.of]
    return f"at least {low} % {what}, {sure}"


def said(ahead: Outlook | None) -> str:
    """An outlook in words.

    >>> said(Outlook(40, 90, 210)), said(None)
    ('about 90 more labels may do (40 to 210)', 'how many more labels it takes cannot be foreseen')
    """
    if ahead is None:
        return "how many more labels it takes cannot be foreseen"
    most = "or never" if ahead.most is None else f"to {ahead.most}"
    return f"about {ahead.middle} more labels may do ({ahead.least} {most})"
