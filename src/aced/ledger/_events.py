"""One event: what happened, to which row, by whom, when; chained to the one before it."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import Any

GENESIS = "0" * 64


@dataclass(frozen=True)
class Event:
    """One entry of the ledger. ``seq`` counts from 1; ``at``, in seconds since 1970, never goes back.

    ``row`` is the row of the pool that the event is about. Events with the same ``key`` are one event,
    sent again; only the first is written.
    """

    seq: int
    at: float
    kind: str
    who: str
    row: int | None
    body: dict[str, Any]
    key: str | None = None

    def link(self, before: str) -> str:
        """The hash that the next event is chained to."""
        content = [self.seq, self.at, self.kind, self.who, self.row, dump(self.body), self.key]
        return hashlib.sha256(f"{before}{dump(content)}".encode()).hexdigest()


def dump(value: Any) -> str:
    """JSON in one canonical form. Floats are written as Python does it, and read back to the bit."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
