"""What was saved against random labelling: as a round records it, and as people read it.

A round records what random labelling would have taken for the accuracy of its classifier, with a band
(:mod:`aced.learner`): an estimate, and no certificate. Labels become hours by the median time of recent
labels, and money by what the project, or the reader, says that a label costs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from aced.ledger import State

if TYPE_CHECKING:
    from aced.learner import OnCurve, Savings

DIGITS = 5


def recorded(found: Savings | None) -> dict[str, Any] | None:
    """The estimate as the body of a round holds it."""
    if found is None:
        return None
    return {
        "labels": found.labels,
        "accuracy": round(found.accuracy, DIGITS),
        "random": found.random,
        "low": found.low,
        "high": found.high,
        "ours": [_point(one) for one in found.ours],
        "by_random": [_point(one) for one in found.by_random],
    }


def saved(state: State, pace: float | None, cost_per_label: float | None) -> dict[str, Any] | None:
    """What was saved when it was last estimated; None before. A label takes ``pace`` seconds."""
    found = next((one["savings"] for one in reversed(state.rounds) if one.get("savings")), None)
    if found is None:
        return None
    cost = state.settings.cost_per_label if cost_per_label is None else cost_per_label
    ends = {end: found[end] - found["labels"] for end in ("random", "low", "high")}
    return {
        **found,
        "ours": [_shown(point) for point in found["ours"]],
        "by_random": [_shown(point) for point in found["by_random"]],
        "saved": {
            "labels": _three(ends, 1, 0),
            "hours": None if pace is None else _three(ends, pace / 3600, 4),
            "money": None if cost is None else _three(ends, cost, 2),
        },
    }


def _point(one: OnCurve) -> list[float]:
    return [one.labels, *(round(share, DIGITS) for share in (one.accuracy, one.low, one.high))]


def _shown(point: list[float]) -> dict[str, float]:
    return dict(zip(("labels", "estimate", "low", "high"), point, strict=True))


def _three(ends: dict[str, int], each: float, digits: int) -> dict[str, float]:
    """The middle and the ends; below zero something was lost."""
    names = (("middle", "random"), ("low", "low"), ("high", "high"))
    return {name: round(ends[end] * each, digits) for name, end in names}
