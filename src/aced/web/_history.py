"""A page of the history for JSON: what people answered, and about which items."""

from __future__ import annotations

from typing import Any

from starlette.requests import Request

from aced.project import ANSWERS, MOST_SHOWN, Answer, Project, history
from aced.web._access import Refused, Visitor
from aced.web._body import LONGEST_TEXT
from aced.web._views import item_view

FIRST = 2000
"""Most characters of a text, or of a cell, that a list shows."""
COUNT = 50


def history_view(project: Project, visitor: Visitor, request: Request) -> dict[str, Any]:
    """A page of answers, newest first. Leads may ask for another person's, or for everybody's."""
    asked = request.query_params
    lead = visitor.role == "lead"
    whose = None if "everybody" in asked else asked.get("who", visitor.name)
    if whose != visitor.name and not lead:
        raise Refused(403, "only leads may see what others answered")
    kinds = asked["kinds"].split(",") if asked.get("kinds") else ANSWERS
    if not set(kinds) <= set(ANSWERS):
        raise Refused(400, f"kinds must be some of {', '.join(ANSWERS)}")
    text = asked.get("text", "")
    if len(text) > LONGEST_TEXT:
        raise Refused(400, f"text must have at most {LONGEST_TEXT} characters")
    before = _whole(asked["before"], "before") if "before" in asked else None
    count = min(max(_whole(asked.get("count", str(COUNT)), "count"), 1), MOST_SHOWN)
    page = history(project, who=whose, kinds=kinds, text=text, before=before, count=count)
    people = project.state.people
    return {
        "answers": [_view(project, answer) for answer in page.answers],
        "more": page.more,
        "people": sorted(people) if lead else [visitor.name],
        "undoable": bool(people[visitor.name].done),
    }


def _view(project: Project, answer: Answer) -> dict[str, Any]:
    return {
        "seq": answer.seq,
        "answer": answer.kind,
        "label": answer.label,
        "code": answer.code,
        "who": answer.who,
        "at": answer.at,
        "back": answer.kind != "label" and answer.wanted,
        "item": item_view(project.item(answer.row), FIRST),
    }


def _whole(value: str, name: str) -> int:
    try:
        return int(value)
    except ValueError:
        raise Refused(400, f"{name} must be a whole number") from None
