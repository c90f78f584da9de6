"""Items from a file of texts or rows, or from a folder of images."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from aced._errors import InvalidInput
from aced._files import check_file
from aced._tables import FORMATS, Table, read_table
from aced.items._cells import all_numbers, as_text, plain
from aced.items._columns import Columns, obvious, some, texts_among
from aced.items._folder import image_items
from aced.items._items import KINDS, Items, Source, row_items, text_items
from aced.items._lines import line_items

LINES = ".txt"
"""The ending of a file with a text on each line."""
MOST_COLUMNS = 10_000
"""Most columns of a table whose rows are items."""
BETWEEN = "\n\n"
"""What stands between two columns that make one text."""


def read_items(
    path: str | os.PathLike[str],
    *,
    kind: str | None = None,
    column: str | None = None,
    id_column: str | None = None,
    columns: Sequence[str] | None = None,
    show: Sequence[str] = (),
    exclude: Sequence[str] = (),
    label_column: str | None = None,
    before: Mapping[str, Any] | None = None,
    skip_broken: bool = False,
) -> Items:
    """The items of a folder of images, or of a file at ``path``.

    A .txt file has a text on each line. A .csv, .tsv, .jsonl, .parquet or .xlsx file is a table.
    A table with one obvious column of text gives texts: a column with a usual name, or the only one
    with long texts. Any other table gives rows. ``kind`` and ``column`` overrule this. ``columns`` make
    one text if one of them holds texts, and else the features of a row. People are also shown the
    columns of ``show``. ``exclude`` and ``label_column`` are neither shown nor learned from. Ids come
    from ``id_column``, else from a column called id, else they are 1, 2, …; an image's id is its path.
    ``before`` (:func:`reading_of`) reads a file as another one was read, where nothing else is named.
    ``skip_broken`` leaves out images that cannot be read, which are else refused.
    """
    place = Path(path)
    if kind is not None and kind not in KINDS:
        raise InvalidInput("items", f"kind {kind!r} is unknown; use {', '.join(KINDS)}")
    if not place.exists():
        raise InvalidInput("items", f"there is no file or folder {place}")
    if column is not None and columns is not None:
        raise InvalidInput("column and columns", "are both given; leave one out")
    learned = columns if column is None else [column]
    named = Columns(learned, show, exclude, label_column, id_column, before)
    if place.is_dir():
        return _from_folder(place, kind, named, skip_broken)
    check_file("items", place)
    if skip_broken:
        raise InvalidInput("skip_broken", f"is about images in a folder; leave it out for {place.name}")
    if place.suffix.lower() not in (LINES, *FORMATS):
        raise InvalidInput(
            "items",
            f"{place.name} is neither a folder of images nor a file that ends in "
            f"{', '.join((LINES, *FORMATS))}",
        )
    if kind == "image":
        raise InvalidInput("items", f"{place.name} is a file; images are read from a folder")
    if kind == "row" and column is not None:
        raise InvalidInput(
            "items", f"column {column!r} asks for texts, but kind 'row' asks for rows; leave one out"
        )
    if place.suffix.lower() == LINES:
        return _from_lines(place, kind, named)
    table = _read_table(place)
    if column is not None and column not in table.columns:
        raise InvalidInput(
            "items", f"{place.name} has no column {column!r}; it has {some(table.columns)}"
        )
    return _from_table(table, named.of(table, place.name), "text" if column else kind, place.name)


def reading_of(items: Items) -> dict[str, Any] | None:
    """How the table of these items was read, for :func:`read_items`; None if there was no table."""
    source = items.source
    if source is None:
        return None
    found: dict[str, Any] = {"kind": items.kind, "columns": source.learned, "named": source.named}
    more = {
        "show": source.shown,
        "exclude": source.left_out,
        "label_column": source.label,
        "id_column": source.ids,
    }
    return found | {name: value for name, value in more.items() if value}


def _from_table(table: Table, named: Columns, kind: str | None, file: str) -> Items:
    ids, id_name = _ids(table, named, file)
    aside = (id_name, *named.left_out, named.label)
    free = [name for name in table.columns if name not in aside]
    chosen = named.learned is not None
    others = list(named.learned or [name for name in free if name not in named.shown])
    texts = [] if kind == "row" else texts_among(table, others)
    learned = None if kind == "row" else _text_columns(table, others, texts, chosen, kind, file)
    source = Source(
        table=table,
        learned=others if learned is None else learned,
        named=chosen,
        left=[name for name in texts if name not in (learned or [])],
        free=free,
        shown=list(named.shown),
        left_out=list(named.left_out),
        label=named.label,
        ids=named.ids,
    )
    shown = _cells(table, source.shown) if source.shown else None
    if learned is not None:
        return text_items(_texts(table, learned), ids, learned, shown, source)
    if not others:
        if free:
            raise InvalidInput("items", f"{file} has no other column to learn from; show fewer of them")
        raise InvalidInput("items", f"{file} has ids and no other column; add a column to show")
    if len(others) > MOST_COLUMNS:
        raise InvalidInput(
            "items",
            f"{file} has {len(others)} columns, and people can be shown {MOST_COLUMNS}; "
            "leave some out, or name the column of texts and pass features of your own",
        )
    return row_items(_cells(table, others), ids, others, shown, source)


def _texts(table: Table, names: list[str]) -> list[str]:
    """The texts of these columns. Several make one text, with a blank line between them."""
    cells = [[as_text(cell) for cell in table.column(name)] for name in names]
    if len(cells) == 1:
        return cells[0]
    return [
        BETWEEN.join(part.strip() for part in parts if part.strip())
        for parts in zip(*cells, strict=True)
    ]


def _cells(table: Table, names: list[str]) -> list[dict[str, Any]]:
    """The cells of these columns, row by row."""
    places = [table.columns.index(name) for name in names]
    return [{name: row[place] for name, place in zip(names, places, strict=True)} for row in table.rows]


def _read_table(path: Path) -> Table:
    """The table with plain cells. A column without a name gets one."""
    table = read_table(path, "items")
    if not table.rows and not any(table.columns):
        raise InvalidInput("items", f"{path.name} is empty; give it at least one row")
    if path.suffix.lower() in (".csv", ".tsv", ".xlsx") and all_numbers(table.columns):
        raise InvalidInput(
            "items", f"the first line of {path.name} holds numbers; put the columns' names there"
        )
    if not table.rows:
        raise InvalidInput("items", f"{path.name} has no rows; give it at least one")
    names = [name or f"column {number}" for number, name in enumerate(table.columns, 1)]
    where = [f"items: column {name!r} of {path.name}" for name in names]
    rows = [[plain(cell, at) for cell, at in zip(row, where, strict=True)] for row in table.rows]
    return Table(names, rows, table.places)


def _from_lines(path: Path, kind: str | None, named: Columns) -> Items:
    if kind == "row":
        raise InvalidInput("items", f"{path.name} holds texts, one a line; a row comes from a table")
    if named.named is not None:
        raise InvalidInput(
            "items", f"{path.name} holds a text a line and has no column {named.named!r}; leave it out"
        )
    return line_items(path)


def _from_folder(folder: Path, kind: str | None, named: Columns, skip_broken: bool) -> Items:
    if kind not in (None, "image"):
        raise InvalidInput(
            "items", f"{folder} is a folder, which holds images; a {kind} comes from a file"
        )
    if named.named is not None:
        raise InvalidInput(
            "items", f"{folder} is a folder and has no column {named.named!r}; leave it out"
        )
    return image_items(folder, skip_broken)


def _ids(table: Table, named: Columns, file: str) -> tuple[list[str], str | None]:
    """The ids, and the column they came from."""
    name = named.ids
    if name is None:
        apart = (*named.left_out, named.label)
        found = (one for one in table.columns if one.lower() == "id" and one not in apart)
        name = next(found, None)
    if name is None:
        return [str(number) for number in range(1, len(table.rows) + 1)], None
    ids = [as_text(cell).strip() for cell in table.column(name)]
    if "" in ids:
        raise InvalidInput(
            "items",
            f"row {ids.index('') + 1} of {file} has nothing in its column of ids {name!r}; "
            "fill it in or name another column of ids",
        )
    return ids, name


def _text_columns(
    table: Table, others: list[str], texts: list[str], named: bool, kind: str | None, file: str
) -> list[str] | None:
    """The columns that make the texts; None if the rows are the items."""
    found = obvious(table, others, texts)
    if named:
        return others if kind == "text" or found or texts else None
    if found is None and kind == "text":
        raise InvalidInput(
            "items",
            f"the column of texts in {file} is not clear; name one or several of {some(others)}",
        )
    return None if found is None else [found]
