"""The report on the field, as blocks."""

from __future__ import annotations

from inspect import signature
from typing import Any

import numpy as np

from aced.bench._field import PREFIX, REPRESENTATIONS
from aced.bench._field_summary import (
    Curves,
    Field,
    comes_with_its_own,
    geometric,
    holm,
    mean_ranks,
    ratio,
    share,
    signed_ranks,
    summarise,
    worst,
)
from aced.bench._figures import figure
from aced.bench._peers import PEERS
from aced.bench._summary import HOLDOUT, POOL, Runs, Task
from aced.learner import Learner

Block = tuple[str, Any]
SHARES = (0.9, 0.95, 0.99)
"""The accuracies to reach, as parts of our classifier's accuracy with all labels."""
DEFAULT: str = signature(Learner).parameters["strategy"].default
"""What people get who name no strategy."""

INTRODUCTION = (
    "Each run starts with no labels. A strategy chooses rows of a pool, batch by batch, and is told "
    "their labels. After each batch a classifier is scored on the whole pool and on a holdout that no "
    "strategy saw. The area is the mean accuracy over the label counts of a task. Each task has the "
    "same weight.",
    "A name alone means that the classifier is aced's default, for our strategies and for those of "
    "other libraries. A name with /own or /logistic is another library as it comes, with a classifier "
    "that its documentation shows. docs/field.md says which.",
)


def is_field(record: dict[str, Any]) -> bool:
    return str(record["dataset"]).startswith(PREFIX)


def field_blocks(records: list[dict[str, Any]]) -> list[Block]:
    """The whole report on records of the field."""
    found = summarise(records, DEFAULT)
    blocks: list[Block] = [("h2", "The field"), *(("p", text) for text in INTRODUCTION)]
    blocks += _alike(found)
    blocks += _as_they_come(found)
    blocks += _representations(found)
    blocks += _failures(found)
    for task in found.curves:
        blocks += _task(found, task, [record for record in records if record["dataset"] == task])
    return blocks


def _alike(found: Field) -> list[Block]:
    """All labels with our classifier in the representation that it chooses."""
    labels = [name for name in found.labels() if not comes_with_its_own(name) and " (" not in name]
    if not labels:
        return []
    head = [
        "strategy", *COMMON, "worst against passive", "on", "tasks below -2", "tasks behind",
        "seconds a round",
    ]  # fmt: skip
    common = _common(found, labels)
    rows = []
    for name, cells in common.items():
        seconds = np.mean([found.curves[task][name].seconds for task in found.tasks(name)])
        rows.append([name, *cells, *_worst_of_all(found, name), f"{seconds:.3f}"])
    text = (
        f"{len(found.curves)} tasks. Ranks, tests and the difference to our default, {DEFAULT}, compare "
        "areas on the holdout. p is of Wilcoxon's signed-rank test over the tasks' areas, two-sided, "
        "corrected by Holm. Against passive, the difference at each label count is taken seed by seed, "
        "and divided by its standard error. The least over all counts and tasks is shown. Among so "
        "many, a few below -2 are due to chance. A task counts as behind where chance alone would be as "
        "low at some label count in less than 5 % of cases: the signs of the seeds are drawn anew, and "
        "the tasks' chances are corrected by Holm."
    )
    return [("h3", "With the same classifier"), ("p", text), ("table", (head, rows))]


COMMON = ("tasks", "rank", "area, pool", "area, holdout", "minus default", "p")


def _common(found: Field, labels: list[str]) -> dict[str, list[str]]:
    """For each label, best first: its tasks, rank and areas, and how it compares with our default on
    the tasks that both have."""
    ranks = mean_ranks(found, labels, HOLDOUT)
    tests = signed_ranks(found, DEFAULT, [name for name in labels if name != DEFAULT], HOLDOUT)
    order = sorted(labels, key=lambda name: ranks.get(name, np.inf))
    cells = {}
    for name in order:
        tasks, both = found.tasks(name), found.tasks(name, DEFAULT)
        ahead = found.areas(name, HOLDOUT, both) - found.areas(DEFAULT, HOLDOUT, both)
        cells[name] = [
            str(len(tasks)),
            f"{ranks[name]:.2f}" if name in ranks else "-",
            *(f"{found.areas(name, measure, tasks).mean():.4f}" for measure in (POOL, HOLDOUT)),
            f"{ahead.mean():+.4f}" if both and name != DEFAULT else "-",
            f"{tests[name]:.3g}" if name in tests else "-",
        ]
    return cells


