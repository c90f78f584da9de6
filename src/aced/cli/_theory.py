"""aced theory: the complexity measures of an instance, and races between algorithms on it."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table
from typer.core import TyperGroup

from aced._errors import InvalidInput
from aced._files import check_writable
from aced.cli._outputs import COLOURS, check_plot, write_text
from aced.design.explicit import Allocation
from aced.theory import INSTANCES, Bandit, Measures, from_file, measure
from aced.theory.race import ALGORITHMS, Heat, check_algorithms, heat

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
        raise InvalidInput(f"INSTANCE must be one of {NAMES} Got {instance!r}")
    if m is not None and instance != "spread":
        raise InvalidInput(f"--m is the size of spread; {instance} takes --n")
    if n is not None and (instance == "spread" or file):
        raise InvalidInput(f"--n does not apply to {instance}" + ("" if file else "; it takes --m"))
    if file and noise is not None:
        raise InvalidInput("--noise does not apply to a file: its eta says what the noise is")
    if hypotheses is not None and instance != "random":
        raise InvalidInput("--hypotheses applies to random only")
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
    _print_measures(console, instance, found, delta)


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
        raise InvalidInput(f"--delta must lie between 0 and 1, got {delta}")
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
    _print_race(console, instance, axis, heats, delta)
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
        check_writable("--json", Path(json_file))


def _emit(json_file: str | None, record: Any) -> Console:
    """Write the JSON where it was asked for; the console for people."""
    if json_file is not None:
        text = json.dumps(record, indent=2, allow_nan=False) + "\n"
        if json_file == "-":
            sys.stdout.write(text)
        else:
            write_text(Path(json_file), text)
    return Console(stderr=json_file == "-")


def _number(value: float | None) -> float | None:
    """JSON has no infinity."""
    return value if value is not None and math.isfinite(value) else None


def _certificate(found: Allocation) -> dict[str, float | None]:
    return {
        "value": _number(found.value),
        "lower": _number(found.lower),
        "stderr": _number(found.stderr),
    }


def measures_json(found: Measures, delta: float) -> dict[str, Any]:
    """One flat object; null where a quantity is infinite or does not apply."""
    bounds = found.bounds
    return {
        "n": found.n,
        "hypotheses": found.hypotheses,
        "epsilon": found.epsilon,
        "delta": delta,
        "rho": _number(found.rho.value),
        "gamma": _number(found.gamma.value),
        "psi": _number(found.psi.value),
        "disagreement": found.disagreement,
        "delta_min": _number(found.delta_min),
        "nu": found.nu,
        "vc_dimension": found.dimension,
        "vc_dimension_exact": found.dimension_exact,
        "tsybakov": None
        if found.tsybakov is None
        else {"a": found.tsybakov.a, "alpha": found.tsybakov.alpha},
        "bounds": None
        if bounds is None
        else {
            "aced": _number(bounds.aced),
            "union": _number(bounds.union),
            "efficient": _number(bounds.efficient),
            "disagreement": _number(bounds.disagreement),
            "tsybakov": _number(bounds.tsybakov),
        },
        "certificates": {
            "rho": _certificate(found.rho),
            "gamma": _certificate(found.gamma),
            "psi": _certificate(found.psi),
        },
    }


def race_json(
    instance: str, heats: list[Heat], delta: float, epsilon: float, trials: int, seed: int
) -> dict[str, Any]:
    """Every algorithm on every size."""
    return {
        "instance": instance,
        "delta": delta,
        "epsilon": epsilon,
        "trials": trials,
        "seed": seed,
        "sizes": [
            {
                "size": one.size,
                **measures_json(one.measures, delta),
                "algorithms": [
                    {
                        "algorithm": entry.algorithm,
                        "labels": entry.labels,
                        "stderr": entry.stderr,
                        "distinct": entry.distinct,
                        "failures": entry.failures,
                        "trials": entry.trials,
                        "finished": entry.finished,
                        "predicted": _number(entry.predicted),
                    }
                    for entry in one.entries
                ],
            }
            for one in heats
        ],
    }


def _print_measures(console: Console, instance: str, found: Measures, delta: float) -> None:
    table = Table(title=f"{instance}: {found.n} rows, {found.hypotheses} hypotheses")
    table.add_column("measure")
    table.add_column("value", justify="right")
    table.add_column("+-", justify="right")
    table.add_column("at least", justify="right")  # three standard errors down where estimated
    table.add_column("what it is")
    for name, measured, text in (
        ("rho", found.rho, "cost of one comparison"),
        ("gamma", found.gamma, "cost of all comparisons at once"),
        ("psi", found.psi, "cost of the rarest draw"),
    ):
        error = f"{measured.stderr:.2g}" if measured.stderr > 0 else ""
        table.add_row(name, _short(measured.value), error, _short(measured.lower), text)
    table.add_row(
        "disagreement", _short(found.disagreement), "", "", f"its coefficient at {found.epsilon:g}"
    )
    table.add_row("delta_min", _short(found.delta_min), "", "", "excess error of the best rival")
    table.add_row("nu", _short(found.nu), "", "", "error of the best")
    exact = "exact" if found.dimension_exact else "an upper bound: log2 of the class"
    table.add_row("VC dimension", str(found.dimension), "", "", exact)
    pair = found.tsybakov
    table.add_row(
        "tsybakov",
        "none" if pair is None else f"{pair.a:.3g}",
        "",
        "",
        _why_none(found) if pair is None else f"a, for alpha {pair.alpha:.2g}",
    )
    console.print(table)
    if found.bounds is None:
        console.print(f"No bounds: {_why_none(found)}.")
        return
    at = found.epsilon if found.epsilon > 0 else found.delta_min
    bounds = Table(title=f"Labels up to a constant, error {at:.4g}, confidence {1 - delta:g}")
    bounds.add_column("method")
    bounds.add_column("bound", justify="right")
    bounds.add_row("aced: gamma + rho log(1/delta)", _short(found.bounds.aced))
    bounds.add_row("union bound: rho log(H/delta)", _short(found.bounds.union))
    bounds.add_row("efficient aced: with psi", _short(found.bounds.efficient))
    bounds.add_row("disagreement, agnostic", _short(found.bounds.disagreement))
    bounds.add_row("disagreement, Tsybakov", _short(found.bounds.tsybakov))
    console.print(bounds)


def _why_none(found: Measures) -> str:
    return (
        "a single hypothesis" if found.hypotheses == 1 else "a rival ties with the best; see --epsilon"
    )


def _short(value: float | None) -> str:
    return "-" if value is None else f"{value:.5g}"


def _print_race(console: Console, instance: str, axis: str, heats: list[Heat], delta: float) -> None:
    """Labels, failures and growth: measured, and by the bound of the paper."""
    table = Table(title=f"{instance}: labels for failure probability {delta:g}")
    table.add_column("algorithm", no_wrap=True)
    for heading in (axis, "labels", "rows", "failures", "growth", "bound's"):
        table.add_column(heading, justify="right")
    table.add_column("log scale")
    most = max(entry.labels for one in heats for entry in one.entries)
    for position in range(len(heats[0].entries)):
        first = heats[0].entries[position]
        for one in heats:
            entry = one.entries[position]
            growth = f"{entry.labels / first.labels:.2f}" if first.labels > 0 else "-"
            bound = (
                f"{entry.predicted / first.predicted:.2f}"
                if entry.predicted and first.predicted
                else "-"
            )
            table.add_row(
                entry.algorithm if one is heats[0] else "",
                str(one.size),
                f"{entry.labels:.0f}" + ("" if entry.finished else "+"),
                f"{entry.distinct:.0f}",
                f"{entry.failures}/{entry.trials}",
                growth,
                bound,
                "█" * max(1, round(10 * math.log(max(entry.labels, 1.5)) / math.log(max(most, 2)))),
            )
        table.add_section()
    console.print(table)
    if any(not entry.finished for one in heats for entry in one.entries):
        console.print("+: stopped at its cap, or no budget sufficed")


def draw_race(path: Path, instance: str, axis: str, heats: list[Heat]) -> None:
    """Labels against size on log scales; dashed, the bound scaled to meet the first point."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, plane = plt.subplots(figsize=(6.4, 4.6), layout="constrained")
    sizes = [one.size for one in heats]
    for index, name in enumerate(entry.algorithm for entry in heats[0].entries):
        colour = COLOURS[index % len(COLOURS)]
        entries = [one.entries[index] for one in heats]
        labels = [max(entry.labels, 0.5) for entry in entries]  # a log scale has no zero
        plane.plot(sizes, labels, "o-", color=colour, label=name)
        scale = labels[0] / (entries[0].predicted or math.nan)
        plane.plot(
            sizes, [scale * (entry.predicted or math.nan) for entry in entries], "--", color=colour
        )
    plane.set_xscale("log")
    plane.set_yscale("log")
    plane.set_xticks(sizes, [str(size) for size in sizes])
    plane.minorticks_off()
    plane.set_xlabel(axis)
    plane.set_ylabel("labels")
    plane.set_title(f"{instance}: labels needed (dashed: growth of the bound)")
    plane.grid(alpha=0.25)
    plane.legend(fontsize=8)
    figure.savefig(path, dpi=130)
    plt.close(figure)
