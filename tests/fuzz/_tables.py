"""Tables and arrays that users bring: items, labels, features, data sets and pools."""

from __future__ import annotations

import csv
import io
import json
import random
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import openpyxl
import pyarrow as pa
import pyarrow.parquet as parquet
import scipy.sparse
from openpyxl.cell import WriteOnlyCell
from openpyxl.cell.cell import ILLEGAL_CHARACTERS_RE

from aced import InvalidInput, Pool
from aced.project import Project, export_rows
from tests.fuzz._arrays import bomb, damaged_npy, damaged_npz, npy
from tests.fuzz._commands import command
from tests.fuzz._mutate import as_json, damaged, odd
from tests.fuzz._projects import CLASSES, WORDS, make, put
from tests.fuzz._runner import REFUSED, TAKEN, Problem

Rows = list[dict[str, Any]]
CELLS = (
    "",
    " ",
    "0",
    "1.5",
    "-3",
    "1e30",
    "1e-40",
    "1e400",
    "nan",
    "inf",
    "NA",
    "TRUE",
    "=1+1",
    "'=1",
    "@a",
    "a,b",
    'say "x"',
    "two\nlines",
    "a\r\nb",
    "tab\there",
    ";",
    "ä",
    "🙂",
    "\ufeff",
    "\u2028",
    "x" * 3000,
    "1_000",
    "2024-01-01",
    "\0",
    "\x1b[2J",
)


@dataclass(frozen=True)
class Case:
    """A file, the command that reads it, and, for a file that is well formed, the rows in it."""

    what: str
    ending: str
    content: bytes
    rows: Rows | None = None

    def __repr__(self) -> str:
        return (
            f"Case({self.what!r}, {self.ending!r}, {self.content[:1000]!r} …{len(self.content)} bytes)"
        )


class Boundary:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.good: dict[str, bytes] = {}
        made = make(folder / "project")
        made.close()
        self.files = {path.name: path.read_bytes() for path in (folder / "project").iterdir()}
        self.known = [item["id"] for item in made.items]

    def case(self, rng: random.Random) -> Case:
        what = rng.choice(list(_FORMS))
        ending = rng.choice(_FORMS[what])
        made: Case = (_array_case if ending in (".npy", ".npz") else _table_case)(rng, what, ending)
        return made

    def run(self, case: Case) -> str:
        for old in self.folder.glob("given.*"):
            old.unlink()
        path = self.folder / f"given{case.ending}"
        path.write_bytes(case.content)
        reader: Callable[[Path, Case], str] = getattr(self, f"read_{case.what}")
        return reader(path, case)

    def close(self) -> None:
        pass

    # -- who reads it ---------------------------------------------------------------------

    def read_items(self, path: Path, case: Case) -> str:
        made = self.folder / "made"
        shutil.rmtree(made, ignore_errors=True)
        said = command("init", made, "--items", path, "--classes", CLASSES)
        if said.code == 0 and case.rows is not None:
            project = Project(made)
            _same_items(project, case.rows)
            project.close()
        if said.code and made.exists():
            raise Problem("aced init refuses the items and leaves a folder behind")
        return said.outcome

    def read_labels(self, path: Path, case: Case) -> str:
        copy = self.folder / "copy"
        put(self.files, copy)
        before = Project(copy).state.seq
        said = command("import", copy, path)
        project = Project(copy)
        if said.code and project.state.seq != before:
            raise Problem("aced import refuses a file, but takes some of it")
        if said.code == 0 and case.rows is not None:
            _same_labels(project, case.rows)
        project.close()
        return said.outcome

    def read_new_items(self, path: Path, case: Case) -> str:
        copy, out = self.folder / "copy", self.folder / "out.jsonl"
        put(self.files, copy)
        said = command("classify", copy, path, "--out", out)
        if (
            said.code == 0
            and case.rows is not None
            and len(out.read_bytes().splitlines()) != len(case.rows)
        ):
            raise Problem("aced classify leaves out some of the items")
        return said.outcome

    def read_features(self, path: Path, case: Case) -> str:
        made, items = self.folder / "made", self.folder / "items.csv"
        shutil.rmtree(made, ignore_errors=True)
        items.write_text("id,text\n" + "".join(f"{i},text {i}\n" for i in range(COUNT)))
        return command("init", made, "--items", items, "--classes", CLASSES, "--features", path).outcome

    def read_data(self, path: Path, case: Case) -> str:
        label = () if path.suffix == ".npz" else ("--label", "label")
        words = ("--strategy", "passive", "--budget", "4", "--batch", "2", "--threads", "1", *label)
        return command("run", path, *words).outcome

    def read_pool(self, path: Path, case: Case) -> str:
        try:
            pool = Pool(path)
            pool.rows()
            pool.rows(np.arange(min(2, len(pool))))
        except InvalidInput as error:
            if "\n" in str(error):
                raise Problem(f"the refusal is not one line: {str(error)!r}") from error
            return REFUSED
        return TAKEN


