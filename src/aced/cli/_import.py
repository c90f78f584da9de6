"""aced import: take labels that were made elsewhere."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from aced.adapters import label_studio
from aced.cli._export import Format
from aced.cli._project import Folder, counted
from aced.project import Project, import_labels


def import_(
    project: Folder,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A table: columns item (or id), label.")],
    who: Annotated[
        str | None, typer.Option("--as", metavar="NAME", help="Who labelled, if FILE does not say.")
    ] = None,
    form: Annotated[
        Format | None,
        typer.Option("--format", help="Format (default: by FILE's ending; .json is Label Studio's)."),
    ] = None,
) -> None:
    """Take all labels of a file, or none if one cannot be used. A file imported twice counts once.

    Columns annotator and seconds are optional. From Label Studio, aced_id and lead_time are read.
    """
    opened = Project(project)
    if form is Format.LABEL_STUDIO or (form is None and file.suffix.lower() == ".json"):
        found = label_studio.read_export(opened, label_studio.load_export(file), who=who)
    else:
        found = import_labels(opened, file, who=who, form=None if form is None else form.value)
    opened.close()
    was = "was" if found.known == 1 else "were"
    new = f"; new annotators: {', '.join(found.people)}" if found.people else ""
    typer.echo(f"{counted(found.taken, 'answer')} taken, {found.known} {was} known already{new}")
    if found.ignored:
        typer.echo(
            f"{counted(found.ignored, 'annotation')} left out: made by predictions, not by people"
        )
