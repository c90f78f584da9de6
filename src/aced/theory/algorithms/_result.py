"""What an algorithm returns."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Result:
    """The hypothesis chosen and what it cost.

    ``labels`` counts draws; ``distinct`` counts rows, which is what a person would label where labels
    are persistent. ``finished`` is False when the run ended early, as by a cap; then no guarantee holds.
    """

    chosen: int
    labels: int
    distinct: int
    rounds: int
    finished: bool = True