def _worst_of_all(found: Field, name: str) -> list[str]:
    """The furthest behind passive on any task, that task, the tasks where it is more than 2 standard
    errors, and those where that is not chance."""
    deficits = {}
    for task in found.tasks(name):
        curves = found.curves[task]
        passive = curves.get("passive")
        deficit = None if passive is None or name == "passive" else worst(curves[name], passive, HOLDOUT)
        if deficit is not None:
            deficits[task] = deficit
    if not deficits:
        return ["-"] * 4
    task = min(deficits, key=lambda key: deficits[key].errors)
    least = deficits[task]
    where = f"{task.removeprefix(PREFIX)} at {least.labels} ({least.difference:+.4f})"
    chances = holm({key: deficit.chance for key, deficit in deficits.items()})
    below, behind = (
        sum(d.errors < -2 for d in deficits.values()),
        sum(p < 0.05 for p in chances.values()),
    )
    return [f"{least.errors:.1f}", where, str(below), str(behind)]


def _as_they_come(found: Field) -> list[Block]:
    """Our default beside each peer with its own classifier."""
    labels = [name for name in found.labels() if comes_with_its_own(name)]
    tasks = [task for task in found.tasks(DEFAULT) if any(map(comes_with_its_own, found.curves[task]))]
    if not tasks:
        return []
    common = _common(found, [DEFAULT, *labels])
    head = [
        "library as it comes", *COMMON, "share, holdout", "share, pool", "ratio, holdout", "ratio, pool",
        "our area higher on",
    ]  # fmt: skip
    rows = [[f"{DEFAULT} (ours)", *common.pop(DEFAULT), *["-"] * 5]]
    for name, cells in common.items():
        both = [found.curves[task] for task in found.tasks(name, DEFAULT)]
        rows.append([name, *cells, *_beside([(curves[DEFAULT], curves[name]) for curves in both])])
    pairs = [(found.curves[task][DEFAULT], _best(found.curves[task])) for task in tasks]
    areas = [f"{np.mean([best.area(measure) for _, best in pairs]):.4f}" for measure in (POOL, HOLDOUT)]
    ahead = np.mean([best.area(HOLDOUT) - ours.area(HOLDOUT) for ours, best in pairs])
    beside = _beside(pairs)
    rows.append(["the best on each task", str(len(tasks)), "-", *areas, f"{ahead:+.4f}", "-", *beside])
    text = (
        "Share: the labels that our default needs to reach the other's last accuracy, as a part of all "
        "labels of the other. Ratio: the same as a part of those that the other needed until it first "
        "was there, which are few where it soon stopped learning. Both are geometric means over tasks, "
        "and above 1 on tasks where ours does not get there. The last line takes, on each task, the one "
        "with the highest last accuracy on the holdout, which nobody knows in advance."
    )
    return [("h3", "As they come"), ("p", text), ("table", (head, rows))]


def _best(curves: dict[str, Curves]) -> Curves:
    """Of the peers that come with their own classifier, the one with the highest last accuracy."""
    theirs = [runs for name, runs in curves.items() if comes_with_its_own(name)]
    return max(theirs, key=lambda runs: runs.final(HOLDOUT))


def _beside(pairs: list[tuple[Curves, Curves]]) -> list[str]:
    """Shares and ratios of labels, and the tasks on which our area is higher."""
    if not pairs:
        return ["-"] * 5
    ratios = [
        f"{geometric([compared(*pair, measure) for pair in pairs]):.2f}"
        for compared in (share, ratio)
        for measure in (HOLDOUT, POOL)
    ]
    higher = sum(ours.area(HOLDOUT) > other.area(HOLDOUT) for ours, other in pairs)
    return [*ratios, f"{higher} of {len(pairs)}"]


