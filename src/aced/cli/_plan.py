"""aced plan: what a round will need, before it starts."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from rich.console import Console
from rich.table import Table

from aced._errors import InvalidInput
from aced._files import check_writable
from aced._workers import Workers, available_threads
from aced.cli._outputs import write_text
from aced.cli._project import duration
from aced.cost import Cost, Measuring, Pass, Speed, in_words, measured, miniature, ways_out
from aced.learner import Learner
from aced.pool import Pool, available_memory
from aced.strategies import Aced

PARTS = {
    "rows": "the pool as float32, if it is kept in memory",
    "lifted": "rows in the columns of the kernel, and the landmarks",
    "sample": "rows that the design is found on and checked with",
    "row vectors": "ids, labels, design, sensitivities",
    "noise": "normal draws; those beyond 512 MiB are drawn again",
    "metric": "H, its factor, and partial sums of it",
    "coefficients": "separators found, gradients, and partial sums",
    "blocks": "what each kernel holds of its block",
}
PASSES = {
    "total": "means",
    "squared_deviation": "spreads",
    "squares": "spreads",
    "_sum_of_squares": "spreads",
    "gram": "H",
    "moments": "H",
    "curvature": "H",
    "lift_block": "lifting",
    "_probabilities": "predictions",
    "labels_kernel": "labels",
    "_spread_of": "noise of h̃",
    "pulls": "first gradients",
    "descent": "gradients",
    "towards": "tallies",
    "squared_lengths": "leverages",
    "lengths": "leverages",
    "_squares": "sizes of margins",
    "_densities": "densities",
}


def plan(
    rows: Annotated[int, typer.Option(help="Rows of the pool.")],
    features: Annotated[int, typer.Option(help="Features of a row.")],
    classes: Annotated[int, typer.Option(help="Number of classes that have a label.")] = 2,
    sparse_density: Annotated[
        float | None, typer.Option(help="For a sparse pool: the share of numbers that are stored.")
    ] = None,
    representation: Annotated[
        str, typer.Option(help="auto: what the labels may choose at most; linear; rbf.")
    ] = "auto",
    draws: Annotated[int | None, typer.Option(help="Number of noise vectors (default: 96).")] = None,
    design_rows: Annotated[
        int | None, typer.Option(help="Rows the design is found on (default: all, or a sample if many).")
    ] = None,
    dtype: Annotated[str, typer.Option(help="Type of the numbers on disk.")] = "float32",
    threads: Annotated[int | None, typer.Option(help="Number of threads (default: all cores).")] = None,
    workers: Annotated[int, typer.Option(help="Processes or machines, each with these threads.")] = 1,
    measure: Annotated[
        bool, typer.Option("--measure/--no-measure", help="Time the kernels for about a second.")
    ] = True,
    json_file: Annotated[
        str | None, typer.Option("--json", metavar="FILE|-", help="Write the plan as JSON; - prints it.")
    ] = None,
) -> None:
    """Say what a round will need: memory, operations and seconds."""
    if sparse_density is not None and not 0 < sparse_density <= 1:
        raise InvalidInput("sparse_density", f"must be above 0 and at most 1, got {sparse_density:g}")
    item = _bytes_of_number(dtype)
    if json_file is not None and json_file != "-":
        check_writable("json", Path(json_file))
    threads = available_threads() if threads is None else threads
    shape = rows, features, draws, sparse_density, threads, workers, design_rows, classes
    cost = Cost.of(*shape, representation)
    free = available_memory()
    speed, trouble = None, _untimed(cost, free)
    if measure and trouble is None:
        with Console(stderr=True).status("measuring"):
            speed = measured(cost, _ask)
    if json_file is not None:
        text = json.dumps(_record(cost, item, free, speed), indent=2, allow_nan=False) + "\n"
        if json_file == "-":
            sys.stdout.write(text)
            return
        write_text(Path(json_file), text)
    console = Console()
    _print_memory(console, cost, item, np.dtype(dtype).name)
    _print_work(console, cost, speed)
    if measure and trouble is not None:
        console.print(f"Not timed: {trouble}.")
    console.print(_verdict(cost, free), soft_wrap=True)


def _ask(pool: Pool, workers: Workers, cost: Cost, solver: Measuring, labels: int) -> float:
    """Run a round of aced on random rows, some with random labels; return when it began."""
    began = time.perf_counter()
    classes = list(range(cost.classes))
    learner = Learner(
        pool,
        strategy=Aced(solver=solver),
        classes=classes,
        representation="linear",  # the pool's rows stand for those in any representation
        batch_size=1,
        workers=workers,
    )
    known = np.random.default_rng(0).choice(
        len(pool), max(1, min(labels, len(pool) // 2)), replace=False
    )
    learner.tell(pool.ids[known], np.arange(len(known)) % cost.classes)
    learner.ask()
    return began


def _bytes_of_number(dtype: str) -> int:
    try:
        found = np.dtype(dtype)
    except (TypeError, ValueError, SyntaxError):
        found = np.dtype(object)
    if found.kind not in "biuf":
        raise InvalidInput("dtype", f"must be a type of real numbers such as float32, got {dtype!r}")
    return found.itemsize


def _untimed(cost: Cost, free: int) -> str | None:
    """Why the kernels cannot be timed; None if they can."""
    if miniature(cost).peak() > free:
        return "a few blocks of that shape need more memory than is free"
    if cost.sampled and cost.over(cost.design_rows).sparse != cost.sparse:
        return "the pool is sparse and the sample of it is not"
    return None


def _verdict(cost: Cost, free: int) -> str:
    """Whether a round fits into memory and, if it does not, what would."""
    words = f"{in_words(free)} are free"
    where = f", and {in_words(cost.worker())} in each worker" if cost.workers > 1 else ""
    if cost.peak() <= free:
        return f"It fits: a round needs {in_words(cost.peak())}{where}; {words}."
    return (
        f"It does not fit: a round needs {in_words(cost.peak())}{where}; {words}. "
        f"What would do: {' or '.join(ways_out(cost, free))}."
    )


def _record(cost: Cost, item: int, free: int, speed: Speed | None) -> dict[str, Any]:
    """All numbers of the plan, for JSON. Sizes are in bytes."""
    own = ("rows", "features", "classes", "stored", "sparse", "draws", "threads", "workers")
    shape = (*own, "design_rows", "design_features", "landmarks")
    return {name: getattr(cost, name) for name in shape} | {
        "rows_on_disk": cost.on_disk(item),
        "rows_in_memory": cost.row_bytes,
        "memory": cost.memory,
        "peak": cost.peak(),
        "peak_from_disk": None if cost.sparse else cost.peak(in_memory=False),
        "peak_of_worker": cost.worker() if cost.workers > 1 else None,
        "free": free,
        "fits": cost.peak() <= free,
        "ways_out": [] if cost.peak() <= free else ways_out(cost, free),
        "operations": cost.operations,
        "passes": [
            {
                "kernel": one.kernel,
                "rows": one.rows,
                "separators": one.draws,
                "times": one.times,
                "operations": one.times * one.operations,
                "seconds": None if speed is None else speed.of(one) / cost.workers,
            }
            for one in cost.passes
        ],
        "normals_drawn_again": cost.redrawn,
        "seconds": None if speed is None else speed.total(cost),
    }


def _print_memory(console: Console, cost: Cost, item: int, dtype: str) -> None:
    where = f", {cost.workers} workers" if cost.workers > 1 else ""
    where += f", {cost.classes} classes" if cost.classes > 2 else ""
    where += f", {cost.landmarks} landmarks" if cost.landmarks else ""
    table = Table(title=f"Memory of a round over {cost.rows} rows x {cost.features} features{where}")
    table.add_column("part")
    table.add_column("size", justify="right")
    table.add_column("what it is")
    table.add_row("on disk", in_words(cost.on_disk(item)), f"the rows as {dtype}")
    table.add_section()
    for name, size in cost.memory.items():
        if size:
            table.add_row(name, in_words(size), PARTS[name])
    table.add_section()
    table.add_row("peak", in_words(cost.peak()), "with the rows in memory")
    if not cost.sparse:
        table.add_row("", in_words(cost.peak(in_memory=False)), "with the rows read from disk")
    if cost.workers > 1:
        table.add_row("", in_words(cost.worker()), "in each worker")
    console.print(table)


def _print_work(console: Console, cost: Cost, speed: Speed | None) -> None:
    """Print one line for each kind of pass, over the pool and over a sample together."""
    threads = f"{cost.threads} thread{'s' if cost.threads > 1 else ''}"
    table = Table(title=f"Work at most: {cost.draws} draws, {threads}")
    table.add_column("passes")
    for heading in ("times", "rows seen", "operations", *(["seconds"] if speed else [])):
        table.add_column(heading, justify="right")

    def add(name: str, times: int, seen: int, operations: int, seconds: float) -> None:
        numbers = [str(times or ""), _short(seen), _short(operations)]
        table.add_row(name, *numbers, *([f"{seconds:.1f}"] if speed else []))

    kinds: dict[str, list[Pass]] = {}
    for one in cost.passes:
        kinds.setdefault(PASSES.get(one.kernel, one.kernel), []).append(one)
    for name, same in kinds.items():
        add(
            name,
            sum(one.times for one in same),
            sum(one.times * one.rows for one in same),
            sum(one.times * one.operations for one in same),
            sum(speed.of(one) for one in same) / cost.workers if speed else 0.0,
        )
    if cost.redrawn:
        again = speed.redrawing(cost) / cost.workers if speed else 0.0
        add("noise drawn again", 0, cost.redrawn // cost.columns, 0, again)
    add("solutions, draw", 0, 0, cost.solutions, speed.rest(cost) if speed else 0.0)
    table.add_section()
    add("all", 0, 0, cost.operations, speed.total(cost) if speed else 0.0)
    console.print(table)
    if speed:
        console.print(
            f"About {duration(speed.total(cost))} on this machine, reading from disk not counted."
        )


def _short(number: int) -> str:
    """Two digits and a power of ten."""
    return f"{number:.1e}".replace("e+", "e") if number else ""
