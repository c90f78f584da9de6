"""The page of aced report about a project: what it has, what is certain, and what was saved."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

from aced.bench import Block, pyplot
from aced.cli._project import (
    accuracy_words,
    clock,
    counted,
    duration,
    percent,
    saved_words,
    stop_words,
    tallied,
)
from aced.project import Project, find_ledger, summary

PROMISE = (
    "The share of all items that the classifier gets right, at each round. With 95 % confidence all "
    "intervals that were ever shown hold. Right means as the labels say."
)
AGAINST = (
    "Accuracy by the number of labels, as the model expects it, beside what as many random labels would "
    "have given by the uniform draws. Both are rough estimates with bands, not certificates."
)


def is_project(folder: Path) -> bool:
    """Whether this is the folder of a project, and not one of records."""
    return (folder / "ledger.sqlite").exists()


def project_blocks(folder: Path, cost_per_label: float | None) -> list[Block]:
    """The page as blocks."""
    find_ledger(folder)
    project = Project(folder)
    try:
        found = summary(project, cost_per_label)
        now, kind = project.ledger.now, project.settings.kind
    finally:
        project.close()
    return [
        ("h1", folder.resolve().name),
        ("p", f"As of {clock(now)}."),
        *_standing(found, kind),
        *_curve(found["curve"]),
        *_savings(found["savings"]),
        *_classes(found),
        *_people(found["people"]),
    ]


def _standing(found: dict[str, Any], kind: str) -> list[Block]:
    progress, audit = found["progress"], found["audit"]
    accuracy = audit["accuracy"] if audit else progress["accuracy"]
    lines = [
        f"{counted(progress['total'], kind)}, {progress['labelled']} with a label "
        f"({percent(progress['labelled'] / progress['total'])}): "
        + tallied(found["balance"], "without labels")
        + ".",
        f"Accuracy: {accuracy_words(accuracy, bool(audit))}.",
    ]
    if progress["stop"]:
        lines.append(stop_words(progress["stop"]))
    if progress["labels_left"]:
        left = counted(progress["labels_left"], "label")
        lines.append(f"Left: about {left}, {duration(progress['seconds_left'])}.")
    if found["agreement"]["share"] is not None:
        lines.append(f"{percent(found['agreement']['share'])} of pairs of labels of an item agree.")
    sentence = found["representation"]["sentence"]
    return [("h2", "How it stands"), *(("p", line) for line in (*lines, sentence))]


def _curve(points: list[dict[str, float]]) -> list[Block]:
    if not points:
        return []
    picture = _picture([("this project", "#0b6e99", points)])
    return [("h2", "Accuracy"), ("p", PROMISE), ("figure", ("accuracy", picture))]


def _savings(found: dict[str, Any] | None) -> list[Block]:
    if found is None:
        return []
    curves = [("this project", "#0b6e99", found["ours"]), ("random", "#c8553d", found["by_random"])]
    words = saved_words(found)
    return [
        ("h2", "Against random labelling"),
        ("p", words[0].upper() + words[1:] + "."),
        ("p", AGAINST),
        ("figure", ("against random labelling", _picture(curves))),
    ]


def _classes(found: dict[str, Any]) -> list[Block]:
    parts = {one["class"]: one for one in found["accuracy_by_class"]}
    rows = []
    for one in found["classes"]:
        known = parts.get(one["name"]) or {}
        right = known if found["audit"] else known.get("precision")
        rows.append(
            [
                one["name"],
                str(one["labels"]),
                "-" if found["audit"] else _range(known),
                _range(right),
            ]
        )
    head = ["class", "labels", "found by the classifier", "of those it takes for it right"]
    return [("h2", "Classes"), ("table", (head, rows))]


def _people(people: list[dict[str, Any]]) -> list[Block]:
    if not people:
        return []
    rows = [
        [
            one["name"],
            *(str(one[key]) for key in ("labels", "skips", "unsure")),
            "-" if one["median_seconds"] is None else f"{one['median_seconds']:.1f}",
        ]
        for one in people
    ]
    head = ["annotator", "labels", "skips", "unsure", "seconds a label"]
    return [("h2", "People"), ("table", (head, rows))]


def _range(found: dict[str, Any] | None) -> str:
    if not found or found.get("low") is None:
        return "-"
    return f"{percent(found['low'])} to {percent(found['high'])}"


def _picture(curves: list[tuple[str, str, list[dict[str, float]]]]) -> bytes:
    """Curves with their bands, as a PNG."""
    drawing, axis = pyplot().subplots(figsize=(7.2, 4.0), layout="constrained")
    for name, colour, points in curves:
        labels = [point["labels"] for point in points]
        low, middle, high = ([point[end] for point in points] for end in ("low", "estimate", "high"))
        axis.fill_between(labels, low, high, color=colour, alpha=0.15, linewidth=0)
        axis.plot(labels, middle, color=colour, marker="o", markersize=3, label=name)
    axis.set_xlabel("labels")
    axis.set_ylabel("accuracy")
    axis.grid(alpha=0.25)
    if len(curves) > 1:
        axis.legend(loc="lower right")
    stream = io.BytesIO()
    drawing.savefig(stream, format="png", dpi=85)
    pyplot().close(drawing)
    return stream.getvalue()
