"""aced report: write figures and tables about a folder of records."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from aced._errors import InvalidInput, reason
from aced.bench import Records, build, to_html, to_markdown
from aced.cli._outputs import need_matplotlib, write_bytes


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
    figures = _made(where)
    with Console(stderr=True).status("drawing"):
        pages, pictures = _drawn(records, folder)
        for name, png in pictures.items():
            write_bytes(figures / name, png)
        for name, page in pages.items():
            write_bytes(where / name, page)
    Console().print(f"{where / 'report.html'} and {where / 'report.md'}: {len(records)} runs")


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


def _drawn(records: list[dict[str, Any]], folder: Path) -> tuple[dict[str, bytes], dict[str, bytes]]:
    """The pages and the pictures, by the names of their files. Nothing is written yet."""
    try:
        blocks = build(records, f"aced report {folder.name}")
        text, pictures = to_markdown(blocks, "figures")
        return {"report.md": text.encode(), "report.html": to_html(blocks).encode()}, pictures
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        # A record that somebody wrote by hand can lack anything, at any depth.
        found = f"a record in {folder} is not as aced bench writes it ({reason(error)})"
        raise InvalidInput("dir", f"{found}; repair it or remove it") from error
