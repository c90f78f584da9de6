"""The pictures of a report."""

from __future__ import annotations

import io
import warnings
from typing import Any

import numpy as np

from aced._types import Array, Float64
from aced.bench._published import ACED
from aced.bench._summary import HOLDOUT, POOL, Runs, Task

COLOURS = (
    "#0b6e99", "#8a8a8a", "#c8553d", "#5a8f3d", "#7a4fa3", "#8a6d1d", "#d18fb3", "#2f4b7c",
    "#00876c", "#b33951", "#91785d", "#4d4d4d", "#e0a030", "#6c9bd2", "#a05195", "#3d3d8f",
)  # fmt: skip
LONGEST = 60
"""Most characters of a name in a picture."""


def figure(task: Task) -> bytes:
    """Curves of the pool (best so far), the pool (plain) and the holdout: mean and spread over seeds."""
    panels = [("pool, best so far", POOL, True), ("pool, plain", POOL, False)]
    if task.everything[HOLDOUT] is not None:
        panels.append(("holdout", HOLDOUT, False))
    shape = (4.6 * len(panels), 4.0)
    drawing, axes = pyplot().subplots(1, len(panels), figsize=shape, layout="constrained", squeeze=False)
    for axis, (title, measure, best) in zip(axes[0], panels, strict=True):
        for index, runs in enumerate(task.shown):
            x, values = _curves(runs, measure, best)
            if len(x) == 0:
                continue
            colour, mean = COLOURS[index % len(COLOURS)], np.nanmean(values, axis=0)
            axis.plot(x, mean, color=colour, label=_short(runs.label), linewidth=1.4)
            if len(values) > 1:
                spread = np.nanstd(values, axis=0)
                axis.fill_between(x, mean - spread, mean + spread, color=colour, alpha=0.15, linewidth=0)
        if best and task.name in ACED:
            points = ACED[task.name]
            axis.plot(list(points), list(points.values()), "k+", label="paper's ACED")
        axis.axhline(task.everything[measure], color="0.5", linestyle=":", linewidth=1)
        axis.set_title(f"{_short(task.name)}: {title}", fontsize=10)
        axis.set_xlabel("labels")
        axis.grid(alpha=0.25)
    axes[0][0].set_ylabel("accuracy")
    axes[0][-1].legend(fontsize=6.5, loc="lower right")
    return _png(drawing)


def sensitivity(task: Task) -> bytes:
    """For every strategy with a C0, the pool curve (best so far) at each value of the grid."""
    plt = pyplot()
    names = list(dict.fromkeys(runs.strategy for runs in task.every if runs.c0 is not None))
    across = min(3, len(names))
    down = -(-len(names) // across)
    shape = (4.6 * across, 3.4 * down)
    drawing, axes = plt.subplots(down, across, figsize=shape, layout="constrained", squeeze=False)
    for axis in axes.flat[len(names) :]:
        axis.axis("off")
    passive = next((runs for runs in task.shown if runs.strategy == "passive"), None)
    for axis, name in zip(axes.flat, names, strict=False):
        if passive is not None:
            axis.plot(*_best(passive), color="0.6", linewidth=2.5)
        grid = task.grid(name)
        for runs, shade in zip(grid, np.linspace(0, 0.9, len(grid)), strict=True):
            colour = plt.get_cmap("viridis")(shade)
            axis.plot(*_best(runs), color=colour, label=f"{runs.c0:g}", linewidth=1.2)
        axis.axhline(task.everything[POOL], color="0.5", linestyle=":", linewidth=1)
        axis.set_title(f"{_short(task.name)}: {_short(name)}", fontsize=10)
        axis.set_xlabel("labels")
        axis.grid(alpha=0.25)
        axis.legend(title="C0", fontsize=6, title_fontsize=6.5, loc="lower right")
    return _png(drawing)


def _curves(runs: Runs, measure: str, best: bool) -> tuple[Array, Float64]:
    """The labels (L,) of the longest run, and the accuracies of all runs there, (seeds, L)."""
    x = np.array([point["labels"] for point in max((r["curve"] for r in runs.records), key=len)])
    return x, runs.at(x, measure, best=best)


def _best(runs: Runs) -> tuple[Array, Float64]:
    x, values = _curves(runs, POOL, True)
    return x, np.nanmean(values, axis=0)


def pyplot() -> Any:
    """matplotlib's pyplot without a screen. It is loaded only when a picture is wanted."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    plt.rcParams["text.parse_math"] = False  # a dollar in a name is a dollar
    return plt


def _short(name: str) -> str:
    return name if len(name) <= LONGEST else f"{name[: LONGEST - 1]}…"


def _png(drawing: Any) -> bytes:
    stream = io.BytesIO()
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph")  # a name may hold letters that the font lacks
        drawing.savefig(stream, format="png", dpi=85)
    pyplot().close(drawing)
    return stream.getvalue()
