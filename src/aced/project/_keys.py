"""Which key stands for which class, and which classes a few typed letters may mean.

Up to ``MOST_KEYS`` classes have keys: a digit and, where one is free, a letter. More are chosen by
typing the first letters of a name: a list narrows, and Enter takes the class that is marked in it.

Commands have letters, too, and a class goes before a command: a class whose name begins with the letter
of a command has this letter. The command is then a slash and its letter. With a slash first, every
letter is a command's, whatever the classes are. Terminal and page have the same rule.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Collection, Iterator, Sequence

from aced.project._classes import PREFIX, alike

COMMANDS = "suzwqm"
"""Skip, unsure, undo, why, quit, more."""
MOST_KEYS = 9
"""Classes that have keys; one more if each name begins with a digit of its own, as those of 0 to 9."""


def class_keys(classes: Sequence[str], codes: Sequence[int] | None = None) -> dict[str, str]:
    """The keys of each class; none if there are too many classes, which are then chosen by typing.

    Each class has a digit: the one that is its name, or that its name begins with if no other name
    does, so that 1 never means a class called 0, or else its code (by default its place, from 0) plus
    one, or the next digit that is free. Its letter is the one that is its name, or else the first letter
    of its name that is no key of a class before it and no command's, unless the name begins with it.
    Therefore, unless names are digits or single letters, a class added at the end changes no key of
    another class, and a class that goes no digit.

    >>> class_keys(["cat", "cow", "dog", "sheep"])
    {'1': 'cat', '2': 'cow', '3': 'dog', '4': 'sheep', 'c': 'cat', 'o': 'cow', 'd': 'dog', 's': 'sheep'}
    >>> class_keys(["cat", "case", "cosy"])
    {'1': 'cat', '2': 'case', '3': 'cosy', 'c': 'cat', 'a': 'case', 'o': 'cosy'}
    >>> class_keys([f"{digit}" for digit in range(10)])["7"]
    '7'
    >>> class_keys([f"kind {place}" for place in range(30)])
    {}
    >>> class_keys(["1", "10", "2", "20", "3"])
    {'1': '1', '2': '2', '3': '3', '4': '20', '5': '10'}

    Two classes have a letter only if it is the first one of their names, and different from that of the
    other. If one of the two names begins with a digit, and the other with another character that is no
    command, these are the only keys.

    >>> class_keys(["spam", "ham"])
    {'1': 'spam', '2': 'ham', 's': 'spam', 'h': 'ham'}
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
    numbers = _placed(classes, range(2), {name: name for name in classes if _is_digit(name)})
    if any(letter.isdigit() for letter in first) and not any(letter in COMMANDS for letter in first):
        return first
    return numbers | {letter: name for letter, name in first.items() if letter not in numbers}


def _digits(classes: Sequence[str], codes: Sequence[int]) -> dict[str, str]:
    """A digit for each class; fewer digits than classes if there are not enough."""
    begins = [name.strip()[:1] for name in classes]
    own = {
        digit: name
        for digit, name in zip(begins, classes, strict=True)
        if _is_digit(name) or (_is_digit(digit) and begins.count(digit) == 1)
    }
    return _placed(classes, codes, own)


def _is_digit(name: str) -> bool:
    return len(name) == 1 and name.isascii() and name.isdigit()


def _placed(classes: Sequence[str], codes: Sequence[int], own: dict[str, str]) -> dict[str, str]:
    """The digits ``own``, and for each other class its code plus one, or one that is free if any is."""
    owners = set(own.values())
    free = [str(digit) for digit in range(1, MOST_KEYS + 1) if str(digit) not in own]
    found = dict(own)
    # First those who can have their own digit, so that nobody else takes it.
    late = []
    for name, digit in zip(classes, (str(code + 1) for code in codes), strict=True):
        if name in owners:
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
    composed = {name: unicodedata.normalize("NFC", name.lower()) for name in classes}
    own = {one for one in composed.values() if len(one) == 1}  # nobody else's
    found: dict[str, str] = {}
    for name, letters in composed.items():
        taken = {*(set(COMMANDS) - {letters[:1]}), *found, *(own - {letters})}
        letter = next((one for one in letters if one.isalpha() and one not in taken), None)
        if letter is not None:
            found[letter] = name
    return found


def command_key(letter: str, keys: Collection[str]) -> str:
    """What is pressed for a command where classes have these ``keys``.

    >>> command_key("s", {"1", "h"}), command_key("s", {"1", "s"})
    ('s', '/s')
    """
    return f"{PREFIX}{letter}" if letter in keys else letter


# -- typing -----------------------------------------------------------------------------


def narrow(classes: Sequence[str], typed: str) -> list[str]:
    """The classes that ``typed`` may mean: the name itself, names that begin so, names with such a word.

    Capitals and accents do not matter. Within each of the three, the order is that of the classes.

    >>> narrow(["red deer", "Ren", "deer"], "de")
    ['deer', 'red deer']
    >>> narrow(["reddish", "infra red", "Red"], "red")
    ['Red', 'reddish', 'infra red']
    >>> narrow(["Ärger", "Freude"], "arg")
    ['Ärger']
    """
    wanted = plain(typed).lstrip()
    if not wanted:
        return list(classes)
    groups: tuple[list[str], ...] = ([], [], [])
    for name in classes:
        whole = plain(name).strip()
        if whole == wanted:
            groups[0].append(name)
        elif whole.startswith(wanted):
            groups[1].append(name)
        elif any(rest.startswith(wanted) for rest in _rests(whole)):
            groups[2].append(name)
    return [name for group in groups for name in group]


def named(classes: Sequence[str], typed: str) -> str | None:
    """The class whose full name was typed; None if there is none, or if only accents tell several apart.

    Capitals do not matter, and accents only where one character was typed, which may be a key.

    >>> named(["reddish", "Red"], "red"), named(["Ärger", "arger"], "ÄRGER"), named(["red"], "re")
    ('Red', 'Ärger', None)
    """
    for same in (str, alike, plain)[: 3 if len(typed) > 1 else 2]:
        found = [name for name in classes if same(name) == same(typed)]
        if found:
            return found[0] if len(found) == 1 else None
    return None


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
