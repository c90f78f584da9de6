"""aced label: label in the terminal, one item at a time and one key for each answer."""

from __future__ import annotations

import sys
import time
from contextlib import AbstractContextManager, nullcontext
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.text import Text

from aced._errors import InvalidInput
from aced.cli._keys import QUIT, Keys, keys
from aced.cli._project import Folder, let_in, visible
from aced.cli._show import key_line, show_item, status_line, why
from aced.project import COMMANDS, Driver, InThread, Item, Project, class_keys, progress


def label(
    project: Folder,
    name: Annotated[
        str | None, typer.Option("--as", metavar="NAME", help="Who labels (default: your login name).")
    ] = None,
) -> None:
    """Label items in the terminal. One key is one answer, on disk before the next item is shown."""
    opened = Project(project)
    who = let_in(opened, name)
    session = Session(opened, who, Console())
    try:
        with session.screen(), keys(session.words) as pressed:
            session.run(pressed)
    except KeyboardInterrupt:
        pass  # every answer is on disk
    finally:
        session.farewell(project)
        opened.close()


PATIENCE = 1.0


class Session:
    """One person at one terminal."""

    def __init__(self, project: Project, who: str, console: Console) -> None:
        self.project, self.who, self.console = project, who, console
        self.driver = Driver(project, InThread())
        self.labels = class_keys(project.classes)
        self.words = {name: key for key, name in reversed(self.labels.items())}
        self.given = 0
        self.ended = False
        self.note = ""

    def screen(self) -> AbstractContextManager[Any]:
        """A full screen on a terminal; at the end, the text that was there before comes back."""
        own = self.console.is_terminal and sys.stdin.isatty()
        return self.console.screen(hide_cursor=True) if own else nullcontext()

    def run(self, pressed: Keys) -> None:
        item: Item | None = None
        while True:
            item = item or self.next_item()
            if item is None:
                self.ended = True
                return
            self.driver.step(self.who)
            item, going = self.ask(pressed, item)
            if not going:
                return

    def next_item(self) -> Item | None:
        """The next item for this person; None when there is nothing left.

        Somebody at a terminal waits for a round for ``PATIENCE`` seconds, and then gets an item out of
        turn. A script waits: it gets the same items whatever the machine's speed.
        """
        patience, late = PATIENCE if sys.stdin.isatty() else None, False
        while not (found := self.project.give(self.who, 1, late=late)):
            which = "next" if self.project.state.rounds else "first"
            with self.console.status(f"designing the {which} round"):
                if not self.driver.step(self.who, timeout=patience) and not self.driver.running:
                    return None
            late = self.driver.running
        return found[0]

    def ask(self, pressed: Keys, item: Item) -> tuple[Item | None, bool]:
        """Show an item until it is answered; return the next item, if known, and whether to go on."""
        began, page = time.perf_counter(), 0
        pressed.forget()
        self.show(item, page)
        while True:
            key = pressed.read()
            seconds = time.perf_counter() - began if sys.stdin.isatty() else 0.0  # unknown for a pipe
            if key == QUIT:
                return None, False
            if key in self.labels or key in ("s", "u"):
                self.answer(item, key, seconds)
                return None, True
            if key == "z":
                back = self.project.undo(self.who)
                self.given -= back is not None
                self.note = "Nothing to undo." if back is None else "Undone."
                return back or item, True
            if key == "w":
                self.note = why(self.project.state.draws.get(item.row), self.project.names).plain
            elif key == "m":
                page += 1
            elif not sys.stdin.isatty():
                raise InvalidInput(
                    f"answer to {visible(item.id)}",
                    f"{visible(key)!r} is no key; use {', '.join(self.labels)}, {', '.join(COMMANDS)}",
                )
            self.show(item, page)

    def answer(self, item: Item, key: str, seconds: float) -> None:
        kind = "label" if key in self.labels else {"s": "skip", "u": "unsure"}[key]
        name = self.labels.get(key)
        self.project.answer(self.who, item.row, kind, name, seconds=min(seconds, 1e6), source="terminal")
        self.given += 1
        self.note = f"{visible(item.id)}: {visible(name) if name else kind}"

    def show(self, item: Item, page: int) -> None:
        console = self.console
        if console.is_terminal and sys.stdin.isatty():
            console.clear()
        console.print(show_item(console, item, self.project.settings.root, page))
        console.print(status_line(progress(self.project, self.who)))
        console.print(key_line(self.labels))
        if self.note:
            console.print(Text(self.note, style="dim"))
        self.note = ""

    def farewell(self, folder: object) -> None:
        self.console.print(status_line(progress(self.project, self.who)))
        more = f"Go on with: aced label {folder}"
        end = "There is nothing left for you to label." if self.ended else more
        said = f"{max(0, self.given)} answers saved in {folder}. {end}"
        self.console.print(Text(said), soft_wrap=True)
