"""aced theory: measure the complexity of an instance, and race algorithms on it."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from typer.core import TyperGroup

from aced._check import probability
from aced._errors import InvalidInput
from aced._files import check_writable
from aced.cli._outputs import check_plot, write_text
from aced.cli._theory_outputs import draw_race, measures_json, print_measures, print_race, race_json
from aced.theory import ALGORITHMS, INSTANCES, Bandit, check_algorithms, from_file, heat, measure

NAMES = f"{', '.join(INSTANCES)}, or an .npz file with H and eta."
SIZES = {"spread": 20, "thresholds": 64, "rectangles": 12, "random": 24}
"""The default m or n of a race, for each instance."""
MANY = ("thresholds", "random")
"""The instances that --classes applies to."""


class WithDefault(TyperGroup):
    """`aced theory INSTANCE` is `aced theory measure INSTANCE`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if args and args[0] not in self.commands and args[0] not in ("-h", "--help"):
            args = ["measure", *args]
        return super().parse_args(ctx, args)


app = typer.Typer(
    cls=WithDefault,
    help="Measure an instance, or race algorithms on it. aced theory INSTANCE measures it.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

Instance = Annotated[str, typer.Argument(metavar="INSTANCE", help=NAMES)]
M = Annotated[int | None, typer.Option("--m", help="Size of spread, which has m + m² rows.")]
N = Annotated[int | None, typer.Option("--n", help="Number of rows of the other instances.")]
Hypotheses = Annotated[int | None, typer.Option(help="Number of hypotheses of random (default: 2n).")]
Classes = Annotated[
    int | None, typer.Option(help=f"Number of classes of {' and '.join(MANY)} (default: 2).")
]
NoiseOption = Annotated[float | None, typer.Option(help="Probability that a label is flipped.")]
Epsilon = Annotated[float, typer.Option(help="Tolerated error above that of the best hypothesis.")]
Delta = Annotated[float, typer.Option(help="Tolerated probability of failure.")]
Seed = Annotated[int, typer.Option(help="The same seed gives the same result.")]
Json = Annotated[
    str | None, typer.Option("--json", metavar="FILE|-", help="Write the result as JSON; - prints it.")
]


@dataclass(frozen=True)
class Wanted:
    """The instance that was asked for. Options that do not belong to it are refused."""

    instance: str
    m: int | None
    n: int | None
    hypotheses: int | None
    classes: int | None
    noise: float | None
    seed: int

    def __post_init__(self) -> None:
        instance, file = self.instance, self.instance.endswith(".npz")
        if not file and instance not in INSTANCES:
            raise InvalidInput("instance", f"must be one of {NAMES} Got {instance!r}")
        if self.m is not None and instance != "spread":
            raise InvalidInput("m", f"is the size of spread; {instance} takes --n")
        if self.n is not None and (instance == "spread" or file):
            raise InvalidInput("n", f"does not apply to {instance}" + ("" if file else "; it takes --m"))
        if file and self.noise is not None:
            raise InvalidInput("noise", "does not apply to a file: its eta says what the noise is")
        if self.hypotheses is not None and instance != "random":
            raise InvalidInput("hypotheses", "applies to random only")
        if self.classes is not None and instance not in MANY:
            why = "its eta says how many there are" if file else "it has two"
            raise InvalidInput("classes", f"applies to {' and '.join(MANY)}, not to {instance}: {why}")

    @property
    def axis(self) -> str:
        return "m" if self.instance == "spread" else "n"

    def build(self, size: int | None = None) -> Bandit:
        """The instance of this size; None is the size asked for, or else the instance's default."""
        if self.instance.endswith(".npz"):
            return from_file(Path(self.instance))
        size = getattr(self, self.axis) if size is None else size
        options: dict[str, Any] = {} if self.noise is None else {"noise": self.noise}
        if size is not None:
            options[self.axis] = size
        if self.instance in ("rectangles", "random"):
            options["seed"] = self.seed
        if self.classes is not None:
            options["classes"] = self.classes
        if self.instance == "random" and (self.hypotheses is not None or size is not None):
            count = self.hypotheses if self.hypotheses is not None else 2 * (size or 1)
            most = (self.classes or 2) ** min((size or 1) - 1, 20)
            options["hypotheses"] = count if size is None else min(count, most)
        return INSTANCES[self.instance](**options)

    def by_size(self) -> dict[int, Bandit]:
        """Instances of the size asked for, of half and of a quarter of it; a file is one instance."""
        if self.instance.endswith(".npz"):
            problem = self.build()
            return {problem.n: problem}
        asked = getattr(self, self.axis)
        largest = SIZES[self.instance] if asked is None else asked
        least = 2 if self.instance == "spread" else 4
        sizes = sorted({max(least, largest // 4), max(least, largest // 2), largest})
        return {size: self.build(size) for size in sizes if size <= largest}


@app.command("measure")
def measure_command(
    instance: Instance,
    m: M = None,
    n: N = None,
    hypotheses: Hypotheses = None,
    classes: Classes = None,
    noise: NoiseOption = None,
    epsilon: Epsilon = 0.0,
    delta: Delta = 0.1,
    seed: Seed = 0,
    json_file: Json = None,
) -> None:
    """Print complexity measures of an instance, and bounds on labels."""
    wanted = Wanted(instance, m, n, hypotheses, classes, noise, seed)
    _check_json(json_file)
    problem = wanted.build()
    with Console(stderr=True).status(f"measuring {instance}") as status:
        found = measure(
            problem, epsilon, delta=delta, seed=seed, report=lambda text: status.update(f"{text} …")
        )
    console = _emit(json_file, {"instance": instance, **measures_json(found, delta)})
    print_measures(console, instance, found, delta)


@app.command("race")
def race_command(
    instance: Instance,
    m: Annotated[int | None, typer.Option("--m", help="Largest m; m/2 and m/4 are run too.")] = None,
    n: Annotated[int | None, typer.Option("--n", help="Largest n; n/2 and n/4 are run too.")] = None,
    hypotheses: Hypotheses = None,
    classes: Classes = None,
    noise: NoiseOption = None,
    epsilon: Epsilon = 0.0,
    delta: Delta = 0.1,
    trials: Annotated[int, typer.Option(help="Runs of each algorithm on each size.")] = 20,
    algorithm: Annotated[
        list[str] | None,
        typer.Option(help=f"One of {', '.join(ALGORITHMS)}; repeat. Default: all that apply."),
    ] = None,
    seed: Seed = 0,
    json_file: Json = None,
    plot: Annotated[Path | None, typer.Option(metavar="FILE.png", help="Draw labels by size.")] = None,
) -> None:
    """Compare algorithms on instances of growing size. It prints labels, failures and growth."""
    wanted = Wanted(instance, m, n, hypotheses, classes, noise, seed)
    _check_json(json_file)
    if plot is not None:
        check_plot(plot)
    names = tuple(algorithm) if algorithm else None
    check_algorithms(names or (), classes or 2)
    probability("delta", delta)
    options: dict[str, Any] = {"delta": delta, "epsilon": epsilon, "trials": trials, "seed": seed}
    problems = wanted.by_size()
    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TextColumn("trials")
    heats = []
    with Progress(*columns, TimeElapsedColumn(), console=Console(stderr=True), transient=True) as bar:
        for size, problem in problems.items():
            label = f"{instance} {size}"
            task = bar.add_task(label, total=None)

            def tick(text: str, done: int, total: int, label: str = label, task: Any = task) -> None:
                bar.update(task, description=f"{label}: {text}", completed=done, total=total)

            heats.append(heat(problem, size, **options, algorithms=names, tick=tick))
            bar.remove_task(task)
    console = _emit(json_file, race_json(instance, heats, options))
    print_race(console, instance, wanted.axis, heats, delta)
    if plot is not None:
        draw_race(plot, instance, wanted.axis, heats)
        console.print(f"Labels by size drawn in {plot}")


def _check_json(json_file: str | None) -> None:
    if json_file is not None and json_file != "-":
        check_writable("json", Path(json_file))


def _emit(json_file: str | None, record: Any) -> Console:
    """Write the JSON where it was asked for; return the console that people read."""
    if json_file is not None:
        text = json.dumps(record, indent=2, allow_nan=False) + "\n"
        if json_file == "-":
            sys.stdout.write(text)
        else:
            write_text(Path(json_file), text)
    return Console(stderr=json_file == "-")
