"""What is shown of a project, as plain values for JSON."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from aced.project import Item, Project, summary

FRESH = 1.0
PATIENCE = 10
"""The lead's data is computed at most once in ``FRESH`` seconds, and for a tenth of the time at most."""


def item_view(item: Item) -> dict[str, Any]:
    image = item.kind == "image"
    return {
        "row": item.row,
        "id": item.id,
        "kind": item.kind,
        "content": None if image else item.content,
        "image": f"/api/image/{item.row}" if image else None,
    }


def why_view(project: Project, row: int) -> dict[str, Any] | None:
    """Why a row was drawn; None if it was not drawn."""
    draw = project.state.draws.get(row)
    if draw is None:
        return None
    note = draw.note
    incumbent = note.get("incumbent")
    return {
        "round": draw.round,
        "probability": draw.probability,
        "check": draw.check,
        **{name: note.get(name) for name in ("lam", "p", "separates", "of")},
        "incumbent": None if incumbent is None else project.classes[incumbent],
    }


class Reader:
    """A second copy of the project for slow requests, so that nobody who labels waits for them."""

    def __init__(self, project: Project) -> None:
        self._project = Project(project.folder, clock=lambda: project.ledger.now)
        self._lock = threading.Lock()
        self._kept: dict[str, Any] = {}
        self._seq, self._until = -1, 0.0

    @contextmanager
    def reading(self) -> Iterator[Project]:
        with self._lock:
            self._project.ledger.catch_up()
            yield self._project

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
            self._project.close()
