"""What ``aced init`` says of a new project."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from aced.cli._columns import broken_words, choice_words, reading_words
from aced.cli._project import MOST_SHOWN, counted, percent, say, tallied
from aced.items import Items
from aced.ledger import Settings


def _listed(names: Sequence[str]) -> str:
    """The names, or the first ones of many; names that hold commas are in quotes.

    >>> _listed(["a", "b, c"]), _listed([f"c{i}" for i in range(30)])
    ('a, "b, c"', '30, the first are c0, c1, c2, c3, c4')
    """
    few = len(names) <= MOST_SHOWN
    shown = ", ".join(f'"{name}"' if "," in name else name for name in (names if few else names[:5]))
    return shown if few else f"{len(names)}, the first are {shown}"


def _proposed(found: tuple[Any, Any], names: Sequence[str]) -> str:
    """What is proposed, in words."""
    codes, sure = found
    counts = np.bincount(codes, minlength=len(names)).tolist()
    told = tallied(dict(zip(names, counts, strict=True)), "never")
    return told if sure is None else f"{told}; {percent(float(sure.mean()))} sure in the mean"


def _labelled(labels: Mapping[int, str], settings: Settings) -> str:
    """How many labels came with the items, in words."""
    if not labels:
        return "none; the column of labels is empty"
    counts = dict.fromkeys(settings.classes, 0)
    for name in labels.values():
        counts[name] += 1
    return f"{counted(len(labels), 'item')} labelled already, {tallied(counts, 'without labels')}"


def report(
    project: Path,
    items: Items,
    features: str,
    settings: Settings,
    proposed: tuple[Any, Any] | None,
    labels: Mapping[int, str],
) -> None:
    """Say what was made of the items, and what comes next; ``labels`` came with them, by row."""
    share = "shares" if items.duplicates == 1 else "share"
    notes = [f"{counted(items.duplicates, 'duplicate')} {share} a label"] if items.duplicates else []
    notes += [f"{counted(items.skipped, 'file')} left out"] if items.skipped else []
    notes += [f"{counted(items.blank, 'blank line')} left out"] if items.blank else []
    notes += [broken_words(items)] if items.broken else []
    lines = [
        f"{project}: {counted(len(items), items.kind)}{reading_words(items)}"
        + "".join(f"; {n}" for n in notes),
        *([] if (chosen := choice_words(items)) is None else [chosen]),
        f"classes: {_listed(settings.classes)}",
        *([f"labels: {_labelled(labels, settings)}"] if items.source and items.source.label else []),
        f"features: {features}",
        *([] if proposed is None else [f"proposals: {_proposed(proposed, settings.classes)}"]),
        f"rounds of at least {counted(settings.batch, 'item')} "
        f"with {settings.strategy}, "
        f"{settings.check:.0%} of their draws uniform, so that accuracy is known",
        f"next: aced label {project}, or aced serve {project} to label in a browser",
    ]
    for line in lines:
        say(line)
