"""Changes of a project's classes: add one, rename one, merge one into another, take a change back.

Each is one event, and can be tried first (``dry``): it is checked then, and nothing is written.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from aced._check import MOST_CLASSES
from aced._errors import InvalidInput
from aced.ledger import Class, Ledger, State
from aced.project._classes import active_names, alike, check_class, code_of, listed
from aced.project._item import USED, KeyTaken

if TYPE_CHECKING:
    from aced.project._project import Project


@dataclass(frozen=True)
class Changed:
    """What a change of the classes does: the names after it, and the labels that it changes."""

    classes: list[str]
    labels: list[int] = field(default_factory=list)  # the numbers of their events


Decided = tuple[str, dict[str, Any], Changed]
"""The kind and the body of the event that a change is, and what it does."""


def add_class(
    ledger: Ledger, who: str, name: str, *, dry: bool = False, key: str | None = None
) -> Changed:
    """Add a class, which labels may name from now on."""
    name = check_class(name, "name")

    def decide(state: State) -> Decided:
        code = code_of(state, name)
        again = code is not None and state.classes[code].withdrawn and state.classes[code].name == name
        if code is None or not again:
            _check_free(state, name, None)
            code = len(state.classes)
        if len(state.codes) >= MOST_CLASSES:
            raise InvalidInput(
                "name", f"cannot be added: there are {MOST_CLASSES} classes, the most a project takes"
            )
        if len(state.codes) == 2 and not state.settings.audit:
            _check_strategy(state.settings.strategy)
        codes = sorted({*state.codes, code})
        names = [name if one == code else state.classes[one].name for one in codes]
        return "class-added", {"code": code, "name": name}, Changed(names)

    return _change(ledger, who, decide, dry, key)


def rename_class(
    ledger: Ledger, who: str, old: str, new: str, *, dry: bool = False, key: str | None = None
) -> Changed:
    """Give a class another name. Its labels stay, and files and pages may go on to use the old name."""
    new = check_class(new, "to")

    def decide(state: State) -> Decided:
        code = _active(state, old, "from")
        before = state.classes[code].name
        if new == before:
            raise InvalidInput("to", f"{new!r} is the name of this class already; choose another")
        _check_free(state, new, code)
        names = [new if one == code else state.classes[one].name for one in state.codes]
        body = {"code": code, "from": before, "to": new}
        return "class-renamed", body, Changed(names, state.labels_of_class(code))

    return _change(ledger, who, decide, dry, key)


def merge_class(
    ledger: Ledger, who: str, old: str, into: str, *, dry: bool = False, key: str | None = None
) -> Changed:
    """Let the labels of one class count as another. Nobody may choose the first one any more."""

    def decide(state: State) -> Decided:
        code, kept = _active(state, old, "from"), _active(state, into, "into")
        if code == kept:
            raise InvalidInput("into", f"{into!r} is the class itself; name another one")
        if len(state.codes) < 3:
            raise InvalidInput("from", "cannot be merged: two classes must remain; add one first")
        labels = state.labels_of_class(code)
        names = [state.classes[one].name for one in state.codes if one != code]
        body = {"code": code, "into": kept, "labels": labels}
        return "class-merged", body, Changed(names, labels)

    return _change(ledger, who, decide, dry, key)


def undo_change(ledger: Ledger, who: str, *, dry: bool = False, key: str | None = None) -> Changed:
    """Take back the last change of the classes that was not taken back yet."""

    def decide(state: State) -> Decided:
        if not state.changes:
            raise InvalidInput("undo", "there is no change of the classes to take back")
        last = state.changes[-1]
        name = state.classes[last.code].name
        if last.kind == "class-added" and state.names_class(last.code):
            raise InvalidInput(
                "undo", f"{name!r} has labels; merge it into another class, then they count there"
            )
        labels = [] if last.kind == "class-added" else _labels_under(state, last.code)
        return "class-undone", {"of": last.seq}, Changed(_names_before(state), labels)

    return _change(ledger, who, decide, dry, key)


def _change(
    ledger: Ledger, who: str, decide: Callable[[State], Decided], dry: bool, key: str | None
) -> Changed:
    """Decide on the state of now, and write the event; the same ``key`` sent again writes nothing."""
    if dry:
        with ledger.reading() as state:
            return decide(state)[2]
    with ledger.writing() as writing:
        known = None if key is None else ledger.find(key)
        if known is not None:
            if not known.kind.startswith("class-") or known.who != who:
                raise KeyTaken("key", USED)
            return Changed(active_names(writing.state))
        kind, body, done = decide(writing.state)
        writing.append(kind, who, body=body, key=key)
        return done


def _check_strategy(name: str) -> None:
    """Refuse a third class where the strategy is made for two."""
    from aced.strategies import make_strategy  # takes long to load, and few calls need it

    if make_strategy(name).two_classes:
        raise InvalidInput(
            "name", f"cannot be added: the project's strategy, {name}, is made for two classes only"
        )


def _labels_under(state: State, code: int) -> list[int]:
    """The labels that name this class or one that was merged into it."""
    under = {code}
    while more := {c for c, one in enumerate(state.classes) if one.into in under} - under:
        under |= more
    votes = (vote for said in state.votes.values() for vote in said.values())
    return sorted(vote.seq for vote in votes if vote.code in under)


def _names_before(state: State) -> list[str]:
    last, names = state.changes[-1], []
    for code, one in enumerate(state.classes):
        if code == last.code:
            names += [] if last.kind == "class-added" else [last.name]
        elif one.active:
            names.append(one.name)
    return names


def _active(state: State, name: str, argument: str) -> int:
    code = code_of(state, name)
    if code is None:
        code = code_of(state, name.strip())
    if code is not None and state.classes[code].into is not None:
        kept = state.names[code]
        raise InvalidInput(argument, f"{name[:80]!r} was merged into {kept!r}; name {kept!r} or another")
    if code is None or not state.classes[code].active:
        known = listed(active_names(state))
        raise InvalidInput(argument, f"there is no class {name[:80]!r}; the classes are {known}")
    return code


def _check_free(state: State, name: str, code: int | None) -> None:
    """Refuse a name that another class has or had."""
    for other, one in enumerate(state.classes):
        argument = "name" if code is None else "to"
        if other == code or alike(name) not in map(alike, (one.name, *one.former)):
            continue
        raise InvalidInput(argument, _taken(state, name, one, other, code is not None))


def _taken(state: State, name: str, one: Class, other: int, renaming: bool) -> str:
    if one.into is not None:
        kept = state.names[other]
        return f"{name!r} was merged into {kept!r}; undo that, or choose another name"
    if one.withdrawn:
        before = "looks like" if alike(name) == alike(one.name) else "was a name of"
        return (
            f"{name!r} {before} {one.name!r}, a class that was taken back; "
            f"add {one.name!r} again, or choose another name"
        )
    if alike(name) != alike(one.name):
        return f"{name!r} was the name of {one.name!r} before; choose another name"
    merge = "; to make one class of the two, merge them" if renaming else ""
    return f"there is a class {one.name!r} already{merge or '; choose another name'}"


def labels_changed(project: Project, done: Changed, most: int) -> list[dict[str, Any]]:
    """The first labels that a change concerns: the item, who labelled it, and what they chose."""
    with project.ledger.reading() as state:
        wanted = set(done.labels[:most])
        found = [
            (vote.seq, row, who, state.classes[vote.code].name)
            for row, said in state.votes.items()
            for who, vote in said.items()
            if vote.seq in wanted
        ]
    return [
        {"item": project.item(row).id, "row": row, "annotator": who, "label": name}
        for _, row, who, name in sorted(found)
    ]
