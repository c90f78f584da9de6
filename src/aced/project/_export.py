"""Answers as a table: one line for each item and each annotator who labelled or passed it."""

from __future__ import annotations

import csv
import io
import json
import os
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from datetime import datetime, timezone
from math import isfinite
from pathlib import Path
from typing import IO, Any

import numpy as np

from aced._files import replacing
from aced._optional import needed
from aced.ledger import State
from aced.project._classes import active_names
from aced.project._history import passed_in
from aced.project._project import Project

Row = dict[str, Any]
Target = str | os.PathLike[str] | IO[bytes]
"""A path, whose file is replaced once the new one is whole, or an open binary file."""

COLUMNS = {
    "item": "string",
    "content": "string",
    "answer": "string",
    "label": "string",
    "annotator": "string",
    "seconds": "float64",
    "at": "string",
    "draw_probability": "float64",
    "round": "int64",
    "check": "bool_",
    "combined_label": "string",
    "combined_probability": "float64",
}
"""Names of the columns, in order, and their types as pyarrow calls them."""

FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
"""Characters with which a formula of a spreadsheet begins, full-width forms included."""


OF_CLASS = "probability_"
"""What comes before the name of a class in the name of the column of its probabilities."""


def export_rows(
    project: Project, state: State | None = None, *, probabilities: bool = False
) -> list[Row]:
    """All answers of ``state`` (default: the present one), by item and then in the order they came.

    ``answer`` is label, skip or unsure; only a label has a ``label``. Duplicates of an item have the
    answers of the row they share. ``combined_label`` is what the votes on a row say together and
    ``combined_probability`` how probable that label is; a row without votes has neither. An item that
    was answered without having been drawn has no draw probability and no round. With
    ``probabilities``, a row also has the probabilities of all classes by their names.
    """
    if state is None:
        with project.ledger.reading() as now:
            return export_rows(project, now, probabilities=probabilities)
    found, names = project.opinions(state), state.names
    places = np.searchsorted(found.classes, found.codes)
    sure = found.eta[np.arange(len(places)), places]
    known = zip(found.rows.tolist(), found.codes.tolist(), sure.tolist(), strict=True)
    combined = {row: (names[code], probability) for row, code, probability in known}
    shares = dict(zip(found.rows.tolist(), found.eta.round(6).tolist(), strict=True))
    chosen, lines, passed = active_names(state), [], _passed(project, state)
    for item in project.items:
        votes = state.votes.get(item["row"], {})
        draw = state.draws.get(item["row"])
        given = [
            _Given(vote.seq, who, "label", names[vote.code], vote.seconds, vote.at)
            for who, vote in votes.items()
        ]
        label, probability = combined.get(item["row"], (None, None))
        for one in sorted([*given, *passed.get(item["row"], ())]):
            at = datetime.fromtimestamp(one.at, timezone.utc)
            lines.append(
                {
                    "item": item["id"],
                    "content": _flat(item["content"]),
                    "answer": one.kind,
                    "label": one.label,
                    "annotator": one.who,
                    "seconds": one.seconds,
                    "at": at.isoformat(timespec="milliseconds"),
                    "draw_probability": None if draw is None else draw.probability,
                    "round": None if draw is None else draw.round,
                    "check": item["row"] in state.checks,
                    "combined_label": label,
                    "combined_probability": None if probability is None else round(probability, 6),
                }
            )
            if probabilities:
                of_row = shares.get(item["row"], [None] * len(chosen))
                lines[-1]["probabilities"] = dict(zip(chosen, of_row, strict=True))
    return lines


@dataclass(frozen=True, order=True)
class _Given:
    """An answer of a person; answers are sorted by their numbers."""

    seq: int
    who: str
    kind: str
    label: str | None
    seconds: float
    at: float


