"""What aced theory prints, writes and draws."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from aced.cli._outputs import COLOURS
from aced.design.explicit import Allocation
from aced.theory import Heat, Measures


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


def print_measures(console: Console, instance: str, found: Measures, delta: float) -> None:
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


def print_race(console: Console, instance: str, axis: str, heats: list[Heat], delta: float) -> None:
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
