"""What the commands about projects share."""

from __future__ import annotations

import getpass
import json
import math
import sys
import threading
import time
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.text import Text

from aced._check import share
from aced._errors import InvalidInput
from aced.project import Project

Folder = Annotated[Path, typer.Argument(metavar="PROJECT", help="Folder made by aced init.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
SOON = 2.0
"""Seconds of work after which a bar is shown."""
MOST_SHOWN = 12
"""Classes that are all shown, also those without any label."""


def print_json(record: Any) -> None:
    sys.stdout.write(json.dumps(record, indent=2, ensure_ascii=False, allow_nan=False) + "\n")


def say(line: str, stderr: bool = False) -> None:
    """Print one line, which is not wrapped in a narrow terminal."""
    Console(stderr=stderr).print(Text(visible(line)), soft_wrap=True)


@contextmanager
def working(what: str) -> Iterator[None]:
    """Show a moving bar for work of unknown length once it has taken ``SOON`` seconds."""
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}", markup=False), BarColumn(), TimeElapsedColumn())
    bar = Progress(*columns, console=Console(stderr=True), transient=True)
    bar.add_task(what, total=None)
    timer = threading.Timer(SOON, bar.start)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        timer.join()
        if bar.live.is_started:
            bar.stop()


def local_name() -> str:
    """The login name of the person at this machine."""
    try:
        return getpass.getuser()
    except (OSError, KeyError):  # no such user in the system's list
        return "me"


def let_in(project: Project, name: str | None) -> str:
    """The person who labels here; a new name is let in, a revoked one is not."""
    who = local_name() if name is None else name
    known = project.state.people.get(who)
    if known is None:
        project.add_person(who, "lead" if name is None else "annotator", token=False)
    elif not known.active:
        raise InvalidInput("as", f"{who!r} may no longer label here; let them in with aced invite")
    return who


def visible(text: object) -> str:
    """Text without what could steer a terminal: control characters become pictures of themselves."""
    return "".join(_picture(c) if unicodedata.category(c) in ("Cc", "Cf") else c for c in str(text))


def _picture(character: str) -> str:
    code = ord(character)
    if character in "\n\t\u200d\u200c":  # the last two join letters and pictures
        return character
    return chr(0x2400 + code) if code < 0x20 else "\u2421" if code == 0x7F else "\ufffd"


def counted(number: int, what: str) -> str:
    """A number of things.

    >>> counted(1, "item"), counted(2, "item"), counted(0, "item")
    ('1 item', '2 items', '0 items')
    """
    return f"{number} {what}{'s' * (number != 1)}"


def tallied(counts: dict[str, int], without: str) -> str:
    """How many there are of each class, the largest first; of many classes, only those with some.

    >>> tallied({"a": 1, "b, c": 3, "d": 0}, "without labels")
    'b, c: 3 · a: 1 · d: 0'
    >>> tallied({f"kind {i}": max(0, i - 97) for i in range(100)}, "without labels")
    'kind 99: 2 · kind 98: 1 · and 98 without labels'
    """
    order = sorted(counts, key=lambda name: -counts[name])
    shown = order if len(order) <= MOST_SHOWN else [name for name in order if counts[name]]
    parts = [f"{visible(name)}: {counts[name]}" for name in shown]
    if shown and len(shown) < len(order):
        parts.append(f"and {len(order) - len(shown)} {without}")
    return " · ".join(parts) or f"all {len(order)} {without}"


def percent(value: float | None) -> str:
    return "-" if value is None else f"{100 * value:.1f} %"


def duration(seconds: float | None) -> str:
    """A length of time as people say it.

    >>> [duration(s) for s in (4, 75, 130, 3 * 3600 + 120, 50 * 3600)]
    ['4 s', '75 s', '3 min', '3.0 h', '2.1 days']
    """
    if seconds is None:
        return "-"
    if seconds < 100:
        return f"{seconds:.0f} s"
    if seconds < 3600:
        return f"{math.ceil(seconds / 60)} min"
    return f"{seconds / 3600:.1f} h" if seconds < 86400 else f"{seconds / 86400:.1f} days"


def clock(at: float | None) -> str:
    return "-" if at is None else time.strftime("%Y-%m-%d %H:%M", time.localtime(at))


def only_one_stop(given: dict[str, Any]) -> None:
    """Refuse two conditions for stopping."""
    named = [f"stop_{name}" for name, value in given.items() if value is not None]
    if len(named) > 1:
        raise InvalidInput(" and ".join(named[:2]), "are both given; leave one out")


def share_of(argument: str, given: str, names: list[str]) -> tuple[float, str]:
    """The share and the class in words like ``0.95:CLASS``.

    >>> share_of("stop_recall", "0.9:a:b", ["a:b", "c"])
    (0.9, 'a:b')
    """
    number, colon, name = given.partition(":")
    try:
        wanted = share(argument, float(number))
    except ValueError:
        colon = ""
    if not colon or name not in names:
        some = ", ".join(names[:MOST_SHOWN])
        raise InvalidInput(argument, f"must be like 0.95:CLASS, with a class of {some}; got {given!r}")
    return wanted, name


SHORT = 2.0
"""Fewer hours than this are shown in minutes."""


def saved_words(found: dict[str, Any]) -> str:
    """What was saved or lost against random labelling, with its band.

    >>> parts = {"labels": {"middle": 180, "low": -20, "high": 400}, "hours": None, "money": None}
    >>> saved_words({"labels": 200, "random": 380, "saved": parts})
    'about 180 labels saved (20 lost to 400 saved): random labelling takes about 380 for what took 200'
    >>> parts["labels"]["middle"] = 1
    >>> saved_words({"labels": 2, "random": 3, "saved": parts})[:19]
    'about 1 label saved'
    """
    parts = found["saved"]
    one = round(abs(parts["labels"]["middle"])) == 1
    labels = _saved(parts["labels"], " label" if one else " labels", 0)
    more = []
    if (hours := parts["hours"]) is not None:
        minutes = {end: 60 * number for end, number in hours.items()}
        short = max(map(abs, hours.values())) < SHORT
        more.append(_saved(minutes, " min", 0) if short else _saved(hours, " h", 1))
    if parts["money"] is not None:
        more.append(_saved(parts["money"], " in money", 2))
    took = f"random labelling takes about {found['random']} for what took {found['labels']}"
    return "; ".join([f"about {labels}: {took}", *more])


def _saved(found: dict[str, float], unit: str, digits: int) -> str:
    """A number with its band; below zero it was lost."""
    words = {end: f"{abs(number):,.{digits}f}" for end, number in found.items()}
    signs = {end: "lost" if number < 0 else "saved" for end, number in found.items()}
    middle = f"{words['middle']}{unit} {signs['middle']}"
    if signs["low"] == signs["high"] == signs["middle"]:
        low, high = (words[end] for end in sorted(("low", "high"), key=lambda end: abs(found[end])))
        return f"{middle} ({low} to {high})"
    return f"{middle} ({words['low']} {signs['low']} to {words['high']} {signs['high']})"


def stop_words(found: dict[str, Any]) -> str:
    """Whether labelling may stop, as a sentence.

    >>> stop_words({"reached": True, "claim": "at least 95.1 % of it", "ahead": None})
    'You can stop: at least 95.1 % of it.'
    """
    if found["reached"]:
        return f"You can stop: {found['claim']}."
    return f"Not yet: {found['claim']}."


def accuracy_words(found: dict[str, float] | None, audit: bool = False) -> str:
    if found is None:
        return "not known yet"
    labels = counted(round(found["checked"]), "label")
    return (
        f"{percent(found['estimate'])} ({percent(found['low'])} to {percent(found['high'])}, "
        f"95 % {'certificate' if audit else 'interval'} from {labels})"
    )
