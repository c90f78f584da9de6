"""A certificate as a round records it, and a page shows it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from aced.certificates import Certificate


def numbers(found: Certificate) -> dict[str, float]:
    """The estimate, both ends, and the labels that they come from."""
    ends = {"estimate": found.estimate, "low": found.low, "high": found.high}
    return {**ends, "checked": found.labels}
