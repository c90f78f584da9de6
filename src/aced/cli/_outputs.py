"""Tables, files and pictures of the command line."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rich.console import Console
from rich.table import Table

from aced._errors import InvalidInput
from aced._files import check_writable, replacing
from aced.bench import Curve, pyplot

COLOURS = ("#0b6e99", "#c8553d", "#5a8f3d", "#7a4fa3", "#8a6d1d", "#444444", "#d18fb3")
PLOTS = (".png", ".svg", ".pdf")


def check_plot(path: Path) -> None:
    check_writable("plot", path)
    if path.suffix not in PLOTS:
        raise InvalidInput("plot", f"{path} must end in {', '.join(PLOTS)}")
    need_matplotlib("plot")


def need_matplotlib(argument: str) -> None:
    try:
        import matplotlib  # noqa: F401
    except ImportError as error:
        raise InvalidInput(argument, "needs matplotlib; pip install 'aced[plot]'") from error


def write_text(path: Path, text: str) -> None:
    write_bytes(path, text.encode())


def write_bytes(path: Path, content: bytes) -> None:
    """Replace a file. On a full disk the old file stays, and a sentence says so."""
    with saving(path), replacing(path) as file:
        file.write(content)


@contextmanager
def saving(path: Path) -> Iterator[None]:
    """Say in a sentence that a file cannot be written, and why."""
    try:
        yield
    except OSError as error:
        said = f"cannot be written ({error.strerror or error}); make room, or name another place"
        raise InvalidInput(str(path), said) from error


def _percent(value: float | None) -> str:
    return "-" if value is None else f"{100 * value:.2f} %"


def print_table(console: Console, curves: list[Curve]) -> None:
    """Print a line for each strategy and one for all labels; mean pool is the mean over the curve."""
    first = curves[0]
    title = f"{first.dataset}: {first.rows} rows, {first.features} features, seed {first.seed}"
    table = Table(title=title)
    table.add_column("strategy")
    for heading in ("labels", "pool", "holdout", "mean pool", "match all", "seconds"):
        table.add_column(heading, justify="right")
    target = first.all_labels["pool_accuracy"]
    assert target is not None
    for curve in curves:
        last = curve.curve[-1]
        reached = curve.labels_to_reach(target)
        table.add_row(
            curve.strategy,
            str(last.labels),
            _percent(last.pool_accuracy),
            _percent(last.holdout_accuracy),
            _percent(sum(point.pool_accuracy for point in curve.curve) / len(curve.curve)),
            str(reached) if reached is not None else "not yet",
            f"{last.seconds:.1f}",
        )
    table.add_section()
    holdout = _percent(first.all_labels["holdout_accuracy"])
    table.add_row("all labels", str(first.rows), _percent(target), holdout, "", "", "")
    console.print(table)


def print_representations(console: Console, curves: list[Curve]) -> None:
    """Print which representation each strategy ended with and why, and whether a forest is better."""
    for curve in curves:
        found = curve.representation
        if found is None:
            continue
        console.print(f"{curve.strategy}, last round: {found['sentence']}", soft_wrap=True, markup=False)
        if "advice" in found:
            console.print(f"{curve.strategy}: {found['advice']}", soft_wrap=True, markup=False)


def print_stops(console: Console, curves: list[Curve]) -> None:
    """Print where runs ended that had something to reach, and what can be claimed."""
    for curve in curves:
        if curve.stop is None:
            continue
        found = curve.stop
        ended = f"{found['labels']} labels" + (" (the budget)" if found["reason"] == "budget" else "")
        console.print(f"{curve.strategy}, after {ended}: {found['claim']}", soft_wrap=True, markup=False)


def draw_plot(path: Path, curves: list[Curve]) -> None:
    """Draw accuracy against labels, on the pool and, beside it, on the holdout."""
    plt = pyplot()
    panels = ["pool_accuracy"]
    if curves[0].all_labels["holdout_accuracy"] is not None:
        panels.append("holdout_accuracy")
    shape = (5.6 * len(panels), 4.2)
    figure, axes = plt.subplots(
        1, len(panels), figsize=shape, sharey=True, squeeze=False, layout="constrained"
    )
    for axis, panel in zip(axes[0], panels, strict=True):
        for index, curve in enumerate(curves):
            axis.plot(
                [p.labels for p in curve.curve],
                [getattr(p, panel) for p in curve.curve],
                label=curve.strategy,
                color=COLOURS[index % len(COLOURS)],
            )
        axis.axhline(curves[0].all_labels[panel], color="0.5", linestyle=":", label="all labels")
        title = f"{curves[0].dataset}, {panel.removesuffix('_accuracy')}"
        axis.set(title=title, xlabel="labels")
        axis.grid(alpha=0.25)
    axes[0][0].set_ylabel("accuracy")
    axes[0][0].legend(loc="lower right")
    with saving(path), replacing(path) as file:
        figure.savefig(file, format=path.suffix[1:], dpi=130)
    plt.close(figure)