COUNT = 12
"""Rows of a table, if it is sound."""

_TABLES = (".csv", ".tsv", ".jsonl", ".parquet", ".xlsx")
_FORMS = {
    "items": _TABLES,
    "labels": _TABLES,
    "new_items": _TABLES,
    "features": (".csv", ".npy", ".npz", ".parquet"),
    "data": (".csv", ".npz", ".parquet"),
    "pool": (".npy", ".npz", ".parquet"),
}


# -- what came of it ----------------------------------------------------------------------


def _same_items(project: Project, rows: Rows) -> None:
    """Every row of the file is an item, with its id and its text."""
    found = {item["id"]: item["content"] for item in project.items}
    for row in rows:
        name = str(row["id"]).strip()
        if found.get(name) != row["text"]:
            raise Problem(
                f"silent loss: the text of {name!r} is {row['text']!r} and becomes {found.get(name)!r}"
            )


def _same_labels(project: Project, rows: Rows) -> None:
    """Every label of the file is a label of the project."""
    found = {(line["item"], line["annotator"]): line["label"] for line in export_rows(project)}
    for row in rows:
        if found.get((row["item"], row["annotator"])) != row["label"]:
            raise Problem(f"silent loss: the label {row} is taken and does not come out again")


# -- tables -------------------------------------------------------------------------------


def _table_case(rng: random.Random, what: str, ending: str) -> Case:
    rows = _sound(rng, what)
    kind = rng.random()
    if kind < 0.3:
        return Case(
            what,
            ending,
            _written(rows, ending),
            rows if what in ("items", "labels", "new_items") else None,
        )
    if kind < 0.65:
        for _ in range(rng.choice((1, 1, 3, 20))):
            row = rng.choice(rows)
            row[rng.choice(list(row))] = rng.choice(CELLS) if ending in (".csv", ".tsv") else odd(rng)
        rows = _reshaped(rng, rows)
        return Case(what, ending, _written(rows, ending))
    return Case(what, ending, damaged(rng, _written(rows, ending)))


def _sound(rng: random.Random, what: str) -> Rows:
    if what == "labels":
        names = rng.sample(range(24), COUNT)
        who = [rng.choice(("ann", "zoë", "new person")) for _ in names]
        return [
            {"item": f"item-{i}", "label": rng.choice(("no", "yes")), "annotator": name}
            for i, name in zip(names, who, strict=True)
        ]
    if what in ("items", "new_items"):
        texts = [
            " ".join(rng.choices(WORDS, k=5)) + rng.choice(("", *CELLS[12:25])) for _ in range(COUNT)
        ]
        return [{"id": f"n{i}", "text": text} for i, text in enumerate(texts)]
    rows: Rows = [{f"x{j}": round(rng.gauss(0, 1), 3) for j in range(3)} for _ in range(COUNT)]
    if what == "data":
        rows = [{**row, "label": ("no", "yes")[i % 2]} for i, row in enumerate(rows)]
    return rows


