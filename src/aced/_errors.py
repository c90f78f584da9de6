"""The exception that users meet when what they passed cannot be used."""

from __future__ import annotations

import re
from pathlib import Path

_VERB = re.compile(r"(is|are|must|has|have|holds|could|needs|does|leave|applies|gives)\b")


class InvalidInput(ValueError):
    """Names the argument, says what is wrong with it and what to do about it.

    ``sentence`` goes on where the argument's name ends ("must be positive, got 0"), or it
    stands for itself and follows a colon ("there is no file x.csv").

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
        """The whole sentence, with this name for the argument."""
        joint = " " if _VERB.match(self.sentence) else ": "
        return f"{name}{joint}{self.sentence}"


def reason(error: Exception) -> str:
    """What another library says is wrong, in one line however many it took."""
    return " ".join(str(error).split()) or type(error).__name__


class DataUnavailable(InvalidInput):
    """A named data set is neither on disk nor to be had from its public home."""
