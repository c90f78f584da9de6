"""What aced theory prints, writes and draws."""

from __future__ import annotations

import math
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from aced.bench import pyplot
from aced.cli._outputs import COLOURS
from aced.theory import Heat, Measures

COSTS = {
    "rho": "cost of one comparison",
    "gamma": "cost of all comparisons at once",
    "psi": "cost of the rarest draw",
}
BOUNDS = {
    "aced": "aced: gamma + rho log(1/delta)",
    "union": "union bound: rho log(H/delta)",
    "efficient": "efficient aced: with psi",
    "disagreement": "disagreement, agnostic",
    "tsybakov": "disagreement, Tsybakov",
}


def _number(value: float | None) -> float | None:
    """The value, or None if it is infinite: JSON has no infinity."""
    return value if value is not None and math.isfinite(value) else None


def _numbers(found: object, *names: str) -> dict[str, float | None]:
    return {name: _number(getattr(found, name)) for name in names}


def measures_json(found: Measures, delta: float) -> dict[str, Any]:
    """One flat object; null where a quantity is infinite or does not apply."""
    costs = {name: getattr(found, name) for name in COSTS}
    return {
        "n": found.n,
        "hypotheses": found.hypotheses,
        "classes": found.classes,
        "epsilon": found.epsilon,
        "delta": delta,
        **{name: _number(cost.value) for name, cost in costs.items()},
        "disagreement": found.disagreement,
        "delta_min": _number(found.delta_min),
        "nu": found.nu,
        "vc_dimension": found.dimension,
        "vc_dimension_exact": found.dimension_exact,
        "tsybakov": None if found.tsybakov is None else asdict(found.tsybakov),
        "bounds": None if found.bounds is None else _numbers(found.bounds, *BOUNDS),
        "certificates": {
            name: _numbers(cost, "value", "lower", "stderr") for name, cost in costs.items()
        },
    }


def race_json(instance: str, heats: list[Heat], options: dict[str, Any]) -> dict[str, Any]:
    """Every algorithm on every size, and the options of the race."""
    sizes = []
    for one in heats:
        entries = [{**asdict(e), "predicted": _number(e.predicted)} for e in one.entries]
        for entry in entries:
            del entry["seconds"]  # the only part that a second run would not repeat
        measures = measures_json(one.measures, options["delta"])
        sizes.append({"size": one.size, **measures, "algorithms": entries})
    return {"instance": instance, **options, "sizes": sizes}


def print_measures(console: Console, instance: str, found: Measures, delta: float) -> None:
    size = f"{found.n} rows, {found.hypotheses} hypotheses"
    size += f", {found.classes} classes" if found.classes > 2 else ""
    table = Table(title=f"{instance}: {size}")
    table.add_column("measure")
    for heading in ("value", "+-", "at least"):  # at least: three standard errors below an estimate
        table.add_column(heading, justify="right")
    table.add_column("what it is")
    for name, text in COSTS.items():
        cost = getattr(found, name)
        error = f"{cost.stderr:.2g}" if cost.stderr > 0 else ""
        table.add_row(name, _short(cost.value), error, _short(cost.lower), text)
    exact = "exact" if found.dimension_exact else "an upper bound: log2 of the hypotheses"
    exact = "for two classes only" if found.dimension is None else exact
    pair = ("none", _why_none(found))
    if found.tsybakov is not None:
        pair = (f"{found.tsybakov.a:.3g}", f"a, for alpha {found.tsybakov.alpha:.2g}")
    for name, value, text in (
        ("disagreement", _short(found.disagreement), f"disagreement coefficient at {found.epsilon:g}"),
        ("delta_min", _short(found.delta_min), "excess error of the best rival"),
        ("nu", _short(found.nu), "error of the best hypothesis"),
        ("VC dimension", _short(found.dimension), exact),
        ("tsybakov", *pair),
    ):
        table.add_row(name, value, "", "", text)
    console.print(table)
    if found.bounds is None:
        console.print(f"No bounds: {_why_none(found)}.")
        return
    at = found.epsilon if found.epsilon > 0 else found.delta_min
    bounds = Table(title=f"Labels up to a constant, error {at:.4g}, confidence {1 - delta:g}")
    bounds.add_column("method")
    bounds.add_column("bound", justify="right")
    for name, method in BOUNDS.items():
        bounds.add_row(method, _short(getattr(found.bounds, name)))
    console.print(bounds)
    if found.classes > 2:
        console.print("Bounds without a number are proved for two classes only.")


def _why_none(found: Measures) -> str:
    if found.hypotheses == 1:
        return "a single hypothesis"
    return "a rival is as good as the best hypothesis; see --epsilon"


def _short(value: float | None) -> str:
    return "-" if value is None else f"{value:.5g}"


def print_race(console: Console, instance: str, axis: str, heats: list[Heat], delta: float) -> None:
    """Print labels, failures and growth, as measured and as the paper's bound predicts."""
    table = Table(title=f"{instance}: labels for failure probability {delta:g}")
    table.add_column("algorithm", no_wrap=True)
    for heading in (axis, "labels", "rows", "failures", "growth", "bound's"):
        table.add_column(heading, justify="right")
    table.add_column("log scale")
    most = max(entry.labels for one in heats for entry in one.entries)
    for position, first in enumerate(heats[0].entries):
        for one in heats:
            entry = one.entries[position]
            growth = f"{entry.labels / first.labels:.2f}" if first.labels > 0 else "-"
            bound = "-"
            if entry.predicted and first.predicted:
                bound = f"{entry.predicted / first.predicted:.2f}"
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
        console.print("+: the algorithm stopped early (at its cap, say), or no budget sufficed")


def draw_race(path: Path, instance: str, axis: str, heats: list[Heat]) -> None:
    """Labels against size on log scales; dashed, the bound scaled to meet the first point."""
    plt = pyplot()
    figure, plane = plt.subplots(figsize=(6.4, 4.6), layout="constrained")
    sizes = [one.size for one in heats]
    for index, name in enumerate(entry.algorithm for entry in heats[0].entries):
        colour = COLOURS[index % len(COLOURS)]
        entries = [one.entries[index] for one in heats]
        labels = [max(entry.labels, 0.5) for entry in entries]  # a log scale has no zero
        plane.plot(sizes, labels, "o-", color=colour, label=name)
        scale = labels[0] / (entries[0].predicted or math.nan)
        bounds = [scale * (entry.predicted or math.nan) for entry in entries]
        plane.plot(sizes, bounds, "--", color=colour)
    title = f"{instance}: labels needed (dashed: growth of the bound)"
    plane.set(xscale="log", yscale="log", xlabel=axis, ylabel="labels", title=title)
    plane.set_xticks(sizes, [str(size) for size in sizes])
    plane.minorticks_off()
    plane.grid(alpha=0.25)
    plane.legend(fontsize=8)
    figure.savefig(path, dpi=130)
    plt.close(figure)
