"""aced export: labels as a table, or drawn items as tasks for Label Studio."""

from __future__ import annotations

import json
import sys
from collections import Counter
from contextlib import nullcontext
from enum import Enum
from pathlib import Path
from typing import IO, Annotated, Any

import typer

from aced._errors import InvalidInput
from aced._files import check_writable
from aced.adapters import label_studio
from aced.cli._outputs import saving, write_text
from aced.cli._project import Folder, counted, say
from aced.project import (
    Project,
    export_rows,
    sole_probability,
    write_csv,
    write_jsonl,
    write_parquet,
)


class Format(str, Enum):
    """The formats that a file of labels may have."""

    CSV = "csv"
    JSONL = "jsonl"
    PARQUET = "parquet"
    LABEL_STUDIO = "label-studio"


WRITE = {Format.CSV: write_csv, Format.JSONL: write_jsonl, Format.PARQUET: write_parquet}


def export(
    project: Folder,
    out: Annotated[Path, typer.Option(metavar="FILE", help="Where to write; - is standard output.")],
    form: Annotated[
        Format | None,
        typer.Option("--format", help="Format (default: by FILE's ending; csv on standard output)."),
    ] = None,
    probabilities: Annotated[
        bool, typer.Option("--probabilities", help="Also write the probability of every class.")
    ] = False,
    count: Annotated[
        int | None, typer.Option(help="The most tasks to write for label-studio (default: a batch).")
    ] = None,
) -> None:
    """Write the answers, one line for each item and annotator; skips and unsures have no label.

    With --probabilities a table has one more column for each class, called probability_CLASS, and a
    line of JSON has an object. They are the probabilities of what the votes on an item say together.

    The column combined_label is what all labels of an item say together, and combined_probability how
    probable that is. While no item has two labels, it is (1 + 1/K) / 2 with K classes: 0.75 with two.

    The format label-studio writes drawn items that wait for a label, as tasks that Label Studio can
    import. The labelling configuration is written beside them, in a file that ends in .xml.
    """
    form = _by_ending(out) if form is None else form
    if probabilities and form is Format.LABEL_STUDIO:
        raise InvalidInput("probabilities", "are for tables only; tasks have the best class's")
    if count is not None and form is not Format.LABEL_STUDIO:
        raise InvalidInput("count", "is for --format label-studio only; a table has all labels")
    standard = str(out) == "-"
    if not standard:
        check_writable("out", out)
    opened = Project(project)
    if form is Format.LABEL_STUDIO:
        said = _write_tasks(opened, sys.stdout.buffer if standard else out, count)
    else:
        with opened.ledger.reading() as state:
            rows = export_rows(opened, state, probabilities=probabilities)
            names = opened.classes if probabilities else []
            sole = sole_probability(state)
        with nullcontext() if standard else saving(out):
            WRITE[form](rows, sys.stdout.buffer if standard else out, names)
        said = _counts(rows)
        if sole is not None:
            say(
                f"combined_probability is {sole:.3g} where an item has one label: nothing is known of "
                "the person's mistakes, and a vote is set beside one that is spread over all classes",
                stderr=True,
            )
    opened.close()
    if not standard:
        typer.echo(f"{out}: {said}")


def _counts(rows: list[dict[str, Any]]) -> str:
    """How many labels there are, and skips and unsures if there are some."""
    found = Counter(row["answer"] for row in rows)
    parts = [counted(found["label"], "label")]
    parts += [counted(found["skip"], "skip")] * (found["skip"] > 0)
    parts += [f"{found['unsure']} unsure"] * (found["unsure"] > 0)
    return ", ".join(parts)


def _by_ending(out: Path) -> Format:
    if str(out) == "-":
        return Format.CSV
    try:
        return Format(out.suffix.lower().removeprefix("."))
    except ValueError as error:
        raise InvalidInput(
            "out", f"{out} must end in .csv, .jsonl or .parquet, or --format must be given"
        ) from error


def _write_tasks(project: Project, out: Path | IO[bytes], count: int | None) -> str:
    if isinstance(out, Path) and out.suffix.lower() == ".xml":
        raise InvalidInput("out", f"{out} is where the labelling configuration goes; name a .json file")
    found = label_studio.tasks(project, count)
    content = json.dumps(found, indent=1, ensure_ascii=False, allow_nan=False) + "\n"
    if not isinstance(out, Path):
        out.write(content.encode())
        return ""
    beside = out.with_suffix(".xml")
    check_writable("out", beside)
    write_text(beside, label_studio.config(project))
    write_text(out, content)
    fewer = f" of {count}: no other item is drawn and waits" if count and len(found) < count else ""
    return f"{counted(len(found), 'task')}{fewer}; {beside}: the labelling configuration"
