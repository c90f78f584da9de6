"""The exception that users meet when what they passed cannot be used."""

from __future__ import annotations

import re
from pathlib import Path

_VERB = re.compile(r"(is|are|must|has|have|holds|could|needs|does|leave|applies|gives)\b")

_PICTURES = {code: 0x2400 + code for code in range(0x20)} | {0x7F: 0x2421}
_PICTURES |= dict.fromkeys([*range(0x80, 0xA0), 0x2028, 0x2029], 0xFFFD)
"""Line breaks, and characters that steer a terminal, with the pictures of them that are printed."""


class InvalidInput(ValueError):
    """The error that names an argument, says what is wrong with it and what to do about it.

    ``argument`` is its name. ``sentence`` continues after the name ("must be positive, got 0"),
    or it is a whole sentence, and a colon comes before it ("there is no file x.csv").

    >>> print(InvalidInput("budget", "must be at least 1, got 0"))
    budget must be at least 1, got 0
    >>> print(InvalidInput("path", "there is no file x.npz"))
    path: there is no file x.npz

    It is one line, even where ``sentence`` quotes a file that holds line breaks.

    >>> print(InvalidInput("label", "must be one of a and b, got c\\nd"))
    label must be one of a and b, got c␊d
    """

    def __init__(self, argument: str | Path, sentence: str) -> None:
        super().__init__(argument, sentence)
        self.argument, self.sentence = str(argument), sentence

    def __str__(self) -> str:
        return self.about(self.argument)

    def about(self, name: str) -> str:
        """The whole sentence, with ``name`` as the name of the argument."""
        joint = " " if _VERB.match(self.sentence) else ": "
        return f"{name}{joint}{self.sentence}".translate(_PICTURES)


def reason(error: Exception) -> str:
    """The message of another library's error, put on one line."""
    return " ".join(str(error).split()) or type(error).__name__


class DataUnavailable(InvalidInput):
    """A named data set is not on disk and cannot be fetched from its public home."""


class Damaged(InvalidInput):
    """A file that aced itself wrote was changed, cut or lost. Commands end with exit code 1."""
