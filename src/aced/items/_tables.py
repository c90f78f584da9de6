"""Tables from files: .csv, .tsv, .jsonl and .parquet, as columns and rows of plain values."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aced._errors import InvalidInput
from aced.items._cells import as_number, plain

LINES = (".jsonl", ".ndjson")
ENDINGS = (".csv", ".tsv", *LINES, ".parquet")
LONGEST = 2**27
"""Characters in one cell; the csv module's own limit of 131072 is short for documents."""


@dataclass(frozen=True)
class Table:
    """Rows of cells, each a text, a number, a bool or None."""

    columns: list[str]
    rows: list[list[Any]]

    def column(self, name: str) -> list[Any]:
        """All cells of one column."""
        place = self.columns.index(name)
        return [row[place] for row in self.rows]


def read_table(path: Path, argument: str) -> Table:
    """Read a file by its ending."""
    ending = path.suffix.lower()
    if ending == ".parquet":
        table = _from_parquet(path, argument)
    elif ending in LINES:
        table = _from_lines(path, argument)
    else:
        table = _from_records(path, argument)
    if not table.rows:
        raise InvalidInput(argument, f"{path.name} has no rows; give it at least one")
    repeated = next((name for name in table.columns if table.columns.count(name) > 1), None)
    if repeated is not None:
        raise InvalidInput(argument, f"{path.name} has more than one column {repeated!r}; rename one")
    return table


def records(path: Path, argument: str) -> list[list[str]]:
    """The lines of a .csv or .tsv file, all as long as the first; empty ones are passed over."""
    text = _decoded(path, argument)
    head = text.split("\n", 1)[0]
    separator = ";" if head.count(";") > head.count(",") else ","  # ; is what some locales' Excel writes
    if path.suffix.lower() == ".tsv":
        separator = "\t"
    found: list[list[str]] = []
    with _long_cells():
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
        try:
            for record in reader:
                if not record or (len(record) > 1 and not any(cell.strip() for cell in record)):
                    continue
                if found and len(record) != len(found[0]):
                    raise InvalidInput(
                        argument,
                        f"line {reader.line_num} of {path.name} has {len(record)} values "
                        f"where the first line has {len(found[0])}; repair it, or quote its text",
                    )
                found.append(record)
        except csv.Error as error:
            raise InvalidInput(
                argument,
                f"line {reader.line_num} of {path.name} cannot be read ({error}); repair its quotes",
            ) from error
    return found


@contextmanager
def _long_cells() -> Iterator[None]:
    before = csv.field_size_limit(LONGEST)
    try:
        yield
    finally:
        csv.field_size_limit(before)


def _from_records(path: Path, argument: str) -> Table:
    found = records(path, argument)
    if not found:
        raise InvalidInput(argument, f"{path.name} is empty; give it a line of names and some rows")
    head = [name.strip() or f"column {place}" for place, name in enumerate(found[0], 1)]
    if all(as_number(name) is not None for name in found[0]):
        raise InvalidInput(
            argument, f"the first line of {path.name} holds numbers; put the columns' names there"
        )
    return Table(head, list(found[1:]))


def _from_lines(path: Path, argument: str) -> Table:
    found: list[dict[str, Any]] = []
    columns: dict[str, None] = {}
    for number, line in enumerate(_decoded(path, argument).split("\n"), 1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
        except (ValueError, RecursionError):
            record = None
        if not isinstance(record, dict):
            raise InvalidInput(
                argument,
                f"line {number} of {path.name} is no JSON object; "
                'write each item as {"column": value, …} on a line of its own',
            )
        found.append(record)
        columns.update(dict.fromkeys(record))
    where = f"{argument}: {path.name}"
    return Table(
        list(columns), [[plain(record.get(name), where) for name in columns] for record in found]
    )


def _from_parquet(path: Path, argument: str) -> Table:
    table = read_parquet(path, argument)
    cells = [
        [plain(value, f"{argument}: column {name!r} of {path.name}") for value in column.to_pylist()]
        for name, column in zip(table.column_names, table.columns, strict=True)
    ]
    return Table(list(table.column_names), [list(row) for row in zip(*cells, strict=True)])


def read_parquet(path: Path, argument: str) -> Any:
    """A pyarrow table."""
    try:
        import pyarrow as pa
        import pyarrow.parquet
    except ImportError as error:
        raise InvalidInput(
            argument, "reading .parquet files needs pyarrow; pip install 'aced[tables]'"
        ) from error
    try:
        return pyarrow.parquet.ParquetFile(path).read()
    except (pa.ArrowException, OSError) as error:
        raise InvalidInput(argument, f"{path.name} is not a readable Parquet file") from error


def _decoded(path: Path, argument: str) -> str:
    """The file's text; a byte order mark is passed over."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise InvalidInput(argument, f"{path} cannot be read ({error.strerror})") from error
    if not content.strip():
        raise InvalidInput(argument, f"{path.name} is empty; give it at least one row")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise InvalidInput(
            argument, f"line {line} of {path.name} is not UTF-8; save the file as UTF-8"
        ) from error
