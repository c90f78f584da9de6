"""aced import: take labels that were made elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from aced._errors import InvalidInput
from aced._files import check_writable
from aced.adapters import label_studio
from aced.cli._export import Format
from aced.cli._outputs import write_text
from aced.cli._project import MOST_SHOWN, Folder, counted, say, visible
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
    skip_bad: Annotated[
        bool,
        typer.Option(
            "--skip-bad",
            help="Leave out lines that cannot be used (an unknown item or class, lines that contradict "
            "each other), and list them.",
        ),
    ] = False,
    left_out: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="With --skip-bad: where to list all lines left out."),
    ] = None,
) -> None:
    """Take all labels of a file, or none if one cannot be used. A file imported twice counts once.

    Columns annotator and seconds are optional. From Label Studio, aced_id and lead_time are read.
    """
    if left_out is not None:
        if not skip_bad:
            raise InvalidInput(
                "left_out", "needs --skip-bad, as it lists what that leaves out; pass both"
            )
        check_writable("left_out", left_out)
    opened = Project(project)
    if form is Format.LABEL_STUDIO or (form is None and file.suffix.lower() == ".json"):
        export = label_studio.load_export(file)
        found = label_studio.read_export(opened, export, who=who, skip_bad=skip_bad)
    else:
        known = None if form is None else form.value
        found = import_labels(opened, file, who=who, form=known, skip_bad=skip_bad)
    opened.close()
    was = "was" if found.known == 1 else "were"
    new = f"; new annotators: {', '.join(found.people)}" if found.people else ""
    typer.echo(f"{counted(found.taken, 'answer')} taken, {found.known} {was} known already{new}")
    if found.ignored:
        typer.echo(
            f"{counted(found.ignored, 'annotation')} left out: made by predictions, not by people"
        )
    if found.left:
        _list(found.left, left_out)


def _list(left: Sequence[str], out: Path | None) -> None:
    """Say which lines were left out: all of them in a file, or the first ones here."""
    said = f"{len(left)} left out that cannot be used"
    if out is not None:
        write_text(out, "".join(f"{visible(line)}\n" for line in left))
        say(f"{said}; {out} lists them")
        return
    say(f"{said}:")
    for line in left[:MOST_SHOWN]:
        say(f"  {line}")
    if len(left) > MOST_SHOWN:
        say(f"  and {len(left) - MOST_SHOWN} more; --left-out FILE lists all of them")
