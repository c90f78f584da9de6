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
from aced.cli._key_list import HELP, key_line, key_pages, terminal_keys, typed_line
from aced.cli._keys import BACKSPACE, END, ESCAPE, QUIT, RESIZED, Keys, Piped, Terminal, keys
from aced.cli._project import Folder, counted, let_in, visible
from aced.cli._show import FRAME, opinion, show_item, status_line, why
from aced.cli._typing import Said, Typed, from_line, no_class
from aced.project import (
    COMMANDS,
    PREFIX,
    Driver,
    InThread,
    Item,
    Project,
    class_keys,
    command_key,
    progress,
)


def label(
    project: Folder,
    name: Annotated[
        str | None, typer.Option("--as", metavar="NAME", help="Who labels (default: your login name).")
    ] = None,
) -> None:
    """Label items in the terminal, by keys or by the first letters of a class.

    Every answer is on disk before the next item is shown.
    """
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
        self.words: dict[str, str] = {}  # by class that a line may name, its first key
        self.learn(list(project.classes))
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
        began, page, asked = time.perf_counter(), 0, 0
        self.follow()
        pressed.forget()
        while True:
            self.show(item, page)
            said = self.read(pressed, item)
            if said.command == RESIZED:
                continue
            self.note = ""
            if said.command:
                asked = asked + 1 if said.command == "w" else 0
            seconds = time.perf_counter() - began if sys.stdin.isatty() else 0.0  # unknown for a pipe
            if said.command == QUIT:
                return None, False
            if said.name is not None or said.command in ("s", "u"):
                try:
                    self.answer(item, said, seconds)
                except InvalidInput as error:
                    if not self.follow():
                        raise
                    self.note = f"{self.note} {error}"  # the class has gone meanwhile: ask again
                    return item, True
                return None, True
            if said.command == "z":
                back = self.project.undo(self.who)
                if back is not None and back.kind == "returned":
                    self.note = f"{visible(back.item.id)} is out of your queue again."
                    return None, True
                self.given -= back is not None
                self.note = "Nothing to undo." if back is None else "Undone."
                return back.item if back else item, True
            if said.command == "w":
                self.note = self.reason(item, asked > 1)
            elif said.command == "m":
                page += 1
            elif said.command == HELP and isinstance(pressed, Terminal):
                self.show_keys(pressed)

    def reason(self, item: Item, full: bool) -> str:
        """Why this item; in ``full`` also what the classifier says, better read after a look."""
        draw = self.project.state.draws.get(item.row)
        says = opinion(draw, self.project.names).plain
        more = says if full or not says else f"{self.key_of('w')} again shows what the classifier says."
        return f"{why(draw).plain} {more}".rstrip()

    def follow(self) -> bool:
        """Take over the classes as they are now; whether somebody has changed them."""
        classes = list(self.project.classes)
        if classes == self.classes:
            return False
        self.learn(classes)
        self.note = f"{self.note} The classes have changed.".strip()
        return True

    def learn(self, classes: list[str]) -> None:
        self.classes = classes
        self.labels = class_keys(classes, self.project.codes)
        self.keys = terminal_keys(classes, self.labels)
        self.words.clear()
        for key, name in reversed(self.labels.items()):
            self.words[name] = key
        self.typed = None if self.labels else Typed(classes)

    def key_of(self, letter: str) -> str:
        """What is pressed for a command."""
        return f"{PREFIX}{letter}" if self.typed else command_key(letter, self.labels)

    def read(self, pressed: Keys, item: Item) -> Said:
        """What the person says next."""
        if self.typed is not None:
            return self.read_typed(self.typed, pressed, item)
        key = pressed.read()
        labels = self.labels if isinstance(pressed, Piped) else self.keys
        if key in labels:
            return Said(labels[key])
        command = key.removeprefix(PREFIX)
        if command not in set(COMMANDS) and isinstance(pressed, Piped):
            commands = (self.key_of(letter) for letter in COMMANDS)
            keys = f"{', '.join(self.labels)}, {', '.join(commands)}"
            raise InvalidInput(
                f"answer to {visible(item.id)}", f"{visible(key)!r} is no key; use {keys}"
            )
        return Said(command="z" if key == BACKSPACE else command)

    def read_typed(self, typed: Typed, pressed: Keys, item: Item) -> Said:
        """The same where letters are typed to choose a class."""
        if isinstance(pressed, Piped):
            line = pressed.line()
            said = Said(command=QUIT) if line == END else from_line(line, self.classes)
            if said is None:
                raise InvalidInput(f"answer to {visible(item.id)}", no_class(line, self.classes))
            return said
        for stroke in pressed.strokes():
            if stroke in (END, RESIZED):
                return Said(command=QUIT if stroke == END else RESIZED)
            said = typed.take(stroke, typed.columns(self.console))
            if said is not None:
                typed.take(ESCAPE)
                return said
        return Said()

    def answer(self, item: Item, said: Said, seconds: float) -> None:
        kind = "label" if said.name is not None else {"s": "skip", "u": "unsure"}[said.command]
        self.project.answer(
            self.who, item.row, kind, said.name, seconds=min(seconds, 1e6), source="terminal"
        )
        self.given += 1
        self.note = f"{visible(item.id)}: {visible(said.name) if said.name else kind}"

    def show(self, item: Item, page: int) -> None:
        console, typed = self.console, self.typed
        own = console.is_terminal and sys.stdin.isatty()
        if own:
            console.clear()
        around = FRAME + (typed.lines(console) if own and typed else 0)
        root, more = self.project.settings.root, self.key_of("m")
        console.print(show_item(console, item, root, page, around, more))
        console.print(status_line(progress(self.project, self.who)))
        if typed is None:
            console.print(key_line(self.labels, own))
        elif own:
            console.print(typed_line(typed.by_digit))
        if self.note:
            console.print(Text(self.note, style="dim"))
        if own and typed:
            console.print(typed.shown(console), end="")

    def show_keys(self, pressed: Terminal) -> None:
        """All keys, page by page; the last key goes back to the item and does nothing else."""
        page, by_digit = 0, self.typed is not None and self.typed.by_digit
        while True:
            pages = key_pages(self.keys, by_digit, self.console.height - 2)
            if page >= len(pages):
                return
            self.console.clear()
            self.console.print(pages[page])
            more = "any key for more" if page + 1 < len(pages) else "any key goes back"
            self.console.print(Text(more, style="dim"))
            page += pressed.strokes() != [RESIZED]

    def farewell(self, folder: object) -> None:
        self.console.print(status_line(progress(self.project, self.who)))
        more = f"Go on with: aced label {folder}"
        end = "There is nothing left for you to label." if self.ended else more
        said = f"{counted(max(0, self.given), 'answer')} saved in {folder}. {end}"
        self.console.print(Text(said), soft_wrap=True)