def _reshaped(rng: random.Random, rows: Rows) -> Rows:
    """Now and then: other columns, no rows, one row, rows that repeat."""
    names = list(rows[0])
    name = rng.choice(names)
    other = rng.choice(("", " ", "id", "label", "text", "\n", "x" * 300, "\x1b[2J", "1"))
    choices: list[Callable[[], Rows]] = [lambda: rows] * 6 + [
        list,
        lambda: rows[:1],
        lambda: rows + rows[:2],
        lambda: [{k: v for k, v in row.items() if k != name} for row in rows],
        lambda: [{other if k == name else k: v for k, v in row.items()} for row in rows],
        lambda: [{**row, name: None} for row in rows],
        lambda: [{**row, name: rows[0][name]} for row in rows],
        lambda: [{**row, **{f"c{i}": i for i in range(400)}} for row in rows],
    ]
    return rng.choice(choices)()


def _written(rows: Rows, ending: str) -> bytes:
    if ending == ".parquet":
        return _parquet(rows)
    if ending == ".xlsx":
        return _workbook(rows)
    if ending == ".jsonl":
        return b"".join(as_json(row) + b"\n" for row in rows)
    names = list(dict.fromkeys(name for row in rows for name in row))
    text = io.StringIO(newline="")
    table = csv.writer(text, delimiter="\t" if ending == ".tsv" else ",")
    table.writerow(names)
    table.writerows([row.get(name, "") for name in names] for row in rows)
    return text.getvalue().encode("utf-8", "surrogatepass")


def _parquet(rows: Rows) -> bytes:
    """The rows as Parquet; where cells of a column have several types, they become texts."""
    columns = {}
    for name in dict.fromkeys(name for row in rows for name in row):
        cells = [row.get(name) for row in rows]
        try:
            columns[_clean(name)] = pa.array(cells)
        except (pa.ArrowException, OverflowError, UnicodeError):
            columns[_clean(name)] = pa.array([_clean(json.dumps(cell)) for cell in cells])
    file = io.BytesIO()
    try:
        parquet.write_table(pa.table(columns), file)
    except pa.ArrowNotImplementedError:  # a record without fields
        file = io.BytesIO(_parquet([{name: str(cell) for name, cell in row.items()} for row in rows]))
    return file.getvalue()


def _workbook(rows: Rows) -> bytes:
    """The rows as a sheet. What a cell of Excel cannot hold is left out of it or becomes a text."""
    book, file = openpyxl.Workbook(write_only=True), io.BytesIO()
    sheet = book.create_sheet()
    names = list(dict.fromkeys(name for row in rows for name in row))
    for cells in (names, *([row.get(name) for name in names] for row in rows)):
        sheet.append([_cell(sheet, cell) for cell in cells])
    book.save(file)
    return file.getvalue()


def _cell(sheet: Any, value: Any) -> Any:
    """A cell that is no formula, whatever it begins with."""
    if isinstance(value, bool | float) or value is None:
        return value if value is None or (value == value and abs(value) < 1e300) else str(value)
    cell = WriteOnlyCell(
        sheet, ILLEGAL_CHARACTERS_RE.sub("", _clean(str(value)))[:32_000].replace("\r", "_x000D_")
    )
    cell.data_type = "s"
    return cell


def _clean(text: str) -> str:
    return text.encode("utf-8", "replace").decode()


# -- arrays -------------------------------------------------------------------------------


def _array_case(rng: random.Random, what: str, ending: str) -> Case:
    generator = np.random.default_rng(rng.randrange(2**32))
    rows = generator.normal(size=(COUNT, 3)).astype(rng.choice(("<f4", "<f8")))
    good = npy(rows) if ending == ".npy" else _npz(what, rows)
    how = rng.choices(("good", "bytes", "parts", "bomb"), (5, 40, 60, 0.5))[0]
    if how == "good":
        return Case(what, ending, good)
    if how == "bomb" and ending == ".npz":
        return Case(what, ending, bomb("X.npy"))
    if how == "bytes":
        return Case(what, ending, damaged(rng, good))
    return Case(what, ending, (damaged_npy if ending == ".npy" else damaged_npz)(rng, good))


def _npz(what: str, rows: Any) -> bytes:
    file = io.BytesIO()
    if what == "pool":
        scipy.sparse.save_npz(file, scipy.sparse.csr_matrix(rows * (rows > 0)))
    elif what == "features":
        np.savez(file, rows)
    else:
        y = np.array(["no", "yes"] * (COUNT // 2))
        np.savez(file, X=rows, y=y, X_test=rows[:4], y_test=y[:4])
    return file.getvalue()
