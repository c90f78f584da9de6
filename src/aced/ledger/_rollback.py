"""Bring a state back to what it was before a transaction that failed, at the cost of what it touched."""

from __future__ import annotations

from collections import deque
from copy import copy
from typing import Any

from aced.ledger._events import Event
from aced.ledger._state import State

BY_ROW = ("draws", "checks", "wanted", "votes", "passed", "spared")
BY_EVENT = ("given", "before", "returned")
IN_ORDER = ("waiting", "leases", "reserve")
"""Short tables whose order counts: they are kept whole."""
SINGLE = ("seq", "at", "sealed", "classes", "changes", "classes_seq")
ABSENT: Any = object()


class Checkpoint:
    """What a state was. ``note`` each event before it is applied; ``restore`` undoes all of them."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._single = {name: getattr(state, name) for name in SINGLE}
        self._whole = {name: dict(getattr(state, name)) for name in IN_ORDER}
        self._lengths = len(state.rounds), len(state.losses)
        self._parts: dict[tuple[str, Any], Any] = {}
        self._undone: list[int] = []
        self.events = 0
        self.link = ""  # the hash of the last event before

    def note(self, event: Event) -> None:
        """Keep what the event may change."""
        state, body = self._state, event.body
        self.events += 1
        rows = set() if event.row is None else {event.row}
        if event.kind in ("draw", "spare"):
            rows.update(body["rows"], body.get("checks", ()))
        if event.kind == "undo" and body["of"] not in state.undone:
            self._undone.append(body["of"])
        for row in rows:
            for name in BY_ROW:
                self._keep(name, row)
        for row in state.leases if event.kind == "revoked" else rows:
            self._keep("leases", row)
        for name in BY_EVENT:
            self._keep(name, event.seq)
        for who in {event.who, body.get("name", event.who), None}:
            for name in ("people", "recent", "seen"):
                self._keep(name, who)

    def _keep(self, name: str, key: Any) -> None:
        if (name, key) not in self._parts:
            found = getattr(self._state, name).get(key, ABSENT)
            self._parts[name, key] = _copied(found)

    def restore(self) -> None:
        state = self._state
        for name, value in (self._single | self._whole).items():
            setattr(state, name, value)
        for (name, key), value in self._parts.items():
            table = getattr(state, name)
            if value is ABSENT:
                table.pop(key, None)
            else:
                table[key] = value
        del state.rounds[self._lengths[0] :], state.losses[self._lengths[1] :]
        state.undone.difference_update(self._undone)


def _copied(value: Any) -> Any:
    if isinstance(value, dict | deque):
        return value.copy()
    if hasattr(value, "done"):  # a person
        value = copy(value)
        value.done = list(value.done)
    return value
