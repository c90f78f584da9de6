"""aced report: write figures and tables about a folder of records."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from aced._errors import InvalidInput
from aced.bench import Records, build, to_html, to_markdown
from aced.cli._outputs import need_matplotlib, write_text


def report(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Output folder of aced bench.")],
    out: Annotated[Path | None, typer.Option(help="Where to write the report (default: DIR).")] = None,
) -> None:
    """Write report.html and report.md about a folder of records. Pictures go to the folder figures."""
    if not folder.is_dir():
        raise InvalidInput("dir", f"there is no folder {folder}")
    records = Records(folder).all()
    if not records:
        raise InvalidInput("dir", f"{folder} has no records; make some with aced bench")
    need_matplotlib("aced report")
    where = out or folder
    if not where.parent.is_dir():
        raise InvalidInput("out", f"there is no folder {where.parent}; make it first")
    (where / "figures").mkdir(parents=True, exist_ok=True)
    with Console(stderr=True).status("drawing"):
        blocks = build(records, f"aced report {folder.name}")
        text, pictures = to_markdown(blocks, "figures")
        for name, png in pictures.items():
            (where / "figures" / name).write_bytes(png)
        write_text(where / "report.md", text)
        write_text(where / "report.html", to_html(blocks))
    Console().print(f"{where / 'report.html'} and {where / 'report.md'}: {len(records)} runs")
