"""aced status: show how a project stands."""

from __future__ import annotations

from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from aced.cli._project import (
    Folder,
    Json,
    accuracy_words,
    clock,
    counted,
    duration,
    percent,
    print_json,
    saved_words,
    stop_words,
    tallied,
    visible,
)
from aced.project import Project, knows_classes, summary

SETTINGS = (
    "classes",
    "kind",
    "items",
    "rows",
    "strategy",
    "batch",
    "check",
    "overlap",
    "combine",
    "representation",
    "l2",
    "stop",
    "cost_per_label",
    "reading",
)


IGNORED = 0.05
"""Proposals with a smaller weight than this change nothing to speak of."""
KNOWN = 0.5
"""Intervals that are wider than this say little of a class."""


def status(
    project: Folder,
    cost_per_label: Annotated[
        float | None,
        typer.Option(help="What a label costs, to say what was saved (default: as in aced init)."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Show how a project stands. It prints progress, accuracy, balance, people, agreement and rounds."""
    opened = Project(project)
    found = summary(opened, cost_per_label)
    last = next(event for event, _ in opened.ledger.events(opened.ledger.state.seq - 1))
    found["last"] = {"seq": last.seq, "at": last.at, "kind": last.kind, "who": last.who}
    found["losses"] = [one["lost"] for one in opened.ledger.state.losses]
    found["settings"] = {name: getattr(opened.settings, name) for name in SETTINGS}
    found["settings"]["classes"] = opened.classes  # those of now
    old = not knows_classes(opened.ledger.state)
    opened.close()
    if as_json:
        print_json(found)
    else:
        _print(Console(), str(project), found, old)


def _print(console: Console, folder: str, found: dict[str, Any], old: bool) -> None:
    """``old``: accuracy was estimated when there were fewer classes."""
    settings, progress, agreement = found["settings"], found["progress"], found["agreement"]
    table = Table(title=Text(visible(folder)), show_header=False)
    table.add_column(no_wrap=True)
    table.add_column()
    labelled, total = progress["labelled"], progress["total"]
    left = progress["labels_left"]
    duplicates = settings["items"] - settings["rows"]
    more = f", {duplicates} more {'is a duplicate' if duplicates == 1 else 'are duplicates'}" * (
        duplicates > 0
    )
    audit = found["audit"]
    lines = {
        "labelled": f"{labelled} of {counted(total, 'item')} ({percent(labelled / total)}){more}",
        "accuracy": accuracy_words(audit["accuracy"] if audit else progress["accuracy"], bool(audit))
        + (", as of the last round, which had other classes" if old else ""),
        **({} if audit else _by_class(found["accuracy_by_class"])),
        **({"stop": stop_words(progress["stop"])} if progress["stop"] else {}),
        "balance": tallied(found["balance"], "without labels"),
        "left": "not known yet"
        if left is None
        else f"about {counted(left, 'label')}, {duration(progress['seconds_left'])}, until "
        + (
            "the certificate is narrow enough"
            if audit
            else "you can stop"
            if settings["stop"]
            else "more gain under 1 %"
        )
        if left
        else "none: the certificate is narrow enough"
        if audit
        else "none"
        if settings["stop"]
        else "more labels are expected to gain less than 1 %",
        **({"saved": saved_words(found["savings"])} if found["savings"] else {}),
        "agreement": _alone(agreement["sole"])
        if agreement["share"] is None
        else f"{percent(agreement['share'])} of pairs of labels agree"
        + ("" if agreement["alpha"] is None else f", alpha {agreement['alpha']:.2f}")
        + f"; {counted(found['disputed'], 'item')} disputed",
        "rounds": f"{len(found['rounds'])}, drew {counted(progress['drawn'], 'item')} "
        f"with {settings['strategy']}",
        **({"proposals": _trusted(found["proposals"])} if found["proposals"] else {}),
        "representation": found["representation"]["sentence"],
        **({"advice": advice} if (advice := found["representation"]["advice"]) else {}),
        "last event": f"{found['last']['seq']}, {found['last']['kind']} "
        f"{visible(found['last']['who'])}".rstrip()
        + f", {clock(found['last']['at'])}",
    }
    if found["losses"]:
        lines["lost"] = "; ".join(visible(loss) for loss in found["losses"])
    for name, line in lines.items():
        table.add_row(name, Text(line))
    console.print(table)
    if audit and progress["labelled"]:
        console.print(_audited(audit))
    if found["people"]:
        console.print(_people(found["people"]))


def _alone(sole: float | None) -> str:
    """What is said of labels that nobody else's label can be compared with."""
    said = "no item has two labels yet"
    if sole is None:
        return said
    return f"{said}, so each label counts as right with probability {sole:.3g}"


def _audited(audit: dict[str, Any]) -> Table:
    """What is known of the predictions, class by class."""
    table = Table(title=Text("the predictions by class, each number with 95 % confidence"))
    table.add_column("class")
    for heading in ("predicted", "of these right", "there are", "of these found"):
        table.add_column(heading, justify="right")
    for one in audit["by_class"]:
        count = one["count"]
        table.add_row(
            Text(visible(one["class"])),
            str(one["predicted"]),
            _range(one["precision"]),
            f"{count['low']:.0f} to {count['high']:.0f}",
            _range(one["recall"]),
        )
    return table


def _trusted(found: dict[str, float]) -> str:
    """How far proposals count beside the model."""
    if found["proposals"] < IGNORED:
        return "they are no longer used: the labels do not bear them out"
    return f"weight {found['proposals']:.2f}, beside the model's {found['model']:.2f}"


def _range(found: dict[str, float]) -> str:
    return f"{percent(found['low'])} to {percent(found['high'])}"


def _by_class(found: list[dict[str, Any]]) -> dict[str, str]:
    """The share of each class that the classifier finds, where something is known of it."""
    known = [one for one in found if one["estimate"] is not None and one["high"] - one["low"] <= KNOWN]
    parts = [
        f"{visible(one['class'])}: {percent(one['estimate'])} ({_range(one)}) found" for one in known
    ]
    if known and len(known) < len(found):
        parts.append(f"of {len(found) - len(known)} more little is known yet")
    return {"by class": " · ".join(parts)} if parts else {}


def _people(people: list[dict[str, Any]]) -> Table:
    table = Table()
    table.add_column("annotator")
    for heading in ("labels", "skips", "unsure", "seconds a label", "last seen"):
        table.add_column(heading, justify="right")
    for one in people:
        name = visible(one["name"]) + (" (lead)" if one["role"] == "lead" else "")
        pace = "-" if one["median_seconds"] is None else f"{one['median_seconds']:.1f}"
        counts = [str(one[key]) for key in ("labels", "skips", "unsure")]
        table.add_row(
            Text(name + ("" if one["active"] else ", revoked")), *counts, pace, clock(one["last"])
        )
    return table
