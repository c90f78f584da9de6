"""The command line."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

import aced
from aced._errors import InvalidInput
from aced.cli import _theory
from aced.cli._bench import bench
from aced.cli._report import report
from aced.cli._run import run

app = typer.Typer(
    help="Label less: choose which rows of a pool to label, and train a classifier on them.",
    no_args_is_help=True,
    rich_markup_mode=None,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command()(run)
app.command()(bench)
app.command()(report)
app.add_typer(_theory.app, name="theory")


def _version(show: bool) -> None:
    if show:
        typer.echo(f"aced {aced.__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Label less."""


def main() -> None:
    """Entry point: one sentence and exit code 2 for input that cannot be used."""
    try:
        app(prog_name="aced")
    except InvalidInput as error:
        typer.echo(f"aced: {error}", err=True)
        sys.exit(2)
