"""The classes of a project: their names, what an answer may say, and changes of them.

Names are compared without regard to case and to forms of the same character, so that no two classes
look alike. A name that a class has or had never becomes another class's.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from aced._check import MOST_CLASSES
from aced._errors import InvalidInput
from aced.ledger import Class, Ledger, State

LONGEST_CLASS = 100
MOST_LISTED = 10


class ClassGone(InvalidInput):
    """An answer names a class that nobody may choose any more. ``classes`` are those of now."""

    def __init__(self, sentence: str, classes: list[str]) -> None:
        super().__init__("label", sentence)
        self.classes = classes


# -- names ------------------------------------------------------------------------------


def alike(name: str) -> str:
    """What names that look alike have in common.

    >>> alike("Ham") == alike("ham"), alike("ﬁsh") == alike("fish"), alike("ham") == alike("hams")
    (True, True, False)
    """
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold())


def listed(names: Sequence[str]) -> str:
    """Names in a sentence.

    >>> listed(["a", "b"]), listed(["a", "b", "c"]), listed(list("abcdefghijklm"))
    ('a and b', 'a, b and c', 'a, b, c, d, e, f, g, h, i, j and 3 more')
    """
    more = len(names) - MOST_LISTED
    shown = [*names[:MOST_LISTED], f"{more} more"] if more > 1 else list(names)
    return " and ".join([", ".join(shown[:-1]), shown[-1]] if len(shown) > 2 else shown)


def check_class(name: str, argument: str = "classes") -> str:
    """The name without spaces around it; refused if it cannot be shown on a button."""
    name = name.strip()
    if not name or len(name) > LONGEST_CLASS or not name.isprintable():
        raise InvalidInput(
            argument, f"a name is 1 to {LONGEST_CLASS} printable characters, got {name[:80]!r}"
        )
    return name


def check_classes(names: Sequence[str]) -> None:
    """Refuse names that cannot be the classes of a project."""
    if len(names) < 2:
        raise InvalidInput(
            "classes",
            f"must be at least two different names, got {listed(list(map(repr, names))) or 'none'}",
        )
    if len(names) > MOST_CLASSES:
        raise InvalidInput("classes", f"are {len(names)}; a project takes at most {MOST_CLASSES}")
    seen: dict[str, str] = {}
    for name in map(check_class, names):
        before = seen.get(alike(name))
        if before is not None:
            same = "is there twice" if before == name else f"looks like {before!r}"
            raise InvalidInput("classes", f"must be different names, but {name!r} {same}")
        seen[alike(name)] = name


# -- what a name means ------------------------------------------------------------------


def code_of(state: State, name: str | None) -> int | None:
    """The code of the class that has this name, or had it."""
    for code, one in enumerate(state.classes):
        if name == one.name or name in one.former:
            return code
    return None


def active_names(state: State) -> list[str]:
    return [state.classes[code].name for code in state.codes]


def check_chosen(state: State, code: int, name: str | None) -> None:
    """Refuse an answer that chooses a class that was merged or taken back."""
    one = state.classes[code]
    if one.into is not None:
        kept = state.names[code]
        sentence = f"{name!r} was merged into {kept!r} meanwhile; choose {kept!r} or another class"
        raise ClassGone(sentence, active_names(state))
    if one.withdrawn:
        raise ClassGone(f"{name!r} is no class any more; choose another", active_names(state))


def counted_as(state: State, names: Sequence[str], place: str) -> int:
    """The code as which a label from elsewhere counts. ``names`` are readings of it, the best first.

    The name of a class that was merged counts as the class it was merged into.
    """
    for name in names:
        code = code_of(state, name)
        if code is not None and not state.classes[code].withdrawn:
            return state.stands[code]
    if not names[0]:
        raise InvalidInput("file", f"{place}: label is empty; fill it in or remove the line")
    known = listed(active_names(state))
    raise InvalidInput("file", f"{place}: label must be one of {known}, got {names[0][:80]!r}")


# -- changes ----------------------------------------------------------------------------


@dataclass(frozen=True)
class Changed:
    """What a change of the classes does: the names after it, and the labels that it changes."""

    classes: list[str]
    labels: list[int] = field(default_factory=list)  # the numbers of their events
    dry: bool = False


def add_class(ledger: Ledger, who: str, name: str, *, dry: bool = False) -> Changed:
    """Add a class, which labels may name from now on."""
    name = check_class(name, "name")
    with ledger.writing() as writing:
        state = writing.state
        code = code_of(state, name)
        if code is None or not state.classes[code].withdrawn:
            _check_free(state, name, None)
            code = len(state.classes)
        if len(state.codes) >= MOST_CLASSES:
            raise InvalidInput(
                "name", f"cannot be added: there are {MOST_CLASSES} classes, the most a project takes"
            )
        if not dry:
            writing.append("class-added", who, body={"code": code, "name": name})
            return Changed(active_names(state))
        return Changed([*active_names(state), name], dry=True)


def rename_class(ledger: Ledger, who: str, old: str, new: str, *, dry: bool = False) -> Changed:
    """Give a class another name. Its labels stay, and files and pages may go on to use the old name."""
    new = check_class(new, "to")
    with ledger.writing() as writing:
        state = writing.state
        code = _active(state, old, "from")
        if new == state.classes[code].name:
            raise InvalidInput("to", f"{new!r} is the name of this class already; choose another")
        _check_free(state, new, code)
        labels = state.labels_of_class(code)
        if not dry:
            body = {"code": code, "from": state.classes[code].name, "to": new}
            writing.append("class-renamed", who, body=body)
        names = [new if one == code else state.classes[one].name for one in state.codes]
        return Changed(names, labels, dry)


def merge_class(ledger: Ledger, who: str, old: str, into: str, *, dry: bool = False) -> Changed:
    """Let the labels of one class count as another. Nobody may choose the first one any more."""
    with ledger.writing() as writing:
        state = writing.state
        code, kept = _active(state, old, "from"), _active(state, into, "into")
        if code == kept:
            raise InvalidInput("into", f"{into!r} is the class itself; name another one")
        if len(state.codes) < 3:
            raise InvalidInput("from", "cannot be merged: two classes must remain; add one first")
        labels = state.labels_of_class(code)
        names = [state.classes[one].name for one in state.codes if one != code]
        if not dry:
            writing.append("class-merged", who, body={"code": code, "into": kept, "labels": labels})
        return Changed(names, labels, dry)


def undo_change(ledger: Ledger, who: str, *, dry: bool = False) -> Changed:
    """Take back the last change of the classes that was not taken back yet."""
    with ledger.writing() as writing:
        state = writing.state
        if not state.changes:
            raise InvalidInput("undo", "there is no change of the classes to take back")
        last = state.changes[-1]
        one = state.classes[last.code]
        if last.kind == "class-added" and state.names_class(last.code):
            raise InvalidInput(
                "undo", f"{one.name!r} has labels; merge it into another class, then they count there"
            )
        labels = [] if last.kind == "class-added" else state.labels_of_class(state.stands[last.code])
        if last.kind == "class-merged":  # of the class it was merged into, only those that come back
            labels = sorted(set(labels) & set(_labels_under(state, last.code)))
        names = _names_before(state)
        if not dry:
            writing.append("class-undone", who, body={"of": last.seq})
        return Changed(names, labels, dry)


def _labels_under(state: State, code: int) -> list[int]:
    """The labels that name this class or one that was merged into it."""
    under = {code}
    while more := {c for c, one in enumerate(state.classes) if one.into in under} - under:
        under |= more
    votes = (vote for said in state.votes.values() for vote in said.values())
    return [vote.seq for vote in votes if vote.code in under]


def _names_before(state: State) -> list[str]:
    last, names = state.changes[-1], []
    for code, one in enumerate(state.classes):
        if code == last.code:
            names += [] if last.kind == "class-added" else [last.name]
        elif one.active:
            names.append(one.name)
    return names


def _active(state: State, name: str, argument: str) -> int:
    name = name.strip()
    code = code_of(state, name)
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
        return f"{name!r} was a class before; add that class again, or choose another name"
    if alike(name) != alike(one.name):
        return f"{name!r} was the name of {one.name!r} before; choose another name"
    merge = "; to make one class of the two, merge them" if renaming else ""
    return f"there is a class {one.name!r} already{merge or '; choose another name'}"


def describe(state: State) -> list[dict[str, Any]]:
    """The classes that people may choose, with their codes and the names they had."""
    return [
        {"code": code, "name": state.classes[code].name, "former": list(state.classes[code].former)}
        for code in state.codes
    ]
