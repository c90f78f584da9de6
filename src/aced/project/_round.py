"""A round of a project: the brief that it depends on, and the round planned from it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from aced._types import Float64, Ints

if TYPE_CHECKING:
    from aced.learner import Memory
    from aced.pool import Pool
    from aced.project._audit import Told

PLANNER = 8
"""The version of the rules by which rounds are planned. Rounds of other versions stand as recorded.

Version 5 plans in the representation that the labels choose, with the one model of it. Version 6 records
probabilities that do not depend on the order in which strata have their turns. Version 7 has no check
rows: the share of uniform draws is part of every draw, and accuracy follows from all of them. Version
8 has a share of draws by what rows tell in blend.
"""
CERTIFIED = 7
"""Rounds since this version have certificates; those before estimated accuracy from check rows."""


@dataclass(frozen=True)
class Brief:
    """All that a round depends on beside the features."""

    round: int
    seed: int
    size: int  # requests wanted
    batch: int  # labels that one design is made for
    strategy: str
    l2: float | None
    check: float  # share of uniform draws
    overlap: float  # share of second opinions
    rows: Ints  # rows with a label
    codes: Ints  # their labels
    eta: Float64  # (rows, K), their probabilities, from the votes
    single: Ints  # rows that may get one more opinion
    drawn: Ints  # every row drawn so far
    based_on: int  # the number of the last event taken into account
    classes: Sequence[int] = (0, 1)  # codes of the classes that people may choose, K of them
    memory: Memory | None = None  # what the round before left behind
    representation: str = "linear"  # auto, linear or rbf
    proposals: tuple[Ints, Float64] | None = None  # proposed codes, and how sure they are
    saved_at: int = 0  # the labels at which it was last estimated what random labelling takes
    stop: Mapping[str, Any] | None = None  # when labelling may stop
    audit: Told | None = None  # of a project that audits predictions: its draws so far


@dataclass(frozen=True)
class PlannedRound:
    """The rows to ask for, in order, and what is shown about them."""

    rows: list[int]
    probabilities: list[float]
    notes: list[dict[str, Any]]
    accuracy: dict[str, float] | None
    confusion: list[list[int]] = field(default_factory=list)
    """A class by people, one by the classifier, and how many rows of the pool there are: estimated."""
    by_class: list[dict[str, Any]] = field(default_factory=list)
    """Of each class its ``code``, and certificates of ``recall`` and ``precision``."""
    stop: dict[str, Any] | None = None
    """Whether labelling may stop: ``reached``, the ``claim``, and ``ahead``, the labels it may take."""
    savings: dict[str, Any] | None = None
    """What random labelling would have taken (:mod:`aced.project._savings`), if it was estimated."""
    design: dict[str, Any] = field(default_factory=dict)
    seconds: float = 0.0
    memory: Memory | None = None  # what the round after depends on
    reserve: dict[str, list[Any]] = field(default_factory=lambda: {"rows": [], "probabilities": []})

    def body(self, brief: Brief) -> dict[str, Any]:
        """The body of the event that records this round, planned from ``brief``."""
        return {
            "planner": PLANNER,
            "round": brief.round,
            "based_on": brief.based_on,
            "labels": len(brief.rows),
            "classes": list(brief.classes),
            "rows": self.rows,
            "probabilities": self.probabilities,
            "notes": self.notes,
            "accuracy": self.accuracy,
            "confusion": self.confusion,
            **({"by_class": self.by_class} if self.by_class else {}),
            **({"stop": self.stop} if self.stop else {}),
            **({"savings": self.savings} if self.savings else {}),
            "design": self.design,
            "seconds": round(self.seconds, 3),
            "reserve": self.reserve,
        }


def plan_round(pool: Pool, brief: Brief, threads: int | None = None) -> PlannedRound:
    """Plan the next requests: a function of the brief and the features alone."""
    if brief.audit is not None:
        from aced.project._audit import plan_audit

        return plan_audit(pool.rows(), brief, brief.audit)
    from aced.project._plan import plan  # its imports take long, and a server may not need them

    return plan(pool, brief, threads)


def train_classifier(pool: Pool, brief: Brief) -> Any:
    """The classifier of the learner that would plan the next round; the brief has labels."""
    from aced.project._plan import train

    return train(pool, brief)


def wilson(right: int, of: int, z: float = 1.959964) -> tuple[float, float]:
    """Wilson's interval for a share.

    >>> [round(end, 3) for end in wilson(45, 50)]
    [0.786, 0.957]
    >>> wilson(25, 25)[1], wilson(0, 25)[0]
    (1.0, 0.0)
    """
    share = right / of
    middle = (share + z * z / (2 * of)) / (1 + z * z / of)
    half = z / (1 + z * z / of) * np.sqrt(share * (1 - share) / of + z * z / (4 * of * of))
    low, high = max(0.0, middle - half), min(1.0, middle + half)
    return float(min(low, share)), float(max(high, share))  # rounding must not leave the share out
