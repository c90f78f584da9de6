"""Read tables from files, with the place of every row, so that an error can point at it."""

from __future__ import annotations

import codecs
import csv
import io
import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from aced._errors import InvalidInput, reason
from aced._excel import first_sheet
from aced._files import check_file
from aced._optional import needed

FORMATS = {
    ".csv": "csv",
    ".tsv": "csv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".parquet": "parquet",
    ".xlsx": "xlsx",
}
_MARKS = {  # those of UTF-32 first: one of them begins like one of UTF-16
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
LONGEST = 2**27
"""Most characters in one cell; the csv module's own limit of 131072 is too small for documents."""


@dataclass(frozen=True)
class Table:
    """The cells of a file, row by row; a place is "line 3" of a text or "row 3" of other files."""

    columns: list[str]
    rows: Sequence[Sequence[Any]]
    places: Sequence[str]

    def column(self, name: str) -> list[Any]:
        """All cells of one column."""
        place = self._places[name]
        return [row[place] for row in self.rows]

    @cached_property
    def _places(self) -> dict[str, int]:
        return {name: place for place, name in enumerate(self.columns)}

    def lines(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """The place of each row, and its cells by the names of their columns."""
        for place, row in zip(self.places, self.rows, strict=True):
            yield place, dict(zip(self.columns, row, strict=True))


def read_table(
    path: Path, argument: str, form: str | None = None, content: bytes | None = None
) -> Table:
    """Read a file in the format ``form`` (default: by its ending), or its bytes ``content`` if given."""
    read = _READ.get(form or FORMATS.get(path.suffix.lower(), ""))
    if read is None:
        endings = ", ".join(FORMATS)
        raise InvalidInput(argument, f"{path.name} must end in {endings}; else name its format")
    table = read(path, argument, content)
    check_distinct(table.columns, path, argument)
    return table


def check_distinct(columns: Sequence[str], path: Path, argument: str) -> None:
    """Refuse two columns of one name. Columns without a name do not count."""
    counts = Counter(name for name in columns if name)
    repeated = next((name for name, count in counts.items() if count > 1), None)
    if repeated is not None:
        raise InvalidInput(argument, f"{path.name} has more than one column {repeated!r}; rename one")


def read_bytes(path: Path, argument: str) -> bytes:
    check_file(argument, path)
    try:
        return path.read_bytes()
    except OSError as error:
        raise InvalidInput(argument, f"{path} cannot be read ({error.strerror})") from error


def records(
    path: Path, argument: str, content: bytes | None = None
) -> tuple[list[list[str]], list[str]]:
    """The records of a .csv or .tsv file, equally long and none empty, and the place of each."""
    text = text_of(path, argument, content)
    first = text.split("\n", 1)[0]  # in some locales Excel writes ;
    separator = "\t" if path.suffix.lower() == ".tsv" else max(",;\t", key=first.count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    found: list[list[str]] = []
    places: list[str] = []
    limit, begin = csv.field_size_limit(LONGEST), 1
    try:
        for record in reader:
            place, begin = f"line {begin}", reader.line_num + 1
            if not record or (len(record) > 1 and not any(cell.strip() for cell in record)):
                continue
            if found and len(record) != len(found[0]):
                counts = f"{len(record)} values for {len(found[0])} columns"
                sentence = f"{place} of {path.name} has {counts}; repair it, or quote its text"
                raise InvalidInput(argument, sentence)
            found.append(record)
            places.append(place)
    except csv.Error as error:
        sentence = f"line {reader.line_num} of {path.name} cannot be read ({error}); repair its quotes"
        raise InvalidInput(argument, sentence) from error
    finally:
        csv.field_size_limit(limit)
    return found, places


def _from_records(path: Path, argument: str, content: bytes | None) -> Table:
    found, places = records(path, argument, content)
    return Table([name.strip() for name in found[0]] if found else [], found[1:], places[1:])


def _from_json(path: Path, argument: str, content: bytes | None) -> Table:
    found: list[dict[str, Any]] = []
    places: list[str] = []
    for number, line in enumerate(text_of(path, argument, content).split("\n"), 1):
        if not line.strip():
            continue
        try:
            cells = json.loads(line)
        except (ValueError, RecursionError):
            cells = None
        if not isinstance(cells, dict):
            raise InvalidInput(
                argument,
                f"line {number} of {path.name} is no JSON object; "
                'write {"column": value, …}, each on a line of its own',
            )
        found.append(cells)
        places.append(f"line {number}")
    columns = list(dict.fromkeys(name for cells in found for name in cells))
    return Table(columns, [[cells.get(name) for name in columns] for cells in found], places)


def _from_parquet(path: Path, argument: str, content: bytes | None) -> Table:
    table = read_parquet(path, argument, content)
    rows = list(zip(*(column.to_pylist() for column in table.columns), strict=True))
    return Table(table.column_names, rows, [f"row {number}" for number in range(1, len(rows) + 1)])


def _from_excel(path: Path, argument: str, content: bytes | None) -> Table:
    content = read_bytes(path, argument) if content is None else content
    found, numbers = first_sheet(path, argument, content)
    names = ["" if name is None else str(name).strip() for name in found[0]] if found else []
    return Table(names, found[1:], [f"row {number}" for number in numbers[1:]])


def read_parquet(path: Path, argument: str, content: bytes | None = None) -> Any:
    """Read a .parquet file, or its bytes ``content``, as a pyarrow table."""
    parquet = needed(argument, "pyarrow.parquet", "reading .parquet files", "tables")
    import pyarrow as pa

    if content is None:
        check_file(argument, path)
    try:
        table = parquet.ParquetFile(path if content is None else pa.BufferReader(content)).read()
        table.validate(full=True)  # no text is damaged, no place lies outside
        list(table.column_names)
        return table
    except (pa.ArrowException, OSError, UnicodeError) as error:
        sentence = f"{path.name} is not a readable Parquet file ({reason(error)})"
        raise InvalidInput(argument, sentence) from error


def is_numeric(kind: Any) -> bool:
    """Whether a column of this pyarrow type holds numbers or bools."""
    from pyarrow import types

    return bool(types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind))


def encoding(start: bytes) -> str:
    """The encoding that a text's first bytes tell: UTF-8 without a byte order mark of another one."""
    return next((name for mark, name in _MARKS.items() if start.startswith(mark)), "utf-8-sig")


def text_of(path: Path, argument: str, content: bytes | None = None) -> str:
    """The file's text, without a byte order mark."""
    content = read_bytes(path, argument) if content is None else content
    name = encoding(content)
    try:
        text = content.decode(name)
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        said = "UTF-8" if name == "utf-8-sig" else f"{name.upper()}, as its first bytes say"
        sentence = f"line {line} of {path.name} is not {said}; save it as UTF-8"
        raise InvalidInput(argument, sentence) from error
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        raise InvalidInput(
            argument, f"line {line} of {path.name} holds a NUL character; save it as a text in UTF-8"
        )
    return text


_READ = {"csv": _from_records, "jsonl": _from_json, "parquet": _from_parquet, "xlsx": _from_excel}
