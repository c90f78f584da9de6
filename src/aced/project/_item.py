"""An item as a person sees it, and the answer that comes back about it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from aced._errors import InvalidInput
from aced.ledger import Event

USED = "it was used for another answer; use a new one"


@dataclass(frozen=True)
class Item:
    """What a person sees. ``content`` is a text, a path in the folder of images, or a row of values.

    ``shown`` are values that are seen beside it, and that nothing is learned from.
    """

    row: int
    id: str
    kind: str
    content: Any
    shown: Mapping[str, Any] | None = None


@dataclass(frozen=True)
class Undone:
    """What an undo took back: a label, skip, unsure or "returned", of this item."""

    kind: str
    item: Item


class KeyTaken(InvalidInput):
    """A key that was used before came with another answer."""


def check_same(event: Event, who: str, row: int, kind: str, code: int | None) -> None:
    """Refuse an answer whose key an earlier event has, unless it is the same answer, sent again."""
    same = (event.who, event.row, event.kind, event.body.get("label")) == (who, row, kind, code)
    if not same:
        raise KeyTaken("key", USED)
