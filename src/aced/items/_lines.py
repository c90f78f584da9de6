"""Texts in a file that holds one on each line."""

from __future__ import annotations

from pathlib import Path

from aced._errors import InvalidInput
from aced._tables import text_of
from aced.items._items import Items, text_items


def line_items(path: Path) -> Items:
    """The texts of a .txt file, one a line. Blank lines are left out; an id is the number of a line."""
    text = text_of(path, "items").replace("\r\n", "\n").replace("\r", "\n")
    lines = [(number, line.strip()) for number, line in enumerate(text.split("\n"), 1)]
    if not lines[-1][1]:
        lines.pop()  # what comes after the end of the last line
    found = [(number, line) for number, line in lines if line]
    if not found:
        raise InvalidInput("items", f"{path.name} holds no text; write one item on each line")
    texts, ids = [line for _, line in found], [str(number) for number, _ in found]
    return text_items(texts, ids, blank=len(lines) - len(found))
