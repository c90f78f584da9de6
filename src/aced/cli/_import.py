"""aced import: labels made elsewhere."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from aced.adapters import label_studio
from aced.cli._export import Format
from aced.cli._project import Folder
from aced.project import Project, import_labels


def import_(
    project: Folder,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Columns item (or id) and label.")],
    who: Annotated[
        str | None, typer.Option("--as", metavar="NAME", help="Who labelled, where FILE does not say.")
    ] = None,
    form: Annotated[
        Format | None,
        typer.Option("--format", help="Default: by FILE's ending; .json is Label Studio's export."),
    ] = None,
) -> None:
    """Take labels from a file, all or none; a file imported twice counts once.

    Columns annotator and seconds are used if there are such, and Label Studio's aced_id and lead_time.
    """
    opened = Project(project)
    if form is Format.LABEL_STUDIO or (form is None and file.suffix.lower() == ".json"):
        found = label_studio.read_export(opened, label_studio.load_export(file), who=who)
    else:
        found = import_labels(opened, file, who=who, form=None if form is None else form.value)
    opened.close()
    new = f"; new annotators: {', '.join(found.people)}" if found.people else ""
    typer.echo(f"{found.taken} answers taken, {found.known} were known{new}")
    if found.ignored:
        typer.echo(f"{found.ignored} annotations left out: made from predictions, not by people")
