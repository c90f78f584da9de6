"""aced classify: what a project's classifier says of new items."""

from __future__ import annotations

import csv
import io
import sys
from collections import Counter
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from aced._errors import Damaged, InvalidInput
from aced._files import check_writable
from aced._types import Float32
from aced.cli._columns import SkipBroken, broken_words, check_skips, may_skip
from aced.cli._function import check_function
from aced.cli._outputs import write_text
from aced.cli._project import Folder, Json, counted, print_json, say, tallied, working
from aced.items import Embedding, Items, embed_with, features_from, read_items
from aced.project import OF_CLASS, Project, class_shares, listed, neutral, write_jsonl

ENDINGS = (".csv", ".jsonl")
COLUMNS = ("id", "label", "probability")


def classify(
    project: Folder,
    items: Annotated[
        Path, typer.Argument(metavar="NEW_ITEMS", help="New items in the same form as for aced init.")
    ],
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="A .csv or .jsonl file (default: print csv).")
    ] = None,
    features: Annotated[
        Path | None, typer.Option(metavar="PATH", help="Features of the new items, one row for each.")
    ] = None,
    embed: Annotated[
        str | None,
        typer.Option(metavar="MODULE:FUNCTION", help="The function that made the project's features."),
    ] = None,
    column: Annotated[
        str | None, typer.Option(help="The column that holds the texts (default: as in aced init).")
    ] = None,
    columns: Annotated[
        list[str] | None,
        typer.Option(metavar="A,B", help="The columns to learn from (default: as in aced init)."),
    ] = None,
    id_column: Annotated[
        str | None, typer.Option(help="The column that holds the ids (default: as in aced init).")
    ] = None,
    skip_broken: SkipBroken = False,
    probabilities: Annotated[
        bool, typer.Option("--probabilities", help="Also write the probability of every class.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Label new items with a classifier trained on all labels so far."""
    if out is not None:
        check_writable("out", out)
        if out.suffix.lower() not in ENDINGS:
            raise InvalidInput("out", f"{out} must end in {' or '.join(ENDINGS)}")
    check_skips(skip_broken, features)
    with closing(Project(project)) as opened:
        model = trained(opened)
        named = {"column": column, "columns": columns, "id_column": id_column}
        with may_skip():
            found = _read(opened, items, skip_broken=skip_broken, **named)
        with working(f"computing features of {counted(len(found), 'item')}"), may_skip():
            rows = _features(opened, found, features, embed)
        names = opened.classes
        shares = class_shares(model, rows, opened.codes)
    best = shares.argmax(axis=1).tolist()
    lines: list[dict[str, Any]] = [
        {"id": name, "label": names[place], "probability": round(p, 6)}
        for name, place, p in zip(found.ids, best, shares.max(axis=1).tolist(), strict=True)
    ]
    if probabilities:
        for line, row in zip(lines, shares.round(6).tolist(), strict=True):
            line["probabilities"] = dict(zip(names, row, strict=True))
    columns = names if probabilities else []
    if out is not None and out.suffix.lower() == ".jsonl":
        write_jsonl(lines, out)
    elif out is not None:
        write_text(out, as_csv(lines, columns))
    counts = Counter(line["label"] for line in lines)
    numbers = {name: counts[name] for name in names}
    if as_json:
        print_json({"items": len(lines), "counts": numbers, **({} if out else {"labels": lines})})
    elif out is None:
        sys.stdout.write(as_csv(lines, columns))
    where = f" in {out}" if out else ""
    said = tallied(numbers, "never named")
    say(f"{counted(len(lines), 'item')}{where} · {said}", stderr=as_json or out is None)


def _read(project: Project, items: Path, **named: Any) -> Items:
    """The new items, read as those of the project were, but for what is named."""
    before = project.settings.reading or {}
    found = read_items(items, kind=project.settings.kind, before=before, **named)
    if found.blank:
        say(f"{counted(found.blank, 'blank line')} left out", stderr=True)
    if found.broken:
        say(broken_words(found), stderr=True)
    wanted = before.get("columns")
    if named["column"] is named["columns"] is None and found.kind == "text" and wanted is not None:
        source = found.source
        if source is not None and source.learned != wanted:
            say(
                f"{items.name} has no column {wanted[0]!r}: "
                f"column {source.learned[0]!r} holds its texts",
                stderr=True,
            )
    return found


def trained(project: Project) -> Any:
    """The project's classifier; refused until there are labels of two classes.

    It never names a class without labels, so a line says which these are.
    """
    found = project.opinions()
    if not len(found.rows):
        raise InvalidInput(
            "project", f"{project.folder} has no labels yet; give some with aced label {project.folder}"
        )
    unseen = set(found.classes.tolist()) - set(found.codes.tolist())
    missing = [name for code, name in zip(project.codes, project.classes, strict=True) if code in unseen]
    if len(missing) > len(project.classes) - 2:
        seen = next(name for name in project.classes if name not in missing)
        raise InvalidInput(
            "project",
            f"{project.folder} has labels of one class only, {seen!r}; "
            "label some items of another class, too",
        )
    if missing:
        say(f"no label yet, so never predicted: {listed(missing)}", stderr=True)
    return project.classifier()


def _features(project: Project, items: Items, path: Path | None, function: str | None) -> Float32:
    stored = project.embedding
    if stored is not None:
        if path is not None or function is not None:
            named = "features" if path else "embed"
            raise InvalidInput(named, "is not needed: the project computes features itself; drop it")
        return _loaded(stored).transform(items)
    if (path is None) == (function is None):
        raise InvalidInput(
            "features",
            "is needed, since the project has features of your own; give those of the new items, "
            "or name the function that made them with --embed",
        )
    if path is not None:
        rows = features_from(path, len(items))
    else:
        check_function(project, str(function))
        rows = embed_with(str(function), items)
    wanted = project.features.shape[1]
    if rows.shape[1] != wanted:
        raise InvalidInput(
            "features",
            f"has {counted(rows.shape[1], 'column')}, but the project has {wanted}; give the same ones",
        )
    return np.asarray(rows)


def _loaded(path: Path) -> Embedding:
    try:
        return Embedding.load(path)
    except InvalidInput as error:
        raise Damaged("project", f"{path} is damaged; restore a copy of the project") from error


def as_csv(lines: list[dict[str, Any]], classes: Sequence[str] = ()) -> str:
    """The lines as CSV with a heading, without cells that a spreadsheet would compute.

    The probabilities of ``classes``, which the lines must have, become one column each.
    """
    heading = [*COLUMNS, *(OF_CLASS + name for name in classes)]
    rows = [
        [
            *(neutral(line[name]) for name in COLUMNS),
            *(line["probabilities"][name] for name in classes),
        ]
        for line in lines
    ]
    return "".join(map(_line, [heading, *rows]))


def _line(cells: Sequence[Any]) -> str:
    text = io.StringIO()
    csv.writer(text).writerow(cells)  # only with its own end of line does it quote a cell with CR
    return text.getvalue().removesuffix("\r\n") + "\n"
