"""Items from a file of texts or rows, or from a folder of images."""

from __future__ import annotations

import os
from pathlib import Path

from aced._errors import InvalidInput
from aced._files import check_file
from aced._tables import FORMATS, Table, read_table
from aced.items._cells import all_numbers, as_text, plain
from aced.items._folder import image_items
from aced.items._items import KINDS, Items, row_items, text_items

TEXT_NAMES = ("text", "content", "sentence", "body", "review", "title")
MOST_COLUMNS = 10_000
"""Most columns of a table whose rows are items."""
LONG = 20
"""A column whose cells are longer than this on average is prose, not a category."""


def read_items(
    path: str | os.PathLike[str],
    *,
    kind: str | None = None,
    column: str | None = None,
    id_column: str | None = None,
) -> Items:
    """The items of a folder of images, or of a .csv, .tsv, .jsonl or .parquet file at ``path``.

    A table with one obvious column of text gives texts: a column with a usual name, or the only one
    with long texts. Any other table gives rows. ``kind`` and ``column`` overrule this. Ids come from
    ``id_column``, else from a column called id, else they are 1, 2, …; an image's id is its path.
    """
    place = Path(path)
    if kind is not None and kind not in KINDS:
        raise InvalidInput("items", f"kind {kind!r} is unknown; use {', '.join(KINDS)}")
    if not place.exists():
        raise InvalidInput("items", f"there is no file or folder {place}")
    if place.is_dir():
        return _from_folder(place, kind, column, id_column)
    check_file("items", place)
    if place.suffix.lower() not in FORMATS:
        raise InvalidInput(
            "items",
            f"{place.name} is neither a folder of images nor a file that ends in {', '.join(FORMATS)}",
        )
    if kind == "image":
        raise InvalidInput("items", f"{place.name} is a file; images are read from a folder")
    if kind == "row" and column is not None:
        raise InvalidInput(
            "items", f"column {column!r} asks for texts, but kind 'row' asks for rows; leave one out"
        )
    table = _read_table(place)
    ids, id_name = _ids(table, id_column, place.name)
    others = [name for name in table.columns if name != id_name]
    if kind != "row":
        chosen = _text_column(table, others, kind, column, place.name)
        if chosen is not None:
            return text_items([as_text(cell) for cell in table.column(chosen)], ids, chosen)
    if not others:
        raise InvalidInput("items", f"{place.name} has ids and no other column; add a column to show")
    if len(others) > MOST_COLUMNS:
        raise InvalidInput(
            "items",
            f"{place.name} has {len(others)} columns, and people can be shown {MOST_COLUMNS}; "
            "leave some out, or name the column of texts and pass features of your own",
        )
    rows = [
        {name: cell for name, cell in zip(table.columns, row, strict=True) if name != id_name}
        for row in table.rows
    ]
    return row_items(rows, ids, others)


def _read_table(path: Path) -> Table:
    """The table with plain cells. A column without a name gets one."""
    table = read_table(path, "items")
    if not table.rows and not any(table.columns):
        raise InvalidInput("items", f"{path.name} is empty; give it at least one row")
    if path.suffix.lower() in (".csv", ".tsv") and all_numbers(table.columns):
        raise InvalidInput(
            "items", f"the first line of {path.name} holds numbers; put the columns' names there"
        )
    if not table.rows:
        raise InvalidInput("items", f"{path.name} has no rows; give it at least one")
    names = [name or f"column {number}" for number, name in enumerate(table.columns, 1)]
    where = [f"items: column {name!r} of {path.name}" for name in names]
    rows = [[plain(cell, at) for cell, at in zip(row, where, strict=True)] for row in table.rows]
    return Table(names, rows, table.places)


def _from_folder(folder: Path, kind: str | None, column: str | None, id_column: str | None) -> Items:
    if kind not in (None, "image"):
        raise InvalidInput(
            "items", f"{folder} is a folder, which holds images; a {kind} comes from a file"
        )
    named = column if column is not None else id_column
    if named is not None:
        raise InvalidInput("items", f"{folder} is a folder and has no column {named!r}; leave it out")
    return image_items(folder)


def _no_column(name: str, columns: list[str], file: str) -> InvalidInput:
    some = ", ".join(columns[:12]) + (", …" if len(columns) > 12 else "")
    return InvalidInput("items", f"{file} has no column {name!r}; it has {some}")


def _ids(table: Table, id_column: str | None, file: str) -> tuple[list[str], str | None]:
    """The ids, and the column they came from."""
    name = id_column
    if name is None:
        name = next((column for column in table.columns if column.lower() == "id"), None)
    elif name not in table.columns:
        raise _no_column(name, table.columns, file)
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


def _text_column(
    table: Table, others: list[str], kind: str | None, column: str | None, file: str
) -> str | None:
    if column is not None:
        if column not in table.columns:
            raise _no_column(column, table.columns, file)
        return column
    chosen = _obvious(table, others)
    if chosen is None and kind == "text":
        raise InvalidInput(
            "items",
            f"the column of texts in {file} is not clear; name one of {', '.join(others[:12])}",
        )
    return chosen


def _obvious(table: Table, columns: list[str]) -> str | None:
    """The one column of text, if there is one."""
    worded = [
        name
        for name in columns
        if any(isinstance(cell, str) and cell.strip() for cell in table.column(name))
        and not all_numbers(table.column(name))
    ]
    for wanted in TEXT_NAMES:
        for name in worded:
            if name.lower() == wanted:
                return name
    if len(columns) == 1:
        return worded[0] if worded else None
    long = [name for name in worded if _is_prose(table.column(name))]
    return long[0] if len(long) == 1 else None


def _is_prose(cells: list[object]) -> bool:
    """Whether cells are long and mostly have words in them, unlike dates, addresses or checksums."""
    texts = [cell for cell in cells if isinstance(cell, str) and cell.strip()]
    worded = sum(len(text.split(maxsplit=2)) > 2 or not text.isascii() for text in texts)
    return sum(map(len, texts)) > LONG * len(texts) and 2 * worded > len(texts)
