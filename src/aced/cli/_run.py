"""aced run: simulate labelling on a pool whose labels are known, and compare strategies."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from aced._check import probability, share, whole
from aced._errors import InvalidInput
from aced._files import check_writable
from aced.backends import make_workers
from aced.bench import Curve, Point, Wanted, check_strategy, fit_all, simulate
from aced.cli._outputs import (
    check_plot,
    draw_plot,
    print_representations,
    print_stops,
    print_table,
    write_text,
)
from aced.cli._project import only_one_stop, share_of
from aced.datasets import NAMES, Dataset, load_dataset
from aced.learner import Learner, check_stops, default_batch
from aced.pool import Pool
from aced.strategies import DEFAULT, STRATEGIES, Strategy, make_strategy, option_names, with_floor

ROUNDS = 24
"""Batches asked for when no budget is given."""
ANSWER_SECONDS = 6
"""Seconds within which a scheduler must answer and have a worker."""


def run(
    dataset: Annotated[
        str,
        typer.Argument(
            metavar="DATASET",
            help=f"{', '.join(NAMES)}, or a .npz, .csv or .parquet file.",
        ),
    ] = "digits",
    strategy: Annotated[
        list[str] | None,
        typer.Option(help=f"One of {', '.join(STRATEGIES)}; repeat to compare. Default: blend."),
    ] = None,
    budget: Annotated[
        int | None, typer.Option(help="Labels to ask for (default: 24 batches, at most half the pool).")
    ] = None,
    batch: Annotated[
        int | None, typer.Option(help="Labels in a round (default: 250, fewer for small pools).")
    ] = None,
    seed: Annotated[int, typer.Option(help="The same seed gives the same result.")] = 0,
    l2: Annotated[
        float | None,
        typer.Option(help="Logistic regression with this penalty on rows as they are; 0: the paper's."),
    ] = None,
    representation: Annotated[
        str | None,
        typer.Option(help="Columns of hypotheses: auto (the labels choose), linear (with --l2) or rbf."),
    ] = None,
    solver: Annotated[
        str | None, typer.Option(help="How aced finds its design: fixed-point (default) or mirror.")
    ] = None,
    search: Annotated[
        str | None, typer.Option(help="How aced searches for rivals: dinkelbach (default) or grid.")
    ] = None,
    oracle: Annotated[
        str | None, typer.Option(help="The hypotheses of aced: linear (default) or sklearn.")
    ] = None,
    estimator: Annotated[
        str | None,
        typer.Option(help="What is assumed of other rows: assisted (default), least-squares or naive."),
    ] = None,
    shift: Annotated[
        str | None,
        typer.Option(help="Difference in errors that counts as equal: row (default), labels or pool."),
    ] = None,
    fill: Annotated[
        str | None, typer.Option(help="Rows that water-filling looks at: open (default) or all.")
    ] = None,
    start: Annotated[
        str | None, typer.Option(help="How aced draws the first batch: design (default) or uniform.")
    ] = None,
    design_rows: Annotated[
        int | None, typer.Option(help="Find designs on a sample of this many rows.")
    ] = None,
    round_seconds: Annotated[
        float | None, typer.Option(help="Seconds for a round; designs use as many rows as fit.")
    ] = None,
    stop_accuracy: Annotated[
        float | None,
        typer.Option(metavar="SHARE", help="End when at least this share of the pool is surely right."),
    ] = None,
    stop_recall: Annotated[
        str | None,
        typer.Option(
            metavar="SHARE:CLASS",
            help="End when this share of the class is surely found, say 0.95:spam.",
        ),
    ] = None,
    stop_regret: Annotated[
        float | None,
        typer.Option(
            metavar="SHARE",
            help="End when no other classifier of the class is right on more than this share more.",
        ),
    ] = None,
    confidence: Annotated[float, typer.Option(help="How sure that is.")] = 0.95,
    explore: Annotated[
        float | None, typer.Option(help="Share of uniform draws, among those that a strategy chooses.")
    ] = None,
    label: Annotated[str | None, typer.Option(help="Label column of a .csv or .parquet file.")] = None,
    data_home: Annotated[
        Path | None, typer.Option(help="Folder with the paper's data sets (default: $ACED_DATA).")
    ] = None,
    threads: Annotated[
        int | None, typer.Option(help="Number of threads or processes (default: all cores).")
    ] = None,
    backend: Annotated[
        str | None, typer.Option(help="What computes: threads (default), processes or torch.")
    ] = None,
    device: Annotated[
        str | None, typer.Option(help="Where torch computes: cpu, cuda, cuda:1, mps (default: cpu).")
    ] = None,
    scheduler: Annotated[
        str | None,
        typer.Option(metavar="ADDRESS", help="Compute on a Dask cluster, say tcp://host:8786."),
    ] = None,
    json_file: Annotated[
        str | None, typer.Option("--json", metavar="FILE|-", help="Write curves as JSON; - prints them.")
    ] = None,
    plot: Annotated[Path | None, typer.Option(metavar="FILE.png", help="Draw the curves.")] = None,
) -> None:
    """Compare strategies by simulated labelling with known labels."""
    to_stdout = json_file == "-"
    console = Console(stderr=to_stdout)
    if json_file is not None and not to_stdout:
        check_writable("json", Path(json_file))
    if plot is not None:
        check_plot(plot)
    given = {
        "solver": solver,
        "search": search,
        "oracle": oracle,
        "estimator": estimator,
        "shift": shift,
        "fill": fill,
        "start": start,
        "design_rows": design_rows,
        "round_seconds": round_seconds,
    }
    designed = any(value is not None for value in given.values())
    names = strategy or ["aced" if designed else DEFAULT]
    options = _options(names, {name: value for name, value in given.items() if value is not None})
    for name in names:
        _built(name, options[name], explore)
    if batch is not None:
        whole("batch", batch, 1)
    if scheduler is not None and backend is not None:
        raise InvalidInput(
            "scheduler and backend", "a cluster is a backend of its own; pass one of them"
        )
    stops = {"accuracy": stop_accuracy, "recall": stop_recall, "regret": stop_regret}
    only_one_stop(stops)
    if stop_regret is not None and l2 is not None:
        raise InvalidInput("stop_regret", "is about the learner's own model; leave l2 out")
    for name in names if any(one is not None for one in stops.values()) else []:
        check_stops(_built(name, options[name], explore))
    make_workers(backend, threads, None, device)  # refuses a wrong name before anything is loaded
    Learner(np.eye(2), l2=l2, representation=representation)  # and this a contradiction
    with _cluster(scheduler) as client:
        workers = make_workers(backend, threads, client, device)
        with Console(stderr=True).status(f"loading {dataset}"):
            data = load_dataset(dataset, data_home=data_home, label=label)
            for name in names:
                check_strategy(make_strategy(name, options[name]), data)
            pool = Pool(data.X)
        size = batch if batch is not None else default_batch(len(pool))
        total = budget if budget is not None else min(max(1, len(pool) // 2), ROUNDS * size)
        _check_sizes(len(pool), total, size if batch is not None else None)
        how = {"budget": total, "batch": min(size, total), "seed": seed, "workers": workers}
        how |= {"l2": l2, "representation": representation, "certify": True, "explore": explore}
        how["regret"] = json_file is not None
        how["wanted"] = _wanted(stops, confidence, data)
        curves = _simulate_all(options, data, pool, **how)
    print_table(console, curves)
    print_representations(console, curves)
    print_stops(console, curves)
    if json_file is not None:
        records = [curve.to_json() for curve in curves]
        text = json.dumps(records if len(records) > 1 else records[0], indent=2) + "\n"
        if to_stdout:
            sys.stdout.write(text)
        else:
            write_text(Path(json_file), text)
    if plot is not None:
        draw_plot(plot, curves)
        console.print(f"Curves drawn in {plot}")


def _built(name: str, options: dict[str, Any], explore: float | None) -> Strategy:
    """The strategy with these options, and with this share of uniform draws if one is given."""
    if explore is not None and "explore" in option_names(name):
        return make_strategy(name, {**options, "explore": explore})
    made = make_strategy(name, options)
    return made if explore is None else with_floor(made, explore)


def _wanted(stops: dict[str, Any], confidence: float, data: Dataset) -> Wanted | None:
    """When the runs end before their budget, by these options."""
    probability("confidence", confidence)
    for of in ("accuracy", "regret"):
        if stops[of] is not None:
            return Wanted(share(f"stop_{of}", stops[of]), of, confidence=confidence)
    recall = stops["recall"]
    if recall is None:
        return None
    known = {str(value): value for value in np.unique(data.y).tolist()}
    least, name = share_of("stop_recall", recall, list(known))
    return Wanted(least, "recall", known[name], confidence)


def _options(names: list[str], given: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """The given options that each strategy has. An option that no strategy has is refused."""
    taken = {name: option_names(name) for name in names}
    for option in given:
        if not any(option in own for own in taken.values()):
            raise InvalidInput(option, f"is no option of {' or '.join(names)}; leave it out")
    return {name: {o: value for o, value in given.items() if o in own} for name, own in taken.items()}


@contextmanager
def _cluster(address: str | None) -> Iterator[Any]:
    """A client of the cluster at this address; None without an address."""
    if address is None:
        yield None
        return
    try:
        import distributed
    except ImportError:
        raise InvalidInput(
            "scheduler", "a cluster needs dask; install it with: pip install 'aced[dask]'"
        ) from None
    try:
        asyncio.run(asyncio.wait_for(_identity(distributed, address), ANSWER_SECONDS))
    except Exception:  # whatever listens there may send anything
        raise InvalidInput(
            "scheduler", f"no Dask scheduler answers at {address}; start one with: dask scheduler"
        ) from None
    connect: Any = distributed.Client
    with connect(address, timeout=ANSWER_SECONDS, set_as_default=False) as client:
        try:
            client.wait_for_workers(1, timeout=ANSWER_SECONDS)
        except TimeoutError:
            raise InvalidInput(
                "scheduler", f"{address} has no workers; start one with: dask worker {address}"
            ) from None
        yield client


async def _identity(distributed: Any, address: str) -> None:
    """Ask whether a scheduler answers. A client that finds none would take long to give up."""
    how = distributed.Security().get_connection_args("client")
    async with distributed.rpc(address, timeout=ANSWER_SECONDS, connection_args=how) as peer:
        await peer.identity()


def _check_sizes(rows: int, budget: int, batch: int | None) -> None:
    whole("budget", budget, 1)
    if budget > rows:
        raise InvalidInput("budget", f"is {budget}, but the pool has {rows} rows; use at most {rows}")
    if batch is not None and batch > budget:
        raise InvalidInput("batch", f"is {batch}, but the budget is {budget}; use at most that")


def _simulate_all(
    options: dict[str, dict[str, Any]], data: Dataset, pool: Pool, **how: Any
) -> list[Curve]:
    """A curve for each strategy with its options; ``how`` goes to :func:`aced.bench.simulate`."""
    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("labels"),
        TimeElapsedColumn(),
        TextColumn("{task.fields[note]}", style="dim"),
        console=Console(stderr=True),
        transient=True,
    )
    curves = []
    with bar:
        task = bar.add_task("all labels", total=None, note="")
        same = {name: how[name] for name in ("l2", "representation", "workers")}
        everything = fit_all(data, pool, **same)
        bar.remove_task(task)
        for name, own in options.items():
            task = bar.add_task(name, total=how["budget"], note="")

            def tick(point: Point, task: Any = task) -> None:
                note = f"pool accuracy {point.pool_accuracy:.4f}"
                bar.update(task, completed=point.labels, note=note)

            def report(text: str, task: Any = task) -> None:
                bar.update(task, note=text)

            built = _built(name, own, how["explore"])
            rest = {key: value for key, value in how.items() if key != "explore"}
            seen: dict[str, Any] = {"all_labels": everything, "tick": tick, "report": report}
            curve = simulate(data, pool, built, **seen, **rest)
            curves.append(curve)
    return curves