def _representations(found: Field) -> list[Block]:
    """How far the representation that is chosen is behind the better of those that are fixed."""
    rows = []
    for task, curves in found.curves.items():
        for name, runs in curves.items():
            fixed = [curves.get(f"{name} ({kind})") for kind in REPRESENTATIONS[1:]]
            areas = [None if one is None else one.area(HOLDOUT) for one in fixed]
            known = [area for area in areas if area is not None]
            if known:
                mine = runs.area(HOLDOUT)
                cells = ["-" if area is None else f"{area:.4f}" for area in areas]
                label = [task.removeprefix(PREFIX), name, f"{mine:.4f}"]
                rows.append([*label, *cells, f"{mine - max(known):+.4f}"])
    if not rows:
        return []
    head = ["task", "strategy", *REPRESENTATIONS, "chosen - better"]
    text = "Areas on the holdout with the representation chosen from the labels, and with each fixed."
    return [("h3", "The representation"), ("p", text), ("table", (head, rows))]


def _failures(found: Field) -> list[Block]:
    rows = [
        [task.removeprefix(PREFIX), label, str(len(ended)), ended[0]]
        for task, labels in found.failed.items()
        for label, ended in labels.items()
    ]
    if not rows:
        return []
    text = "Runs that did not come to their end. They are left out of all means. Where a task has none "
    text += "left, a strategy has no rank, and its means are over its other tasks."
    return [
        ("h3", "What failed"),
        ("p", text),
        ("table", (["task", "strategy", "runs", "the first of them"], rows)),
    ]


def _task(found: Field, task: str, records: list[dict[str, Any]]) -> list[Block]:
    curves, every = found.curves[task], found.everything[task]
    first = records[0]
    job = first["job"]
    batch = f"{job['batch']} at a time" + (f", {job['first']} at first" if job.get("first") else "")
    text = f"{first['rows']} rows, {first['features']} features, up to {job['budget']} labels, {batch}. "
    text += f"With every label: pool {every[POOL]:.4f}, holdout {every[HOLDOUT]:.4f}."
    targets = [share * every[HOLDOUT] for share in SHARES]
    head = [
        "strategy", "seeds", "area, pool", "area, holdout", "last, holdout",
        *(f"labels to {target:.3f}" for target in targets), "worst against passive", "seconds a round",
    ]  # fmt: skip
    order = sorted(curves.values(), key=lambda runs: -runs.area(HOLDOUT))
    rows = [_row(runs, curves.get("passive"), targets) for runs in order]
    picture = (task, figure(_drawn(task, curves, every, records)))
    return [("h2", task), ("p", text), ("figure", picture), ("table", (head, rows))]


def _row(runs: Curves, passive: Curves | None, targets: list[float]) -> list[str]:
    needed = [runs.needed(target, HOLDOUT) for target in targets]
    alike = passive is not None and not comes_with_its_own(runs.label) and runs is not passive
    deficit = worst(runs, passive, HOLDOUT) if alike and passive is not None else None
    return [
        runs.label,
        str(len(runs.seeds)),
        *(f"{runs.area(measure):.4f}" for measure in (POOL, HOLDOUT)),
        f"{runs.final(HOLDOUT):.4f}",
        *("-" if labels is None else f"{labels:.0f}" for labels in needed),
        "-" if deficit is None else f"{deficit.errors:.1f} at {deficit.labels}",
        f"{runs.seconds:.3f}",
    ]


def _drawn(
    task: str, curves: dict[str, Curves], every: dict[str, float], records: list[dict[str, Any]]
) -> Task:
    """Our strategies, and the best peer as it comes: more lines would hide each other."""
    names = [name for name in curves if name.partition("/")[0].partition(" (")[0] not in PEERS]
    if any(comes_with_its_own(name) for name in curves):
        names.append(_best(curves).label)
    shown = []
    for name in names:
        mine = tuple(r for r in records if r["label"] == name and "failed" not in r)
        shown.append(Runs(mine[0]["job"]["strategy"], name, mine))
    first = records[0]
    return Task(task, first["rows"], first["features"], dict(every), tuple(shown), tuple(shown))
