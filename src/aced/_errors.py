"""The exception that users meet when what they passed cannot be used."""

from __future__ import annotations

import re
from pathlib import Path

_VERB = re.compile(r"(is|are|must|has|have|holds|could|needs|does|leave|applies|gives)\b")


class InvalidInput(ValueError):
    """The error that names an argument, says what is wrong with it and what to do about it.

    ``argument`` is its name. ``sentence`` continues after the name ("must be positive, got 0"),
    or it is a whole sentence, and a colon comes before it ("there is no file x.csv").

    >>> print(InvalidInput("budget", "must be at least 1, got 0"))
    budget must be at least 1, got 0
    >>> print(InvalidInput("path", "there is no file x.npz"))
    path: there is no file x.npz
    """

    def __init__(self, argument: str | Path, sentence: str) -> None:
        super().__init__(argument, sentence)
        self.argument, self.sentence = str(argument), sentence

    def __str__(self) -> str:
        return self.about(self.argument)

    def about(self, name: str) -> str:
        """The whole sentence, with ``name`` as the name of the argument."""
        joint = " " if _VERB.match(self.sentence) else ": "
        return f"{name}{joint}{self.sentence}"


def reason(error: Exception) -> str:
    """The message of another library's error, put on one line."""
    return " ".join(str(error).split()) or type(error).__name__


class DataUnavailable(InvalidInput):
    """A named data set is not on disk and cannot be fetched from its public home."""