def _passed(project: Project, state: State) -> dict[int, list[_Given]]:
    """The skips and unsures that stand, by row."""
    standing = passed_in(state)
    events = project.ledger.named(seq for said in standing.values() for seq in said.values())
    return {
        row: [
            _Given(seq, who, one.kind, None, float(one.body.get("seconds", 0.0)), one.at)
            for who, seq in said.items()
            if (one := events[seq])
        ]
        for row, said in standing.items()
    }


def _flat(content: Any) -> str:
    if isinstance(content, str):
        return content
    return json.dumps(finite(content), ensure_ascii=False, allow_nan=False)


def finite(value: Any) -> Any:
    """The value with None in place of NaN and infinity, which JSON does not have.

    >>> finite({"share": float("nan"), "pairs": [(1.0, float("inf"))]})
    {'share': None, 'pairs': [[1.0, None]]}
    """
    if isinstance(value, float):
        return value if isfinite(value) else None
    if isinstance(value, dict):
        return {key: finite(part) for key, part in value.items()}
    return [finite(part) for part in value] if isinstance(value, list | tuple) else value


def neutral(cell: Any) -> Any:
    """A cell that no spreadsheet takes for a formula, and that differs if the cell does.

    An apostrophe comes before a formula, and one more before a formula that has apostrophes.

    >>> [neutral(cell) for cell in ("=1+1", "'=1+1", "@SUM(A1)", "plain", "'plain'", -1.5)]
    ["'=1+1", "''=1+1", "'@SUM(A1)", 'plain', "'plain'", -1.5]
    """
    return f"'{cell}" if isinstance(cell, str) and _formula(cell) else cell


def original(cell: str) -> str:
    """The cell of which :func:`neutral` made this one.

    >>> [original(cell) for cell in ("'=1+1", "''=1+1", "=1+1", "'plain'")]
    ['=1+1', "'=1+1", '=1+1', "'plain'"]
    """
    return cell[1:] if cell.startswith("'") and _formula(cell) else cell


def _formula(cell: str) -> bool:
    return cell.lstrip("'").startswith(FORMULA)


def _opened(file: Target) -> AbstractContextManager[IO[bytes]]:
    return replacing(Path(file)) if isinstance(file, str | os.PathLike) else nullcontext(file)


def write_csv(rows: Sequence[Row], file: Target, classes: Sequence[str] = ()) -> None:
    """Write CSV in UTF-8 with a heading; no cell is a formula.

    The probabilities of ``classes``, which the rows must have, become one column each.
    """
    with _opened(file) as target:
        text = io.TextIOWrapper(target, encoding="utf-8", newline="", write_through=True)
        table = csv.writer(text)  # it ends lines with CR LF, hence quotes cells with CR or LF
        table.writerow([*COLUMNS, *(OF_CLASS + name for name in classes)])
        for row in rows:
            cells = [_cell(row[name]) for name in COLUMNS]
            table.writerow([*cells, *(row["probabilities"][name] for name in classes)])
        text.detach()


def _cell(value: Any) -> Any:
    return str(value).lower() if isinstance(value, bool) else neutral(value)


def write_jsonl(rows: Sequence[Row], file: Target, classes: Sequence[str] = ()) -> None:
    """Write one JSON object on each line; cells stay as they are, and probabilities an object."""
    with _opened(file) as target:
        for row in rows:
            target.write((json.dumps(row, ensure_ascii=False, allow_nan=False) + "\n").encode())


def write_parquet(rows: Sequence[Row], path: Target, classes: Sequence[str] = ()) -> None:
    """Write the same columns with their types as parquet; needs pyarrow."""
    parquet = needed("format", "pyarrow.parquet", "writing parquet", "tables")
    import pyarrow as pa

    of_class = {OF_CLASS + name: "float64" for name in classes}
    schema = pa.schema([(name, getattr(pa, kind)()) for name, kind in (COLUMNS | of_class).items()])
    flat = [
        row | {OF_CLASS + name: row["probabilities"][name] for name in classes} if classes else row
        for row in rows
    ]
    with _opened(path) as target:
        parquet.write_table(pa.Table.from_pylist(flat, schema=schema), target)
