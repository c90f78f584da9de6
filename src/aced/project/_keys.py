"""Which key stands for which class."""

from __future__ import annotations

from collections.abc import Sequence

COMMANDS = "suzwqm"
"""Skip, unsure, undo, why, quit, more."""


def class_keys(classes: Sequence[str]) -> dict[str, str]:
    """The keys of each class: a number, and its first letter if that is no key of anything else.

    If names begin with digits, these digits are the keys, so that 1 never means a class called 0.

    >>> class_keys(["spam", "ham"])
    {'1': 'spam', '2': 'ham', 'h': 'ham'}
    >>> class_keys(["0", "1"])
    {'0': '0', '1': '1'}
    """
    first = {name.strip()[0].lower(): name for name in classes}
    if len(first) < len(classes):
        first = {}
    numbers = {str(place): name for place, name in enumerate(classes, 1)}
    if any(letter.isdigit() for letter in first) and not any(letter in COMMANDS for letter in first):
        return first
    return numbers | {
        letter: name
        for letter, name in first.items()
        if letter not in COMMANDS and letter not in numbers
    }
