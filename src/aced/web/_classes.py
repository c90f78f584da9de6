"""Changes of the classes that a lead asks for: the body of POST /api/classes, and what it answers."""

from __future__ import annotations

from typing import Any

from aced.project import (
    Changed,
    Project,
    add_class,
    labels_changed,
    merge_class,
    rename_class,
    undo_change,
)
from aced.web._access import Refused
from aced.web._body import own_key, text

MOST_LABELS = 100
"""The most labels that an answer lists; it counts all of them."""


def change_classes(project: Project, who: str, body: dict[str, Any]) -> dict[str, Any]:
    """Do what the body says; if it is "dry", check it and change nothing."""
    dry = body.get("dry", False)
    if not isinstance(dry, bool):
        raise Refused(400, "dry must be true or false")
    done = _done(project, who, body, dry)
    return {
        "classes": done.classes,
        "classes_version": project.state.classes_seq,
        "count": len(done.labels),
        "labels": labels_changed(project, done, MOST_LABELS),
    }


def _done(project: Project, who: str, body: dict[str, Any], dry: bool) -> Changed:
    ledger, action = project.ledger, text(body, "action")
    key = own_key(body) if "key" in body else None
    if action == "add":
        return add_class(ledger, who, text(body, "name"), dry=dry, key=key)
    if action == "rename":
        return rename_class(ledger, who, text(body, "from"), text(body, "to"), dry=dry, key=key)
    if action == "merge":
        return merge_class(ledger, who, text(body, "from"), text(body, "into"), dry=dry, key=key)
    if action == "undo":
        return undo_change(ledger, who, dry=dry, key=key)
    raise Refused(400, "action must be add, rename, merge or undo")
