"""Which key stands for which class, and which classes a few typed letters may mean.

Up to ``MOST_KEYS`` classes have keys: a digit and, where one is free, a letter. More are chosen by
typing the first letters of a name: a list narrows, and Enter takes the class that is marked in it.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence

COMMANDS = "suzwqm"
"""Skip, unsure, undo, why, quit, more."""
PREFIX = "/"
"""Before a command's letter, where letters are typed to choose a class."""
MOST_KEYS = 9
"""Classes that have keys; one more if each name begins with a digit of its own, as those of 0 to 9."""


def class_keys(classes: Sequence[str], codes: Sequence[int] | None = None) -> dict[str, str]:
    """The keys of each class; none if there are too many classes, which are then chosen by typing.

    Each class has a digit: the one its name begins with if no other name does, so that 1 never means
    a class called 0, or else its code (by default its place, from 0) plus one, or the next digit that
    is free. Its letter is the first letter of its name that is neither a command nor a key of a class
    before it. Therefore a class added at the end changes no key, and a class that goes changes no digit.

    >>> class_keys(["cat", "cow", "dog", "sheep"])
    {'1': 'cat', '2': 'cow', '3': 'dog', '4': 'sheep', 'c': 'cat', 'o': 'cow', 'd': 'dog', 'h': 'sheep'}
    >>> class_keys([f"{digit}" for digit in range(10)])["7"]
    '7'
    >>> class_keys([f"kind {place}" for place in range(30)])
    {}

    Two classes keep the keys that they have always had: a letter only if it is the first one. If one
    of the two names begins with a digit, their first letters are the only keys.

    >>> class_keys(["spam", "ham"])
    {'1': 'spam', '2': 'ham', 'h': 'ham'}
    >>> class_keys(["0", "1"])
    {'0': '0', '1': '1'}
    """
    if len(classes) == 2:
        return _two(classes)
    digits = _digits(classes, range(len(classes)) if codes is None else codes)
    if len(digits) < len(classes):
        return {}
    return digits | _letters(classes)


def _two(classes: Sequence[str]) -> dict[str, str]:
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


def _digits(classes: Sequence[str], codes: Sequence[int]) -> dict[str, str]:
    """A digit for each class; fewer digits than classes if there are not enough."""
    begins = [name.strip()[:1] for name in classes]
    own = {
        digit: name
        for digit, name in zip(begins, classes, strict=True)
        if digit.isascii() and digit.isdigit() and begins.count(digit) == 1
    }
    named = set(own.values())
    free = [str(digit) for digit in range(1, MOST_KEYS + 1) if str(digit) not in own]
    found = dict(own)
    # First those who can have their own digit, so that nobody else takes it.
    late = []
    for name, digit in zip(classes, (str(code + 1) for code in codes), strict=True):
        if name in named:
            continue
        if digit in free:
            free.remove(digit)
            found[digit] = name
        else:
            late.append(name)
    found |= zip(free, late, strict=False)
    return dict(sorted(found.items()))


def _letters(classes: Sequence[str]) -> dict[str, str]:
    """A letter for each class that has a free one, in the order of the classes."""
    found: dict[str, str] = {}
    for name in classes:
        composed = unicodedata.normalize("NFC", name.lower())
        free = (letter for letter in composed if letter.isalpha() and letter not in {*COMMANDS, *found})
        letter = next(free, None)
        if letter is not None:
            found[letter] = name
    return found


# -- typing -----------------------------------------------------------------------------


def narrow(classes: Sequence[str], typed: str) -> list[str]:
    """The classes that ``typed`` may mean: names that begin with it, then names with such a word.

    Capitals and accents do not matter. The order is that of the classes.

    >>> narrow(["red deer", "Ren", "deer"], "de")
    ['deer', 'red deer']
    >>> narrow(["Ärger", "Freude"], "arg")
    ['Ärger']
    """
    wanted = plain(typed).lstrip()
    if not wanted:
        return list(classes)
    first = [name for name in classes if plain(name).strip().startswith(wanted)]
    return first + [
        name
        for name in classes
        if name not in first and any(rest.startswith(wanted) for rest in _rests(plain(name)))
    ]


def picked_by_digits(classes: Sequence[str]) -> bool:
    """Whether a digit picks from the list that is shown: no name has a digit, which would be typed."""
    return not any(letter.isdigit() for name in classes for letter in name)


def plain(text: str) -> str:
    """Small letters without accents, as a name is compared with what is typed."""
    apart = unicodedata.normalize("NFKD", text.lower())
    return "".join(letter for letter in apart if not unicodedata.combining(letter))


def _rests(name: str) -> Iterator[str]:
    """What is left of a name from each of its words on."""
    for place in range(1, len(name)):
        if name[place].isalnum() and not name[place - 1].isalnum():
            yield name[place:]
