"""Tables of labels from files, line by line, so that what is wrong can be pointed at."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aced._errors import InvalidInput

FORMATS = {".csv": "csv", ".jsonl": "jsonl", ".ndjson": "jsonl", ".parquet": "parquet"}
LONGEST = 2**27
"""Characters in one cell; the csv module's own limit is short for documents."""


@dataclass(frozen=True)
class Line:
    """One record and where it stands: a line of a text, a row of a Parquet file."""

    place: str
    cells: dict[str, Any]


def read_bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise InvalidInput("file", f"{path} cannot be read ({error.strerror})") from error


def read_lines(path: Path, content: bytes, form: str | None = None) -> list[Line]:
    """The records of a file, by its format or, without one, its ending."""
    form = FORMATS.get(path.suffix.lower()) if form is None else form
    if form == "parquet":
        return list(_parquet(path, content))
    if form not in ("csv", "jsonl"):
        endings = ", ".join(FORMATS)
        raise InvalidInput("file", f"{path.name} must end in {endings}, or its format be named")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise InvalidInput(
            "file", f"line {line} of {path.name} is not UTF-8; save it as UTF-8"
        ) from error
    return list(_csv(path, text) if form == "csv" else _jsonl(path, text))


def _csv(path: Path, text: str) -> Iterator[Line]:
    first = text.split("\n", 1)[0]
    reader = csv.reader(
        io.StringIO(text, newline=""), delimiter=max(",;\t", key=first.count), strict=True
    )
    limit = csv.field_size_limit(LONGEST)
    try:
        names = [name.strip() for name in next(reader, [])]
        repeated = next((name for name in names if names.count(name) > 1), None)
        if repeated is not None:
            raise InvalidInput("file", f"{path.name} has more than one column {repeated!r}; rename one")
        begin = reader.line_num + 1
        for cells in reader:
            place, begin = f"line {begin}", reader.line_num + 1
            if not any(cells):
                continue
            if len(cells) != len(names):
                raise InvalidInput(
                    "file",
                    f"{place} of {path.name} has {len(cells)} values for {len(names)} columns; "
                    "repair it, or quote its text",
                )
            yield Line(place, dict(zip(names, cells, strict=True)))
    except csv.Error as error:
        raise InvalidInput(
            "file", f"line {reader.line_num} of {path.name} cannot be read ({error}); repair its quotes"
        ) from error
    finally:
        csv.field_size_limit(limit)


def _jsonl(path: Path, text: str) -> Iterator[Line]:
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            cells = json.loads(line)
        except (ValueError, RecursionError):
            cells = None
        if not isinstance(cells, dict):
            raise InvalidInput("file", f"line {number} of {path.name} is no JSON object; repair it")
        yield Line(f"line {number}", cells)


def _parquet(path: Path, content: bytes) -> Iterator[Line]:
    try:
        import pyarrow as pa
        import pyarrow.parquet
    except ImportError as error:
        raise InvalidInput(
            "file", "reading .parquet files needs pyarrow; pip install 'aced[tables]'"
        ) from error
    try:
        table = pyarrow.parquet.read_table(pa.BufferReader(content))
    except (pa.ArrowException, OSError) as error:
        raise InvalidInput("file", f"{path.name} is not a readable Parquet file") from error
    for number, cells in enumerate(table.to_pylist(), 1):
        yield Line(f"row {number}", cells)
