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
SPECIAL = re.compile(rb"\x1b(\[[0-9;?]*[@-~]|O.|.)?", re.DOTALL)
"""Arrows and function keys, which are no answers."""

STROKE = re.compile(r"\x1b(?:[\[O][0-9;?]*[@-~])?|.", re.DOTALL)
KEY = re.compile(f"{PREFIX}?.|{PREFIX}", re.DOTALL)
"""A key of a line: one character, or a slash and one more."""
SAME = {"\r": ENTER, "\x08": BACKSPACE}
REST = 0.02
"""Seconds in which the rest of a key's bytes comes after an escape."""

GLANCE = 0.2
"""Seconds after which a signal that came just before a wait for a key is noticed."""


class Terminal:
    """Reads keys from a terminal, one at a time. If several come at once, only the first counts."""

    def __init__(self, stream: TextIO) -> None:
        self._fd = stream.fileno()

    def forget(self) -> None:
        """Drop what was typed so far: it was not meant for what is shown next."""
        import termios

        termios.tcflush(self._fd, termios.TCIFLUSH)

    def read(self) -> str:
        """The next answer, a slash with the key after it; ``NO_MORE`` when there are no more."""
        letters = codecs.getincrementaldecoder("utf-8")(errors="replace")
        found = ""
        while not found or found == PREFIX:
            part = self._part()
            if not part or part[:1] == b"\x04":
                return NO_MORE
            if part == ESCAPE.encode():  # a slash is taken back
                found = ""
            found += letters.decode(SPECIAL.sub(b"", part))
        answer = found[: 2 if found.startswith(PREFIX) else 1].lower()
        return answer if answer.isprintable() else ""

    def strokes(self) -> list[str]:
        """All that was typed since the last call, at least one stroke: characters and the keys above."""
        letters = codecs.getincrementaldecoder("utf-8")(errors="replace")
        found = ""
        while not found:
            part = self._part()
            while part.endswith(b"\x1b") and select.select([self._fd], [], [], REST)[0]:
                part += self._part() or END.encode()
            if not part:
                return [END]
            found = letters.decode(part)
        strokes = [SAME.get(one, one) for one in STROKE.findall(found)]
        return [f"\x1b[{one[-1]}" if one[1:2] == "O" else one for one in strokes]

    def _part(self) -> bytes:
        """Some bytes, once there are any; none if the terminal has gone."""
        try:
            while not select.select([self._fd], [], [], GLANCE)[0]:
                pass
            return os.read(self._fd, 64)
        except OSError:
            return b""


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
                yield from KEY.findall(letters)


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

    def again(*_: Any) -> None:
        tty.setcbreak(fd)  # a shell sets its own modes while the program is stopped

    def end(number: int, _: Any) -> None:
        sys.exit(128 + number)

    handlers = {signal.SIGCONT: again, signal.SIGTERM: end, signal.SIGHUP: end}
    olds = {number: signal.signal(number, handler) for number, handler in handlers.items()}
    try:
        tty.setcbreak(fd)
        yield Terminal(sys.stdin)
    finally:
        termios.tcsetattr(fd, termios.TCSADRAIN, before)
        for number, old in olds.items():
            signal.signal(number, old)
