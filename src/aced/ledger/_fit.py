"""Whether an event fits the state it is applied to: the fields of its body, and what they point to.

A file that was edited or damaged can hold anything. Nothing of an event that does not fit is applied.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from aced.ledger._classes import CHANGES, check_change

if TYPE_CHECKING:
    from aced.ledger._events import Event
    from aced.ledger._state import State

Test = Callable[[Any], bool]

MISSING = object()


def _whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**63


def _number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _penalty(value: Any) -> bool:
    return value is None or _number(value)


def _text(value: Any) -> bool:
    return isinstance(value, str)


def _name(value: Any) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _object(value: Any) -> bool:
    return isinstance(value, dict)


def _texts(value: Any) -> bool:
    return isinstance(value, dict) and all(map(_text, value.values()))


def _shares(value: Any) -> bool:
    return isinstance(value, dict) and all(_number(value.get(name)) for name in ("explore", "within"))


def _names(value: Any) -> bool:
    return isinstance(value, list) and len(value) > 1 and all(map(_text, value))


def _wholes(value: Any) -> bool:
    return isinstance(value, list) and all(map(_whole, value))


def _numbers(value: Any) -> bool:
    return isinstance(value, list) and all(map(_number, value))


def _objects(value: Any) -> bool:
    return isinstance(value, list) and all(map(_object, value))


def _accuracy(value: Any) -> bool:
    return isinstance(value, dict) and all(
        _number(value.get(name)) for name in ("estimate", "low", "high", "checked")
    )


def _stop(value: Any) -> bool:
    ahead = value.get("ahead") if isinstance(value, dict) else 0
    whole = ahead is None or (isinstance(ahead, list) and len(ahead) == 3 and _wholes(ahead[:2]))
    return whole and isinstance(value.get("reached"), bool) and _text(value.get("claim"))


def _savings(value: Any) -> bool:
    if not isinstance(value, dict) or not all(_whole(value.get(k)) for k in ("labels", *_TAKEN)):
        return False
    curves = [value.get(name) for name in ("ours", "by_random")]
    points = [point for curve in curves if isinstance(curve, list) for point in curve]
    listed = all(isinstance(curve, list) for curve in curves)
    return listed and all(_numbers(point) and len(point) == 4 for point in points)


def _wanted(value: Any) -> bool:
    numbers = isinstance(value, dict) and all(_number(value.get(k)) for k in ("wanted", "confidence"))
    return numbers and (value.get("of") in ("accuracy", "regret") or _whole(value.get("code")))


def _reading(value: Any) -> bool:
    if not isinstance(value, dict) or not isinstance(value.get("named"), bool):
        return False
    lists = [value.get("columns"), value.get("show", []), value.get("exclude", [])]
    names = [value.get("kind"), value.get("label_column", ""), value.get("id_column", "")]
    listed = all(isinstance(one, list) and all(map(_text, one)) for one in lists)
    return listed and all(map(_text, names))


def _counts(value: Any) -> bool:
    return isinstance(value, list) and all(_wholes(one) and len(one) == 3 for one in value)


def _reserve(value: Any) -> bool:
    return (
        isinstance(value, dict)
        and _wholes(value.get("rows"))
        and _numbers(value.get("probabilities"))
        and len(value["rows"]) == len(value["probabilities"])
    )


_TAKEN = ("random", "low", "high")

NEEDED: dict[str, dict[str, Test]] = {
    "created": {
        **dict.fromkeys(("kind", "pool", "strategy", "combine"), _text),
        **dict.fromkeys(("items", "rows", "seed", "batch"), _whole),
        **dict.fromkeys(("check", "overlap", "lease"), _number),
        "l2": _penalty,
        "classes": _names,
    },
    "annotator": {"name": _text, "role": _text},
    "revoked": {"name": _text},
    "draw": {"round": _whole, "rows": _wholes},
    "spare": {"rows": _wholes, "probabilities": _numbers},
    "lease": {"until": _number},
    "label": {"label": _whole},
    "returned": {"of": _whole},
    "undo": {"of": _whole},
    "sealed": {"files": _texts},
    "accepted": {"lost": _text},
    "class-added": {"code": _whole, "name": _name},
    "class-renamed": {"code": _whole, "from": _text, "to": _name},
    "class-merged": {"code": _whole, "into": _whole, "labels": _wholes},
    "class-undone": {"of": _whole},
}
"""The fields that the body of an event of each kind must have, and the test of their values."""

ALLOWED: dict[str, dict[str, Test]] = {
    "created": {
        "root": _text,
        "files": _texts,
        "representation": _text,
        "audit": _shares,
        "stop": _wanted,
        "cost_per_label": _number,
        "reading": _reading,
    },
    "annotator": {"token": _text},
    "draw": {
        **dict.fromkeys(("based_on", "labels", "planner"), _whole),
        **dict.fromkeys(("probabilities", "chances"), _numbers),
        **dict.fromkeys(("checks", "classes"), _wholes),
        "confusion": _counts,
        "by_class": _objects,
        "stop": _stop,
        "notes": _objects,
        "accuracy": _accuracy,
        "design": _object,
        "seconds": _number,
        "reserve": _reserve,
        "savings": _savings,
    },
    "label": {"seconds": _number},
    "undo": {"until": _number},
}
"""Fields that may be missing or null, and the test of their values."""

SAYS = ("says", "incumbent")
"""Fields of a note that are codes of classes."""
ABOUT_A_ROW = ("lease", "label", "skip", "unsure", "returned", "undo")
PASSED = ("skip", "unsure")
"""Answers after which a row is not given to the same person again."""


def check_fit(event: Event, state: State) -> None:
    """Raise ValueError, with the reason, if the event does not fit the state."""
    body = event.body
    for name, test in NEEDED.get(event.kind, {}).items():
        if not test(body.get(name, MISSING)):
            raise ValueError(f"{name} of a {event.kind} is missing or wrong")
    for name, test in ALLOWED.get(event.kind, {}).items():
        if body.get(name) is not None and not test(body[name]):
            raise ValueError(f"{name} of a {event.kind} is wrong")
    if (event.kind == "created") != (event.seq == 1):
        raise ValueError("a ledger begins with one event of kind created, and has no second")
    if event.kind != "created":
        _check_places(event, state)


def _check_places(event: Event, state: State) -> None:
    body, rows = event.body, state.settings.rows
    if event.kind in ABOUT_A_ROW and not (
        _whole(event.row) and event.row is not None and event.row < rows
    ):
        raise ValueError(f"there is no row {event.row}")
    named = [*body.get("rows", []), *body.get("checks", [])] if event.kind in ("draw", "spare") else []
    if event.kind == "draw" and body.get("reserve"):
        named += body["reserve"]["rows"]
    if named and max(named) >= rows:
        raise ValueError(f"there is no row {max(named)}")
    if event.kind == "draw":
        _check_classes(body, state)
    if event.kind == "label" and not (
        body["label"] < len(state.classes) and state.classes[body["label"]].active
    ):
        raise ValueError(f"there is no class {body['label']}")
    if event.kind in CHANGES:
        check_change(event, state)
    if event.kind == "revoked" and body["name"] not in state.people:
        raise ValueError(f"nobody is called {body['name']!r}")
    if event.kind == "returned":
        given = state.given.get(body["of"])
        passed = given is not None and given[0] in PASSED and given[1] == event.row
        if not passed or not state.standing(body["of"]):
            raise ValueError(f"event {body['of']} is no skip or unsure of this row that stands")
    if event.kind == "undo":
        given = state.given.get(body["of"])
        if given is None or body["of"] in state.undone or given[1:] != (event.row, event.who):
            raise ValueError(f"event {body['of']} is no answer that can be undone")


def _check_classes(body: dict[str, Any], state: State) -> None:
    """Refuse a round that speaks of classes that there are not."""
    counted = [code for one in body.get("confusion") or [] for code in one[:2]]
    noted = [
        note[name] for note in body.get("notes") or [] for name in SAYS if note.get(name) is not None
    ]
    for code in (*(body.get("classes") or []), *counted, *noted):
        if not isinstance(code, int) or not 0 <= code < len(state.classes):
            raise ValueError(f"there is no class {code}")
