"""aced replay: check that a project's ledger is sound and that its rounds can be repeated."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.text import Text

from aced._errors import Damaged
from aced.cli._project import Folder, Json, counted, print_json
from aced.ledger import Ledger, State, replay as check
from aced.project import Project, Repeated, check_all, find_ledger, repeat_rounds


def replay(
    project: Folder,
    until: Annotated[
        int | None, typer.Option(metavar="SEQ", help="Read only the events up to this number.")
    ] = None,
    designs: Annotated[
        bool, typer.Option("--designs", help="Also design every round again and compare it.")
    ] = False,
    accept_loss: Annotated[
        bool,
        typer.Option("--accept-loss", help="Go on although the ledger lost its end; record the loss."),
    ] = False,
    as_json: Json = False,
) -> None:
    """Check the ledger and the files of a project, and rebuild its state. Damage gives exit code 1."""
    path = find_ledger(project)
    if accept_loss:
        with closing(Ledger(path, accept_loss=True)):
            pass
    found = check(path, until)
    problems = found.problems + _file_problems(project, found.state)
    repeated: list[Repeated] = []
    if designs and not problems:
        repeated = _repeat(project, until)
        problems += [f"round {one.round}: {one.differs}" for one in repeated if one.differs]
    if as_json:
        record = {"events": found.state.seq, "digest": found.state.digest(), "problems": problems}
        if designs:
            record["rounds"] = [
                {
                    "round": one.round,
                    "requests": one.requests,
                    "same": None if one.older else one.differs is None,
                }
                for one in repeated
            ]
        print_json(record)
    else:
        console = Console()
        console.print(
            f"{counted(found.state.seq, 'event')}, digest {found.state.digest()}", soft_wrap=True
        )
        tried = [one for one in repeated if not one.older]
        if tried:
            same = sum(one.differs is None for one in tried)
            console.print(f"{same} of {counted(len(tried), 'round')} repeated to the bit")
        if len(tried) < len(repeated):
            count = len(repeated) - len(tried)
            stand = "round stands" if count == 1 else "rounds stand"
            them = "it" if count == 1 else "them"
            console.print(f"{count} {stand} as recorded: an earlier version of aced planned {them}")
        for problem in problems:
            console.print(Text(problem), soft_wrap=True)
        if not problems:
            console.print("no problems")
    if problems:
        raise typer.Exit(1)


def _file_problems(folder: Path, state: State) -> list[str]:
    try:
        if state.seq:
            check_all(folder, state)
    except Damaged as error:
        return [error.sentence]
    return []


def _repeat(folder: Folder, until: int | None) -> list[Repeated]:
    done = []
    status = Console(stderr=True).status("designing rounds again")
    with closing(Project(folder)) as opened, status as shown:
        for one in repeat_rounds(opened.ledger, lambda: opened.pool, until, proposed=opened.proposed):
            shown.update(f"round {one.round} designed again")
            done.append(one)
    return done
