"""aced bench: run a suite of simulations, and continue a suite that was stopped."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from aced._errors import InvalidInput
from aced._files import check_writable
from aced._workers import available_threads
from aced.bench import FIELD, RECORDS, Job, Records, field_jobs, jobs, run_jobs
from aced.datasets import DEVELOPMENT


def bench(
    suite: Annotated[
        str,
        typer.Argument(
            metavar="SUITE",
            help="smoke (minutes, data included), paper (its experiments), full (all strategies), "
            "classes (ten of them) or field (many tasks, other libraries).",
        ),
    ],
    tasks: Annotated[list[str] | None, typer.Option(help="Only this task; repeatable.")] = None,
    strategies: Annotated[list[str] | None, typer.Option(help="Only this strategy; repeatable.")] = None,
    seeds: Annotated[
        int | None, typer.Option(help="Seeds (default: 3; classes: 5; field: 10); streams have one.")
    ] = None,
    half: Annotated[str | None, typer.Option(help="Of field: development (default) or unseen.")] = None,
    representation: Annotated[
        str | None, typer.Option(help="Of field: auto (default), linear or rbf.")
    ] = None,
    processes: Annotated[
        int | None, typer.Option("--jobs", help="Runs at the same time (default: one per core).")
    ] = None,
    out: Annotated[Path, typer.Option(help="Folder of the records.")] = Path("bench"),
    resume: Annotated[bool, typer.Option("--resume", help="Continue with the records there.")] = False,
    data_home: Annotated[
        Path | None, typer.Option(help="Folder with the paper's data sets (default: $ACED_DATA).")
    ] = None,
) -> None:
    """Run a suite of simulations. Each finished run leaves one record in the output folder."""
    wanted = _wanted(suite, tasks, strategies, seeds, half, representation)
    if processes is not None and processes < 1:
        raise InvalidInput("jobs", f"must be at least 1, got {processes}")
    if out.exists() and not out.is_dir():
        raise InvalidInput("out", f"{out} is a file; name a folder")
    if not out.parent.is_dir():
        raise InvalidInput("out", f"there is no folder {out.parent}; make it first")
    try:
        out.mkdir(exist_ok=True)
    except OSError as error:
        raise InvalidInput("out", f"{out} cannot be made ({error.strerror})") from error
    check_writable("out", out / RECORDS)
    records = Records(out)
    if records.found and not resume:
        raise InvalidInput(
            "out", f"{out} has {len(records.found)} records; add --resume or name another folder"
        )
    done = sum(job.key in records for job in wanted)
    console = Console(stderr=True)
    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("runs"),
        TimeRemainingColumn(elapsed_when_finished=True),
        TextColumn("{task.fields[note]}", style="dim"),
        console=console,
    )
    with bar:
        task = bar.add_task(suite, total=len(wanted), completed=done, note="")

        def told(job: Job, record: dict[str, Any]) -> None:
            last = record["curve"][-1] if record["curve"] else None
            reached = (
                "" if last is None else f", {last['pool_accuracy']:.4f} with {last['labels']} labels"
            )
            failed = ", not to the end" if "failed" in record else ""
            bar.update(task, advance=1, note=f"{job.task} {job.label}{reached}{failed}")

        run_jobs(
            wanted, records, processes=processes or available_threads(), data_home=data_home, told=told
        )
    console.print(f"{len(wanted)} runs in {records.path}; see them with: aced report {out}")


def _wanted(
    suite: str,
    tasks: list[str] | None,
    strategies: list[str] | None,
    seeds: int | None,
    half: str | None,
    representation: str | None,
) -> list[Job]:
    """The jobs of a suite; two of the options belong to one suite."""
    if suite == FIELD:
        return field_jobs(half or DEVELOPMENT, tasks, strategies, seeds, representation or "auto")
    for name, value in (("half", half), ("representation", representation)):
        if value is not None:
            raise InvalidInput(name, f"applies to the suite field only; leave it out with {suite}")
    return jobs(suite, tasks, strategies, seeds)
