"""Markdown in which no text can be more than text, and names of files that are made, never taken."""

from __future__ import annotations

import re

LONGEST = 60
"""Most characters of a file's name, without a number and the ending."""

_MARKED = re.compile(r"[\\`*_{}\[\]<>|~$&!]")


def plain(text: str) -> str:
    """The text on one line, with a backslash before each character that Markdown gives a meaning.

    >>> print(plain("a|b <img>"))
    a\\|b \\<img\\>
    """
    return _MARKED.sub(r"\\\g<0>", " ".join(text.split()))


def file_name(title: str, taken: set[str]) -> str:
    """A name from the letters a to z, digits and hyphens of a title, which is not yet ``taken``.

    >>> taken = set()
    >>> [file_name(title, taken) for title in ("svhn-c0", "../../x", "x", "X", "")]
    ['svhn-c0', 'x', 'x-2', 'X-3', 'figure']
    """
    stem = re.sub(r"[^A-Za-z0-9]+", "-", title)[:LONGEST].strip("-") or "figure"
    name, number = stem, 1
    while name.lower() in taken:  # some disks take x and X for the same name
        number += 1
        name = f"{stem}-{number}"
    taken.add(name.lower())
    return name
