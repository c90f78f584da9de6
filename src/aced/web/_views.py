"""What is shown of a project, as plain values for JSON."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from aced.project import Item, Project, guess, summary

FIRST = 1_000_000
"""Most characters of a text, or of a cell, that are shown."""
FRESH = 1.0
PATIENCE = 10
"""The lead's data is computed at most once in ``FRESH`` seconds, and for a tenth of the time at most."""


def item_view(item: Item, longest: int | None = None) -> dict[str, Any]:
    """An item; of a text, or of a cell, at most ``longest`` characters (default: ``FIRST``)."""
    image = item.kind == "image"
    return {
        "row": item.row,
        "id": item.id,
        "kind": item.kind,
        "content": None if image else _cut(item.content, longest or FIRST),
        "image": f"/api/image/{item.row}" if image else None,
        **({"shown": _cut(dict(item.shown), longest or FIRST)} if item.shown else {}),
    }


def _cut(content: Any, longest: int) -> Any:
    """A text, or the cells of a row, without what is too long for a page."""
    if isinstance(content, dict):
        return {name: _cut(cell, longest) for name, cell in content.items()}
    too_long = isinstance(content, str) and len(content) > longest
    return f"{content[:longest]}… ({len(content)} characters)" if too_long else content


def why_view(project: Project, row: int) -> dict[str, Any] | None:
    """Why a row was drawn; None if it was not drawn."""
    draw = project.state.draws.get(row)
    if draw is None:
        return None
    note, names = draw.note, project.names
    incumbent, guessed = note.get("incumbent"), guess(draw.note)
    return {
        "round": draw.round,
        "probability": draw.probability,
        "check": draw.check,
        **{name: note.get(name) for name in ("lam", "separates", "of", "spare")},
        "says": None if guessed is None else names[guessed[0]],
        "sure": None if guessed is None else guessed[1],
        "incumbent": None if incumbent is None else names[incumbent],
    }


class Reader:
    """A second copy of the project for slow requests, so that nobody who labels waits for them."""

    def __init__(self, project: Project) -> None:
        self._served = project
        self._copy: Project | None = None
        self._lock = threading.Lock()
        self._kept: dict[str, Any] = {}
        self._seq, self._until = -1, 0.0

    @contextmanager
    def reading(self) -> Iterator[Project]:
        with self._lock:
            if self._copy is None:  # opened when it is first needed: it takes a while
                clock = self._served.ledger
                self._copy = Project(self._served.folder, clock=lambda: clock.now)
            self._copy.ledger.catch_up()
            yield self._copy

    def lead(self) -> dict[str, Any]:
        with self.reading() as project:
            began = time.monotonic()
            if self._seq < 0 or (began >= self._until and self._seq != project.ledger.state.seq):
                self._seq, self._kept = project.ledger.state.seq, summary(project)
                took = time.monotonic() - began
                self._until = began + took + max(FRESH, PATIENCE * took)
            return self._kept

    def close(self) -> None:
        with self._lock:
            if self._copy is not None:
                self._copy.close()
