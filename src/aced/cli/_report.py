"""aced report: write figures and tables about a folder of records, or about a project."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from aced._errors import InvalidInput, reason
from aced.bench import Block, Records, build, to_html, to_markdown
from aced.cli._outputs import need_matplotlib, write_bytes
from aced.cli._project_report import is_project, project_blocks


def report(
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", help="Output folder of aced bench, or a project.")
    ],
    out: Annotated[
        Path | None, typer.Option(help="Where to write the report (default: DIR, of a project here).")
    ] = None,
    cost_per_label: Annotated[
        float | None, typer.Option(help="What a label costs, for a project (default: as in aced init).")
    ] = None,
) -> None:
    """Write report.html and report.md about a folder of records, or about a project.

    Pictures go to the folder figures.
    """
    if not folder.is_dir():
        raise InvalidInput("dir", f"there is no folder {folder}")
    if is_project(folder):
        need_matplotlib("aced report")
        _written(project_blocks(folder, cost_per_label), out or Path(), "the project")
        return
    if cost_per_label is not None:
        raise InvalidInput("cost_per_label", "is for the report on a project; leave it out")
    records = Records(folder).all()
    if not records:
        raise InvalidInput("dir", f"{folder} has no records; make some with aced bench")
    need_matplotlib("aced report")
    with Console(stderr=True).status("drawing"):
        blocks = _drawn(records, folder)
    _written(blocks, out or folder, f"{len(records)} runs")


def _written(blocks: list[Block], where: Path, what: str) -> None:
    """Write the pages and the pictures of a report."""
    figures = _made(where)
    text, pictures = to_markdown(blocks, "figures")
    for name, png in pictures.items():
        write_bytes(figures / name, png)
    for name, page in (("report.md", text), ("report.html", to_html(blocks))):
        write_bytes(where / name, page.encode())
    Console().print(f"{where / 'report.html'} and {where / 'report.md'}: {what}")


def _made(where: Path) -> Path:
    """The folder of the report's pictures."""
    if not where.parent.is_dir():
        raise InvalidInput("out", f"there is no folder {where.parent}; make it first")
    figures = where / "figures"
    try:
        figures.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InvalidInput("out", f"{figures} cannot be made ({error.strerror})") from error
    return figures


def _drawn(records: list[dict[str, Any]], folder: Path) -> list[Block]:
    """The report. Nothing is written yet."""
    try:
        blocks = build(records, f"aced report {folder.name}")
        to_markdown(blocks, "figures")
        to_html(blocks)
        return blocks
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        # A record that somebody wrote by hand can lack anything, at any depth.
        found = f"a record in {folder} is not as aced bench writes it ({reason(error)})"
        raise InvalidInput("dir", f"{found}; repair it or remove it") from error
