"""The settings a project was made with, written once in the ledger's first event."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal


@dataclass(frozen=True)
class Settings:
    """A project's settings: checked when it is made (:mod:`aced.project._settings`), never changed."""

    classes: tuple[str, ...]
    kind: Literal["text", "image", "row"]  # of the items
    items: int
    rows: int  # of the pool: distinct items
    pool: str  # its fingerprint
    root: str | None  # the folder that paths of images start from
    strategy: str
    seed: int
    batch: int  # labels that one design is made for
    check: float  # share of uniform draws, from which accuracy follows
    overlap: float  # share of second opinions
    lease: float  # seconds for which an item is kept for someone
    l2: float | None  # penalty of the classifier; None: the labels choose it
    combine: str  # how several opinions become one label
    files: Mapping[str, str] | None = None  # SHA-256 of items and features, by file name
    representation: str | None = None  # auto, linear or rbf; None: made before there was a choice
    audit: Mapping[str, float] | None = None
    """Of a project that audits predictions: ``explore``, the share of uniform draws, and ``within``, how
    far the interval may reach from its middle when it is enough."""
    stop: Mapping[str, Any] | None = None
    """When labelling may stop: ``of`` (accuracy or recall), ``wanted``, ``confidence`` and, for recall,
    the ``code`` of the class."""
    cost_per_label: float | None = None  # what a label costs, in the money of the project
    reading: Mapping[str, Any] | None = None
    """How the table of items was read, so that new items are read alike: ``kind``, ``columns``, whether
    a person ``named`` them and, where there are such, ``show``, ``exclude``, ``label_column`` and
    ``id_column``."""

    @classmethod
    def of(cls, body: Mapping[str, Any]) -> Settings:
        """The settings in the body of the first event."""
        return cls(**{**body, "classes": tuple(body["classes"])})

    def body(self) -> dict[str, Any]:
        """The settings as the body of the first event."""
        body = {**asdict(self), "classes": list(self.classes)}
        newer = ("files", "representation", "audit", "stop", "cost_per_label", "reading")
        # None of these is written: bodies of before stay what they were.
        return {k: v for k, v in body.items() if k not in newer or v is not None}
