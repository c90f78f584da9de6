"""Answers, one at a time: single keys on a terminal, lines or characters from a pipe."""

from __future__ import annotations

import codecs
import os
import re
import select
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TextIO

from aced.project import PREFIX, named

QUIT = "q"
NO_MORE = f"{PREFIX}{QUIT}"
"""The answer after the last one: to quit, also where a class has the letter."""
END = "\x04"
"""No more strokes will come."""
ENTER, BACKSPACE, ESCAPE = "\n", "\x7f", "\x1b"
UP, DOWN, RIGHT, LEFT = "\x1b[A", "\x1b[B", "\x1b[C", "\x1b[D"
RESIZED = "resized"
"""No key: what is shown must be drawn anew, for a terminal of another size."""

STROKE = re.compile(r"\x1b(?:[\[O][0-9;?]*[@-~])?|.", re.DOTALL)
KEY = re.compile(r"\x1b(?:\[[0-9;?]*[@-~]|O.|.)?|.", re.DOTALL)
"""The same where letters are answers: with Alt or as part of a function key they are none."""

CUT = re.compile(rb"\x1b(\[[0-9;?]*|O)?$")
"""The beginning of a key whose other bytes are still to come, or the escape key."""

WRITTEN = re.compile(f"{PREFIX}?.|{PREFIX}", re.DOTALL)
"""A key of a line: one character, or a slash and one more."""

SAME = {"\r": ENTER, "\x08": BACKSPACE}
ANSWERS = (LEFT, RIGHT, BACKSPACE)
"""Keys besides the printable ones that may be answers."""

REST = 0.02
"""Seconds in which the rest of a key's bytes comes after an escape."""

GLANCE = 0.2
"""Seconds after which a signal that came just before a wait for a key is noticed."""


class Terminal:
    """Reads keys from a terminal, one at a time. If several come at once, only the first counts."""

    def __init__(self, stream: TextIO) -> None:
        self._fd = stream.fileno()
        self._stale = False
        self._slash = False  # whether one was typed whose letter is still to come

    def redraw(self) -> None:
        """Let the next call of ``read`` or ``strokes`` say that the terminal has another size."""
        self._stale = True

    def forget(self) -> None:
        """Drop what was typed so far: it was not meant for what is shown next."""
        import termios

        self._stale = self._slash = False
        termios.tcflush(self._fd, termios.TCIFLUSH)

    def read(self) -> str:
        """The next answer, a slash with the key after it.

        ``NO_MORE`` when there are no more, ``RESIZED`` if there is none yet.
        """
        letters = codecs.getincrementaldecoder("utf-8")(errors="replace")
        while True:
            part = self._keys()
            if part is None:
                return RESIZED
            if not part or part[:1] == END.encode():
                return NO_MORE
            for key in _alike(KEY.findall(letters.decode(part))):
                answer = self._answer(key)
                if answer is not None:
                    return answer

    def _answer(self, key: str) -> str | None:
        """What a key answers, with a slash if that went before; None if it answers nothing yet."""
        slash, self._slash = self._slash, key == PREFIX and not self._slash
        if self._slash or key == ESCAPE or (key == BACKSPACE and slash):
            return None  # a slash begins, or is taken back
        if key in ANSWERS:
            return key
        if len(key) > 1:
            self._slash = slash
            return None
        return f"{PREFIX if slash else ''}{key.lower()}" if key.isprintable() else ""

    def strokes(self) -> list[str]:
        """All that was typed since the last call, at least one stroke: characters and the keys above."""
        letters = codecs.getincrementaldecoder("utf-8")(errors="replace")
        found = ""
        while not found:
            part = self._keys()
            if part is None:
                return [RESIZED]
            if not part:
                return [END]
            found = letters.decode(part)
        return _alike(STROKE.findall(found))

    def _keys(self) -> bytes | None:
        """Whole keys, once there are any; none if the terminal has gone, None if it is to be redrawn."""
        try:
            while not select.select([self._fd], [], [], GLANCE)[0]:
                if self._stale:
                    self._stale = False
                    return None
            part = os.read(self._fd, 64)
            while CUT.search(part) and select.select([self._fd], [], [], REST)[0]:
                part += os.read(self._fd, 64) or END.encode()
        except OSError:
            return b""
        return part


def _alike(strokes: list[str]) -> list[str]:
    """One name for keys that terminals send in several ways."""
    same = [SAME.get(one, one) for one in strokes]
    return [f"\x1b[{one[-1]}" if one[:2] == "\x1bO" else one for one in same]


class Piped:
    """Reads answers from a pipe. A line is a class, whose key is in ``words``, or one or more keys."""

    def __init__(self, stream: TextIO, words: dict[str, str]) -> None:
        self._stream = stream
        self._answers = self._split(stream, words)

    def forget(self) -> None:
        """Drop nothing: a pipe is written ahead on purpose."""

    def read(self) -> str:
        return next(self._answers, NO_MORE)

    def line(self) -> str:
        """The next line that says something; ``END`` when there are no more."""
        return next((line.strip() for line in self._stream if line.strip()), END)

    @staticmethod
    def _split(stream: TextIO, words: dict[str, str]) -> Iterator[str]:
        for line in stream:
            answer = line.strip()
            name = named(list(words), answer)
            if name is not None:
                yield words[name]
            else:
                letters = "".join(letter.lower() for letter in answer if not letter.isspace())
                yield from WRITTEN.findall(letters)


Keys = Terminal | Piped
"""Where answers come from."""


@contextmanager
def keys(words: dict[str, str]) -> Iterator[Keys]:
    """Answers from standard input. A terminal's modes are restored at the end, also after errors."""
    if not sys.stdin.isatty() or sys.platform == "win32":  # single keys cannot be read there
        yield Piped(sys.stdin, words)
        return
    import termios
    import tty

    fd = sys.stdin.fileno()
    before = termios.tcgetattr(fd)
    terminal = Terminal(sys.stdin)

    def again(*_: Any) -> None:
        tty.setcbreak(fd)  # a shell sets its own modes while the program is stopped
        terminal.redraw()  # and writes over what was shown

    def end(number: int, _: Any) -> None:
        sys.exit(128 + number)

    def resized(*_: Any) -> None:
        terminal.redraw()

    handlers = {
        signal.SIGCONT: again,
        signal.SIGTERM: end,
        signal.SIGHUP: end,
        signal.SIGWINCH: resized,
    }
    olds = {number: signal.signal(number, handler) for number, handler in handlers.items()}
    try:
        tty.setcbreak(fd)
        yield terminal
    finally:
        termios.tcsetattr(fd, termios.TCSADRAIN, before)
        for number, old in olds.items():
            signal.signal(number, old)
