"""How an item looks in a terminal, and the lines around it."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from rich.color import Color
from rich.console import Console, Group, RenderableType
from rich.panel import Panel
from rich.style import Style
from rich.table import Table
from rich.text import Text

from aced._files import check_file
from aced.cli._project import accuracy_words, counted, duration, visible
from aced.ledger import Draw
from aced.project import Item, guess

FRAME = 9
"""Lines around an item: its frame, the status line, the keys, a note."""
SMALLEST = 5
FIRST = 1_000_000
"""Most characters of a text, or of a cell, that are shown."""
PREVIEW = (60, 48)
"""Largest width and height of a preview, in pixels. A block character holds two, one above the other."""


def show_item(
    console: Console,
    item: Item,
    root: str | None,
    page: int,
    around: int = FRAME,
    more: str = "m",
) -> RenderableType:
    """The item in a frame. Of a long item one page, counted from 0; the first follows the last.

    ``around`` lines of the screen are for other things; ``more`` is the key that turns the page.
    """
    body: RenderableType
    if item.kind == "image":
        body = _image(console, str(item.content), root, around)
    elif _is_empty(item.content):
        body = Text("This item is empty.", style="dim")
    elif item.kind == "row":
        body = _row({**item.content, **(item.shown or {})})
    else:
        body = Text(_cut(item.content))
        if item.shown:
            body = Group(body, Text(), _row(item.shown))
    title = Text(visible(item.id))
    if item.kind == "image" or not console.is_terminal:
        return Panel(body, title=title, title_align="left")
    lines = console.render_lines(body, console.options.update(width=max(10, console.width - 4)))
    room = max(SMALLEST, console.height - around)
    if len(lines) <= room:
        return Panel(body, title=title, title_align="left")
    pages = -(-len(lines) // room)
    start = page % pages * room
    part = Text("\n").join(
        Text.assemble(*((segment.text, segment.style or "") for segment in line))
        for line in lines[start : start + room]
    )
    under = f"page {page % pages + 1} of {pages}, {more} for more"
    return Panel(part, title=title, title_align="left", subtitle=under, subtitle_align="right")


def _is_empty(content: Any) -> bool:
    """Whether a text, or all cells of a row, hold nothing that can be seen."""
    cells = content.values() if isinstance(content, dict) else (content,)
    texts = ("" if cell is None else str(cell) for cell in cells)
    return not any(letter.isprintable() and not letter.isspace() for text in texts for letter in text)


def _cut(content: Any) -> str:
    """The first characters of a text: to lay out more would take minutes."""
    text = str(content)
    return visible(text) if len(text) <= FIRST else f"{visible(text[:FIRST])}… ({len(text)} characters)"


def _row(content: Any) -> Table:
    table = Table(show_header=False, box=None, pad_edge=False)
    table.add_column(style="dim", overflow="fold")
    table.add_column(overflow="fold")
    for name, value in dict(content).items():
        table.add_row(Text(visible(name)), Text("" if value is None else _cut(value)))
    return table


def _image(console: Console, name: str, root: str | None, around: int) -> RenderableType:
    path = Path(root or ".") / name
    line = Text(visible(path))
    if console.color_system is None:
        return line
    try:
        return Group(_blocks(path, console, around), line)
    except Exception as error:  # Pillow has no common exception for files it cannot read
        return Group(line, Text(f"cannot be shown here: {visible(error)}", style="dim"))


def _blocks(path: Path, console: Console, around: int) -> Text:
    """The image in half blocks, each in two colours."""
    from PIL import Image

    check_file("image", path)
    status = path.stat()
    image = _on_white(path, status.st_size, status.st_mtime_ns)
    tallest = 2 * max(SMALLEST, console.height - around - 1)
    most = (min(PREVIEW[0], console.width - 6), min(PREVIEW[1], tallest))
    scale = min(most[0] / image.width, most[1] / image.height)
    how = Image.Resampling.NEAREST if scale > 1 else Image.Resampling.BOX
    size = (max(1, int(image.width * scale)), max(2, int(image.height * scale) // 2 * 2))
    text = Text(no_wrap=True)
    lines = np.asarray(image.resize(size, how)).tolist()
    for above, below in zip(lines[::2], lines[1::2], strict=True):
        for upper, lower in zip(above, below, strict=True):
            text.append("▀", Style(color=Color.from_rgb(*upper), bgcolor=Color.from_rgb(*lower)))
        text.append("\n")
    text.rstrip()
    return text


@lru_cache(maxsize=2)
def _on_white(path: Path, size: int, changed: int) -> Any:
    """A small copy of the image. A key that only turns a page does not decode the file again."""
    from PIL import Image

    from aced._preview import preview

    image = preview(path, 8 * max(PREVIEW)).convert("RGBA")
    return Image.alpha_composite(Image.new("RGBA", image.size, "white"), image).convert("RGB")


def status_line(progress: dict[str, Any]) -> Text:
    """How far labelling is, how accurate the classifier is, and how long the rest may take."""
    done = f"{progress['labelled']} of {progress['total']} labelled"
    parts = [done, f"accuracy {accuracy_words(progress['accuracy'], progress['audit'])}"]
    if progress["labels_left"] is not None:
        time = "" if progress["seconds_left"] is None else f", {duration(progress['seconds_left'])}"
        parts.append(
            f"about {counted(progress['labels_left'], 'label')}{time} left"
            if progress["labels_left"]
            else "more labels gain little"
        )
    parts.append(f"{progress['mine']} by you, {progress['today']} today")
    return Text(" · ".join(parts), style="dim")


def why(draw: Draw | None) -> Text:
    """Why a row was drawn, in words, without what the classifier takes it for."""
    if draw is None:
        return Text("This item was never drawn: nobody asked for it.")
    text = f"Round {draw.round}, drawn with probability {draw.probability:.3g}"
    if draw.check:
        return Text(f"{text}: a check row, drawn at random to estimate accuracy.")
    note, parts = draw.note, [text]
    if "spare" in note:
        parts.append("given out of turn, because the next round was not ready")
    if "lam" in note:
        parts.append(f"the design gives it {note['lam']:.2g} times the weight of an average item")
    if "separates" in note:
        told = f"{note['separates']} of {note['of']} rival classifiers"
        parts.append(f"it tells {told} apart from the best so far")
    return Text("; ".join(parts) + ".")


def opinion(draw: Draw | None, names: list[str]) -> Text:
    """What classifiers took a row for when it was drawn, if they knew; ``names`` are by code."""
    note, parts = {} if draw is None else draw.note, []
    guessed = guess(note)
    if guessed is not None:
        code, sure = guessed
        parts.append(f"The classifier says {visible(names[code])} with {100 * sure:.0f} %.")
    if "incumbent" in note:
        parts.append(f"The best classifier so far says {visible(names[note['incumbent']])}.")
    return Text(" ".join(parts))
