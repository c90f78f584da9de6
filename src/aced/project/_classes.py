"""The classes of a project: their names, and what an answer may say.

Names are compared without regard to case and to forms of the same character, so that no two classes
look alike. A name that a class has or had never becomes another class's.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from typing import Any

from aced._check import MOST_CLASSES
from aced._errors import InvalidInput
from aced._types import Ints
from aced.ledger import State

LONGEST_CLASS = 100
MOST_LISTED = 10
PREFIX = "/"
"""Before a command's letter, where letters are typed to choose a class."""


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
    if name.startswith(PREFIX):
        raise InvalidInput(
            argument, f"{name!r} begins with {PREFIX}, as commands do; choose another beginning"
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


def class_table(state: State, codes: Ints) -> list[dict[str, Any]]:
    """The classes that people may choose, with how many items have each as their label."""
    return [
        {
            "code": code,
            "name": state.classes[code].name,
            "former": list(state.classes[code].former),
            "labels": int((codes == code).sum()),
        }
        for code in state.codes
    ]
