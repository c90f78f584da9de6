"""Which key does what: in a line under every item, and in the list that ``?`` shows."""

from __future__ import annotations

from rich.table import Table
from rich.text import Text

from aced.cli._keys import LEFT, RIGHT
from aced.cli._project import visible
from aced.project import PREFIX, command_key

HELP = "?"
"""The key that shows the list."""

CAPS = {LEFT: "←", RIGHT: "→"}
SPOKEN = (
    ("s", "skip: I should not label this item"),
    ("u", "unsure: I looked, and cannot tell"),
    ("z", "undo the last answer; again for the one before"),
    ("w", "why this item; again for what the classifier says"),
    ("m", "the next page of a long item"),
    ("q", "quit; every answer is on disk"),
)
TYPING = (
    ("a … z", "narrow the list to names that begin so, or have a word that does"),
    ("Enter", "take the class that is marked in the list"),
    ("1 … 9", "take the class with this number in the list"),
    ("← ↑ ↓ →", "move the mark"),
    ("Esc", "clear what was typed"),
    ("Backspace", "take away a letter; with nothing typed, undo"),
)


def terminal_keys(classes: list[str], keys: dict[str, str]) -> dict[str, str]:
    """The ``keys`` of classes and, as on the page, arrows, F and J for two classes.

    >>> [key for key, name in terminal_keys(["spam", "ham"], {"1": "spam", "2": "ham"}).items()]
    ['1', '2', '\\x1b[D', 'f', '\\x1b[C', 'j']
    >>> terminal_keys(["egg", "fish"], {"e": "egg", "f": "fish"})["f"]
    'fish'
    """
    if len(classes) != 2:
        return keys
    first, second = classes
    return keys | {LEFT: first, "f": first, RIGHT: second, "j": second} | keys


def key_line(names: dict[str, str], more: bool) -> Text:
    """Which key does what; the keys of the classes come first. ``more``: there is a list of all keys."""
    line = Text()
    for name, keys in _by_class(names).items():
        line.append(f"{' or '.join(keys)} ", style="bold").append(visible(name)).append("   ")
    letters = (("s", "skip"), ("u", "unsure"), ("z", "undo"), ("w", "why"))
    listed = ((HELP, "keys"),) if more else ()
    for key, what in (*letters, *listed, ("q", "quit")):
        line.append(f"{command_key(key, names)} ", style="bold").append(what).append("   ")
    line.rstrip()
    return line


def typed_line(by_digit: bool) -> Text:
    """The same where classes are chosen by typing."""
    line = Text()
    digits = [("1-9", "number")] if by_digit else []
    letters = (("Enter", "take"), *digits, ("Esc", "clear"), ("/s", "skip"), ("/u", "unsure"))
    others = (("/z", "undo"), ("/w", "why"), ("/m", "more"), (HELP, "keys"), ("/q", "quit"))
    for key, what in (*letters, *others):
        line.append(f"{key} ", style="bold").append(what).append("   ")
    line.rstrip()
    return line


def key_pages(names: dict[str, str], by_digit: bool, height: int) -> list[Table]:
    """All keys and what they do, in tables of at most ``height`` lines.

    ``names`` has a class for each key; without any, classes are typed (``by_digit``: or picked).
    """
    rows = [
        (" ".join(CAPS.get(key, key) for key in keys), visible(name))
        for name, keys in _by_class(names).items()
    ]
    if not names:
        rows += [(key, what) for key, what in TYPING if by_digit or key != "1 … 9"]
    rows += [(command_key(key, names) if names else PREFIX + key, what) for key, what in SPOKEN]
    if names:
        rows.append((PREFIX, "before the letter of a command: also where a class has this letter"))
        rows.append(("Backspace", "undo, too"))
    rows.append((command_key(HELP, names), "this list"))
    height = max(1, height)
    return [_table(rows[start : start + height]) for start in range(0, len(rows), height)]


def _table(rows: list[tuple[str, str]]) -> Table:
    table = Table(show_header=False, box=None, pad_edge=False)
    table.add_column(style="bold", no_wrap=True)
    table.add_column(no_wrap=True, overflow="ellipsis")
    for keys, what in rows:
        table.add_row(Text(keys), Text(what))
    return table


def _by_class(names: dict[str, str]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for key, name in names.items():
        found.setdefault(name, []).append(key)
    return found
