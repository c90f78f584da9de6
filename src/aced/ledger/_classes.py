"""The classes of a project, and how they change: one is added, renamed, or merged into another.

A class keeps its code for ever, and its names, too: no other class may take a name that a class has
or had. What a file or a page says therefore never becomes another class. A vote keeps the code that the
person chose. What it counts as follows from ``into``, so that undoing a merge brings every label back.

Changes are undone from the last one backwards.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from aced.ledger._events import Event
    from aced.ledger._state import State

ADDED, RENAMED, MERGED, UNDONE = "class-added", "class-renamed", "class-merged", "class-undone"
CHANGES = (ADDED, RENAMED, MERGED, UNDONE)


@dataclass(frozen=True)
class Class:
    """A class; its code is its place in ``State.classes``."""

    name: str
    former: tuple[str, ...] = ()  # other names it had
    into: int | None = None  # the code of the class it was merged into
    withdrawn: bool = False  # its addition was undone

    @property
    def active(self) -> bool:
        """Whether people may choose it."""
        return self.into is None and not self.withdrawn

    def called(self, name: str) -> Class:
        """The class under another name."""
        former = [old for old in (*self.former, self.name) if old != name]
        return replace(self, name=name, former=tuple(dict.fromkeys(former)))


@dataclass(frozen=True)
class Change:
    """A change that can be undone: event ``seq`` about the class ``code``, which had this ``name``."""

    seq: int
    kind: str
    code: int
    name: str


Classes = tuple[Class, ...]


def stands(classes: Classes) -> list[int]:
    """By code, the code that a label counts as."""
    found = []
    for code, one in enumerate(classes):
        while one.into is not None:
            code, one = one.into, classes[one.into]
        found.append(code)
    return found


def changed(event: Event, classes: Classes, changes: tuple[Change, ...]) -> tuple[Classes, Any]:
    """The classes after an event that fits, and the changes that can then be undone."""
    body = event.body
    if event.kind == UNDONE:
        return _put(classes, changes[-1].code, _before(classes, changes[-1])), changes[:-1]
    if event.kind == ADDED:
        code, name, after = body["code"], body["name"], Class(body["name"])
        if code < len(classes):  # it was there, and its addition was undone
            after = replace(classes[code], withdrawn=False)
    elif event.kind == RENAMED:
        code, name, after = body["code"], body["from"], classes[body["code"]].called(body["to"])
    else:
        code, name = body["code"], classes[body["code"]].name
        after = replace(classes[code], into=body["into"])
    return _put(classes, code, after), (*changes, Change(event.seq, event.kind, code, name))


def _before(classes: Classes, last: Change) -> Class:
    one = classes[last.code]
    if last.kind == ADDED:
        return replace(one, withdrawn=True)
    return one.called(last.name) if last.kind == RENAMED else replace(one, into=None)


def _put(classes: Classes, code: int, one: Class) -> Classes:
    return (*classes[:code], one, *classes[code + 1 :])


# -- whether a change fits ------------------------------------------------------------------


def check_change(event: Event, state: State) -> None:
    """Raise ValueError, with the reason, if a change does not fit the classes there are."""
    body, classes = event.body, state.classes
    if event.kind == UNDONE:
        if not state.changes or state.changes[-1].seq != body["of"]:
            raise ValueError(f"event {body['of']} is not the last change of the classes")
        last = state.changes[-1]
        if last.kind == ADDED and state.names_class(last.code):
            raise ValueError(f"labels name class {last.code}")
        return
    code = body["code"]
    if event.kind == ADDED:
        again = code < len(classes) and classes[code].withdrawn and classes[code].name == body["name"]
        if code != len(classes) and not again:
            raise ValueError(f"a new class cannot have the code {code}")
        _check_free(body["name"], code, classes)
        return
    for one in (code, body["into"]) if event.kind == MERGED else (code,):
        if one >= len(classes) or not classes[one].active:
            raise ValueError(f"there is no class {one}")
    if event.kind == RENAMED:
        if body["from"] != classes[code].name or body["to"] == body["from"]:
            raise ValueError(f"class {code} is called {classes[code].name!r}")
        _check_free(body["to"], code, classes)
    else:
        if code == body["into"] or sum(one.active for one in classes) < 3:
            raise ValueError("two classes must remain")
        if body["labels"] != state.labels_of_class(code):
            raise ValueError(f"labels are not those of class {code}")


def _check_free(name: str, code: int, classes: Classes) -> None:
    for other, one in enumerate(classes):
        if other != code and name in (one.name, *one.former):
            raise ValueError(f"the name {name!r} belongs to class {other}")
