"""The first sheet of an Excel workbook."""

from __future__ import annotations

import re
import warnings
import zipfile
from datetime import date, datetime, time
from io import BytesIO
from pathlib import Path
from typing import Any

from aced._errors import InvalidInput, reason
from aced._optional import needed

MOST_BYTES = 2**31
"""The most bytes that a workbook may unpack to."""
ESCAPED = re.compile("_x([0-9A-Fa-f]{4})_")
"""How a workbook writes a character that XML has no place for."""
MOST_ROWS, MOST_CELLS = 2**20, 10**8
"""The most rows that a sheet of Excel has, and the most cells that are read of one."""


def first_sheet(path: Path, argument: str, content: bytes) -> tuple[list[list[Any]], list[int]]:
    """The rows of the first sheet that hold anything, equally long, and the number of each.

    Of a formula it is the value that was saved with it.
    """
    openpyxl = needed(argument, "openpyxl", "reading .xlsx files", "excel")
    try:
        with zipfile.ZipFile(BytesIO(content)) as packed:
            size = sum(part.file_size for part in packed.infolist())
        if size <= MOST_BYTES:
            return _read(openpyxl, content)
    except MemoryError:
        raise
    except Exception as error:  # a damaged workbook fails in many ways
        sentence = (
            f"{path.name} is not a readable Excel workbook ({reason(error)}); save it anew as .xlsx"
        )
        raise InvalidInput(argument, sentence) from error
    raise InvalidInput(
        argument, f"{path.name} unpacks to {size / 2**30:.1f} GiB, which is too large; save it as .csv"
    )


def _read(openpyxl: Any, content: bytes) -> tuple[list[list[Any]], list[int]]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about styles and checks of cells, which are not read
        book = openpyxl.load_workbook(BytesIO(content), read_only=True, data_only=True, keep_links=False)
        sheet = book.worksheets[0]
        sheet.reset_dimensions()  # what the file says of its size may be wrong
        found: list[tuple[list[Any], int]] = []
        width = 0
        for number, row in enumerate(sheet.iter_rows(values_only=True), 1):
            cells = [_plain(cell) for cell in row]
            width = max(width, _width(cells))
            if number > MOST_ROWS or width * (len(found) + 1) > MOST_CELLS:
                raise ValueError("it claims more rows and cells than a sheet that can be read")
            if _width(cells):
                found.append((cells[: _width(cells)], number))
        book.close()
    return [row + [None] * (width - len(row)) for row, _ in found], [number for _, number in found]


def _plain(cell: Any) -> Any:
    """Texts as Excel shows them; dates and times as texts, a date at midnight as a date."""
    if isinstance(cell, str):
        return ESCAPED.sub(lambda found: chr(int(found[1], 16)), cell)
    if isinstance(cell, datetime) and cell.time() == time():
        return cell.date().isoformat()
    return str(cell) if isinstance(cell, date | time) else cell


def _is_empty(cell: Any) -> bool:
    return cell is None or (isinstance(cell, str) and not cell.strip())


def _width(row: list[Any]) -> int:
    """The number of cells up to the last one that is not empty."""
    return max((place for place, cell in enumerate(row, 1) if not _is_empty(cell)), default=0)
