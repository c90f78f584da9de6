"""What a project was made with: written once, in the ledger's first event."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal


@dataclass(frozen=True)
class Settings:
    """Validated when a project is made (:mod:`aced.project._settings`), never changed after."""

    classes: tuple[str, ...]
    kind: Literal["text", "image", "row"]  # of the items
    items: int
    rows: int  # of the pool: distinct items
    pool: str  # its fingerprint
    root: str | None  # the folder that paths of images start from
    strategy: str
    seed: int
    batch: int  # labels to a round
    check: float  # share of requests drawn at random, to estimate accuracy
    overlap: float  # share of second opinions
    lease: float  # seconds for which an item is kept for someone
    l2: float  # penalty of the classifier
    combine: str  # how several opinions become one label

    @classmethod
    def of(cls, body: Mapping[str, Any]) -> Settings:
        """From the body of the event."""
        return cls(**{**body, "classes": tuple(body["classes"])})

    def body(self) -> dict[str, Any]:
        """What the event holds."""
        return {**asdict(self), "classes": list(self.classes)}
