"""The command line."""

from __future__ import annotations

import errno
import os
import re
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Annotated, Any

import typer

import aced
from aced._errors import Damaged, InvalidInput

COMMANDS = {
    "init": "_init",
    "audit": "_audit",
    "label": "_label",
    "serve": "_serve",
    "invite": "_invite",
    "classes": "_classes",
    "status": "_status",
    "replay": "_replay",
    "classify": "_classify",
    "export": "_export",
    "import": "_import",
    "run": "_run",
    "plan": "_plan",
    "bench": "_bench",
    "report": "_report",
    "theory": "_theory",
}
"""Each command and its module, in the order of the help. A module is loaded when it is needed."""

SAME = {
    "batch_size": "batch",
    "how": "embed",
    "client": "scheduler",
    "local_user": "name",
    "rows": "dataset",
}
"""Arguments that the library and the command line call by different names."""

FULL = (errno.ENOSPC, errno.EDQUOT)
"""What the system says of a disk that is full, or of a person's share of it."""


def _version(show: bool) -> None:
    if show:
        typer.echo(f"aced {aced.__version__}")
        raise typer.Exit


def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Label less."""


def build(names: Sequence[str]) -> typer.Typer:
    """The application with these commands."""
    app = typer.Typer(
        help="Label less: choose which rows of a pool to label, and train a classifier on them.",
        no_args_is_help=True,
        rich_markup_mode=None,
        add_completion=False,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(_root)
    for name in names:
        module = import_module(f"aced.cli.{COMMANDS[name]}")
        if hasattr(module, "app"):
            app.add_typer(module.app, name=name)
        else:
            app.command(name)(getattr(module, "import_" if name == "import" else name))
    return app


def main() -> None:
    """Run the command line.

    Input that cannot be used ends it with one sentence and exit code 2; damage to what aced wrote, with
    exit code 1.
    """
    called = next((word for word in sys.argv[1:] if not word.startswith("-")), "")
    app = build([called] if called in COMMANDS else list(COMMANDS))
    try:
        try:
            app(prog_name="aced")
        finally:
            sys.stdout.flush()  # a full disk is noticed here, not after the last word
    except InvalidInput as error:
        from aced.cli._project import visible  # a sentence may quote a file, and so steer a terminal

        typer.echo(visible(f"aced: {error.about(_as_typed(error.argument, app))}"), err=True)
        sys.exit(1 if isinstance(error, Damaged) else 2)
    except OSError as error:
        if error.errno not in FULL:
            raise
        where = f" for {error.filename}" if error.filename else ""
        typer.echo(f"aced: there is no room on the disk{where}; make room and try again", err=True)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # else Python tries to write the rest at its end
        sys.exit(2)


def _as_typed(argument: str, app: typer.Typer) -> str:
    """The name of an argument as it is typed on the command line: budget becomes --budget."""
    names = _typed(typer.main.get_command(app))
    for ours, theirs in SAME.items():
        names.setdefault(ours, names.get(theirs, ours))
    words, colon, rest = argument.partition(":")
    return re.sub(r"\w+", lambda word: names.get(word[0], word[0]), words) + colon + rest


def _typed(command: Any) -> dict[str, str]:
    """How each argument of a command is typed, by its name here and in the library."""
    found: dict[str, str] = {}
    for one in command.params:
        option = next((name for name in one.opts if name.startswith("--")), "")
        found[one.name] = option or one.metavar or one.name
        found[option[2:].replace("-", "_")] = option
    for part in getattr(command, "commands", {}).values():
        found |= _typed(part)
    return found
