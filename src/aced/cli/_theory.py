"""aced theory: the complexity measures of an instance, and races between algorithms on it."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from typer.core import TyperGroup

from aced._errors import InvalidInput
from aced._files import check_writable
from aced.cli._outputs import check_plot, write_text
from aced.cli._theory_outputs import draw_race, measures_json, print_measures, print_race, race_json
from aced.theory import ALGORITHMS, INSTANCES, Bandit, check_algorithms, from_file, heat, measure

NAMES = f"{', '.join(INSTANCES)}, or an .npz file with H and eta."
SIZES = {"spread": 20, "thresholds": 64, "rectangles": 12, "random": 24}
"""Default m or n of a race."""


class WithDefault(TyperGroup):
    """`aced theory INSTANCE` is `aced theory measure INSTANCE`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if args and args[0] not in self.commands and args[0] not in ("-h", "--help"):
            args = ["measure", *args]
        return super().parse_args(ctx, args)


app = typer.Typer(
    cls=WithDefault,
    help="Complexity measures of an instance (aced theory INSTANCE), and races between algorithms.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

Instance = Annotated[str, typer.Argument(metavar="INSTANCE", help=NAMES)]
M = Annotated[int | None, typer.Option("--m", help="Size of spread: m + m² rows.")]
N = Annotated[int | None, typer.Option("--n", help="Rows of the other instances.")]
Hypotheses = Annotated[int | None, typer.Option(help="Hypotheses of random (default: 2n).")]
NoiseOption = Annotated[float | None, typer.Option(help="Probability of a flipped label.")]
Epsilon = Annotated[float, typer.Option(help="Tolerated error above the best; 0: none.")]
Delta = Annotated[float, typer.Option(help="Tolerated probability of failure.")]
Seed = Annotated[int, typer.Option(help="Same seed, same result.")]
Json = Annotated[
    str | None, typer.Option("--json", metavar="FILE|-", help="Write the result as JSON; - prints it.")
]


def _build(
    instance: str,
    size: int | None,
    noise: float | None,
    seed: int,
    hypotheses: int | None,
) -> Bandit:
    """The instance of this size (its own default when None)."""
    if instance.endswith(".npz"):
        return from_file(Path(instance))
    options: dict[str, Any] = {} if noise is None else {"noise": noise}
    if size is not None:
        options["m" if instance == "spread" else "n"] = size
    if instance in ("rectangles", "random"):
        options["seed"] = seed
    if instance == "random" and (hypotheses is not None or size is not None):
        wanted = hypotheses if hypotheses is not None else 2 * (size or 1)
        options["hypotheses"] = wanted if size is None else min(wanted, 2 ** min(size - 1, 20))
    return INSTANCES[instance](**options)


def _check(
    instance: str, m: int | None, n: int | None, noise: float | None, hypotheses: int | None
) -> int | None:
    """Options that do not belong to the instance are refused; returns its size option."""
    file = instance.endswith(".npz")
    if not file and instance not in INSTANCES:
        raise InvalidInput("instance", f"must be one of {NAMES} Got {instance!r}")
    if m is not None and instance != "spread":
        raise InvalidInput("m", f"is the size of spread; {instance} takes --n")
    if n is not None and (instance == "spread" or file):
        raise InvalidInput("n", f"does not apply to {instance}" + ("" if file else "; it takes --m"))
    if file and noise is not None:
        raise InvalidInput("noise", "does not apply to a file: its eta says what the noise is")
    if hypotheses is not None and instance != "random":
        raise InvalidInput("hypotheses", "applies to random only")
    return m if instance == "spread" else n


@app.command("measure")
def measure_command(
    instance: Instance,
    m: M = None,
    n: N = None,
    hypotheses: Hypotheses = None,
    noise: NoiseOption = None,
    epsilon: Epsilon = 0.0,
    delta: Delta = 0.1,
    seed: Seed = 0,
    json_file: Json = None,
) -> None:
    """Complexity measures of an instance and the sample-complexity bounds."""
    size = _check(instance, m, n, noise, hypotheses)
    _check_json(json_file)
    problem = _build(instance, size, noise, seed, hypotheses)
    with Console(stderr=True).status(f"measuring {instance}") as status:
        found = measure(
            problem, epsilon, delta=delta, seed=seed, report=lambda text: status.update(f"{text} …")
        )
    record = {"instance": instance, **measures_json(found, delta)}
    console = _emit(json_file, record)
    print_measures(console, instance, found, delta)


@app.command("race")
def race_command(
    instance: Instance,
    m: Annotated[int | None, typer.Option("--m", help="Largest m; half and a quarter too.")] = None,
    n: Annotated[int | None, typer.Option("--n", help="Largest n; half and a quarter too.")] = None,
    hypotheses: Hypotheses = None,
    noise: NoiseOption = None,
    epsilon: Epsilon = 0.0,
    delta: Delta = 0.1,
    trials: Annotated[int, typer.Option(help="Runs of each algorithm on each size.")] = 20,
    algorithm: Annotated[
        list[str] | None, typer.Option(help=f"Of {', '.join(ALGORITHMS)}; repeat. Default: all.")
    ] = None,
    seed: Seed = 0,
    json_file: Json = None,
    plot: Annotated[Path | None, typer.Option(metavar="FILE.png", help="Draw labels by size.")] = None,
) -> None:
    """Algorithms side by side: labels used, failures, and how both grow with the size."""
    size = _check(instance, m, n, noise, hypotheses)
    _check_json(json_file)
    if plot is not None:
        check_plot(plot)
    names = tuple(algorithm or ALGORITHMS)
    check_algorithms(names)
    if not 0 < delta < 1:
        raise InvalidInput("delta", f"must lie between 0 and 1, got {delta}")
    problems = _problems(instance, size, noise, seed, hypotheses)
    heats = []
    with _progress() as bar:
        for number, problem in problems.items():
            task = bar.add_task(f"{instance} {number}", total=None)
            tick = _ticker(bar, task, f"{instance} {number}")
            heats.append(
                heat(
                    problem,
                    number,
                    delta=delta,
                    trials=trials,
                    epsilon=epsilon,
                    seed=seed,
                    algorithms=names,
                    tick=tick,
                )
            )
            bar.remove_task(task)
    console = _emit(json_file, race_json(instance, heats, delta, epsilon, trials, seed))
    axis = "m" if instance == "spread" else "n"
    print_race(console, instance, axis, heats, delta)
    if plot is not None:
        draw_race(plot, instance, axis, heats)
        console.print(f"Labels by size drawn in {plot}")


def _problems(
    instance: str, size: int | None, noise: float | None, seed: int, hypotheses: int | None
) -> dict[int, Bandit]:
    """Instances by size: the one asked for, half and a quarter of it (a file: itself)."""
    if instance.endswith(".npz"):
        problem = _build(instance, None, None, seed, None)
        return {problem.n: problem}
    largest = size if size is not None else SIZES[instance]
    least = 2 if instance == "spread" else 4
    sizes = sorted({max(least, largest // 4), max(least, largest // 2), largest})
    return {s: _build(instance, s, noise, seed, hypotheses) for s in sizes if s <= largest}


def _progress() -> Progress:
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("trials"),
        TimeElapsedColumn(),
        console=Console(stderr=True),
        transient=True,
    )


def _ticker(bar: Progress, task: Any, label: str) -> Callable[[str, int, int], None]:
    def tick(text: str, done: int, total: int) -> None:
        bar.update(task, description=f"{label}: {text}", completed=done, total=total)

    return tick


def _check_json(json_file: str | None) -> None:
    if json_file is not None and json_file != "-":
        check_writable("json", Path(json_file))


def _emit(json_file: str | None, record: Any) -> Console:
    """Write the JSON where it was asked for; the console for people."""
    if json_file is not None:
        text = json.dumps(record, indent=2, allow_nan=False) + "\n"
        if json_file == "-":
            sys.stdout.write(text)
        else:
            write_text(Path(json_file), text)
    return Console(stderr=json_file == "-")
