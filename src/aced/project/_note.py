"""What a draw notes about a row: why it was drawn."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def guess(note: Mapping[str, Any]) -> tuple[int, float] | None:
    """The class that the classifier named when the row was drawn, as a code, and its probability.

    Notes of before have the probability of class 1 alone.

    >>> guess({"says": 3, "sure": 0.4}), guess({"p": 0.25}), guess({"lam": 2.0})
    ((3, 0.4), (0, 0.75), None)
    """
    if "says" in note:
        return int(note["says"]), float(note["sure"])
    if "p" not in note:
        return None
    one = float(note["p"])
    return (1, one) if one > 0.5 else (0, 1 - one)
