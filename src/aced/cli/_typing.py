"""Choose among many classes at a terminal: type the first letters of a name, and a list narrows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from aced.cli._key_list import HELP
from aced.cli._keys import BACKSPACE, DOWN, ENTER, ESCAPE, LEFT, RIGHT, UP
from aced.cli._project import visible
from aced.project import COMMANDS, PREFIX, listed, named, narrow, picked_by_digits

LINES = 6
"""Lines of the list at most."""
WIDEST = 24


@dataclass(frozen=True)
class Said:
    """What somebody chose: a class, or a command by its letter."""

    name: str | None = None
    command: str = ""


class Typed:
    """What is typed so far, and the list that it narrows; ``take`` is told each stroke."""

    def __init__(self, classes: Sequence[str]) -> None:
        self.classes = list(classes)
        self.by_digit = picked_by_digits(classes)
        self.text = ""
        self.marked: int | None = None

    @property
    def listed(self) -> list[str]:
        return [] if self.text.startswith(PREFIX) else narrow(self.classes, self.text)

    def take(self, stroke: str, columns: int = 1) -> Said | None:
        """What the stroke chooses; None while nothing is chosen. ``columns`` are those of the list."""
        steps = {LEFT: -1, RIGHT: 1, UP: -columns, DOWN: columns}
        listed = self.listed
        if stroke in steps:
            self._move(steps[stroke], len(listed))
        elif stroke == ENTER:
            return None if self.marked is None else Said(listed[self.marked])
        elif stroke == ESCAPE:
            self._write("")
        elif stroke == BACKSPACE:
            if not self.text:
                return Said(command="z")
            self._write(self.text[:-1])
        elif self.text == PREFIX:
            self._write("")
            return Said(command=stroke.lower()) if stroke.lower() in COMMANDS else None
        elif stroke == HELP and not self.text and not narrow(self.classes, HELP):
            return Said(command=HELP)
        elif self.by_digit and stroke in "123456789":
            place = int(stroke) - 1
            return Said(listed[place]) if place < len(listed) else None
        elif stroke.isprintable() and (self.text or not stroke.isspace()):
            self._write(self.text + stroke)
        return None

    def _move(self, by: int, many: int) -> None:
        if not many:
            return
        start = (0 if by > 0 else many - 1) if self.marked is None else self.marked + by
        self.marked = min(many - 1, max(0, start))

    def _write(self, text: str) -> None:
        self.text = text
        self.marked = 0 if text.strip() and self.listed else None

    # -- on the screen ------------------------------------------------------------------

    def columns(self, console: Console) -> int:
        return max(1, console.width // (self._width(console) + 1))

    def _width(self, console: Console) -> int:
        longest = max(cell_len(visible(name)) for name in self.classes)
        return min(console.width - 1, 3 + min(WIDEST, longest))

    def lines(self, console: Console) -> int:
        """How many lines the list takes, the box that is typed in left out."""
        return min(LINES, -(-len(self.classes) // self.columns(console))) + 1

    def shown(self, console: Console) -> Text:
        """The box that is typed in and the list under it."""
        columns, width = self.columns(console), self._width(console)
        found = Text.assemble(("> ", "bold"), visible(self.text), ("_", "dim"))
        if self.text == PREFIX:
            words = (
                ("s", "skip"),
                ("u", "unsure"),
                ("z", "undo"),
                ("w", "why"),
                ("m", "more"),
                ("q", "quit"),
            )
            found.append("   ").append("   ".join(f"{key} {what}" for key, what in words), style="dim")
        listed = self.listed
        first = 0 if self.marked is None else max(0, self.marked // columns - LINES + 1) * columns
        part = listed[first : first + LINES * columns]
        for place, name in enumerate(part, first):
            found.append("\n" if (place - first) % columns == 0 else " ")
            digit = str(place + 1) if self.by_digit and place < 9 else " "
            entry = Text(f"{digit} {visible(name)}")
            entry.truncate(width, overflow="ellipsis", pad=True)
            entry.stylize("bold", 0, 1)
            if place == self.marked:
                entry.stylize("reverse")
            found.append(entry)
        rest = len(listed) - len(part)
        if rest:
            found.append(f"\n{rest} more; type the first letters of a name", style="dim")
        elif not listed and self.text != PREFIX:
            found.append("\nno class begins like this; Esc clears", style="dim")
        return found


def from_line(line: str, classes: Sequence[str]) -> Said | None:
    """What a line of a pipe means: a command after a slash, a class, or the beginning of only one."""
    letter = line[1:].strip().lower()
    if line.startswith(PREFIX) and len(letter) == 1 and letter in COMMANDS:
        return Said(command=letter)
    name = named(classes, line)
    if name is not None:
        return Said(name)
    found = narrow(classes, line)
    return Said(found[0]) if len(found) == 1 else None


def no_class(line: str, classes: Sequence[str]) -> str:
    """Why a line of a pipe means nothing, and what to write instead."""
    found = narrow(classes, line)
    if found:
        several = listed(list(map(visible, found)))
        return f"{visible(line)!r} may mean {several}; write more of the name"
    commands = ", ".join(f"{PREFIX}{letter}" for letter in COMMANDS)
    return f"no class begins with {visible(line)!r}; write the name of a class, or one of {commands}"
