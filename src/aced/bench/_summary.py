"""Compute from records what a report says: curves over seeds, labels needed, areas, ranks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import friedmanchisquare, rankdata, wilcoxon

from aced._types import Array, Float64
from aced.bench._suites import FIXED_C0, OTHER_C0

POOL, HOLDOUT = "pool_accuracy", "holdout_accuracy"


@dataclass(frozen=True)
class Runs:
    """The runs of one strategy with one set of options on one task, one run for each seed."""

    strategy: str
    label: str
    records: tuple[dict[str, Any], ...]

    @property
    def c0(self) -> float | None:
        c0 = self.records[0]["job"]["options"].get("c0")
        return None if c0 is None else float(c0)

    def labels_needed(self, measure: str) -> list[int | None]:
        """For each seed, the labels that first reach the accuracy of the classifier with all labels."""
        target = self.records[0]["all_labels"][measure]
        if target is None:
            return [None] * len(self.records)
        return [
            next((p["labels"] for p in r["curve"] if p[measure] >= target), None) for r in self.records
        ]

    def at(self, labels: Array, measure: str, *, best: bool) -> Float64:
        """Accuracies, shape (seeds, labels): at the last point before, or the best so far."""
        rows = []
        for record in self.records:
            x = np.array([point["labels"] for point in record["curve"]])
            y = np.array([point[measure] for point in record["curve"]], dtype=float)
            if best and len(y):
                y = np.maximum.accumulate(y)
            place = np.searchsorted(x, labels, side="right") - 1
            rows.append(np.where(place >= 0, y[np.maximum(place, 0)] if len(y) else np.nan, np.nan))
        return np.array(rows)

    def last(self) -> int:
        """The number of labels at the end of the shortest run."""
        return min((r["curve"][-1]["labels"] if r["curve"] else 0) for r in self.records)

    def seconds_per_label(self) -> float:
        spent = [
            r["timing"]["seconds"][-1] / r["curve"][-1]["labels"] for r in self.records if r["curve"]
        ]
        return float(np.mean(spent)) if spent else float("nan")


@dataclass(frozen=True)
class Task:
    """All runs on one task. ``shown`` has one entry for each strategy, with its best C0 if any."""

    name: str
    rows: int
    features: int
    everything: dict[str, float | None]
    every: tuple[Runs, ...]
    shown: tuple[Runs, ...]

    def grid(self, strategy: str) -> list[Runs]:
        found = [runs for runs in self.every if runs.strategy == strategy and runs.c0 is not None]
        return sorted(found, key=lambda runs: runs.c0 or 0.0)

    def fixed(self) -> list[Runs]:
        """The streams with the C0 that is fixed for all tasks."""
        return [
            runs
            for runs in self.every
            if runs.c0 is not None and np.isclose(runs.c0, FIXED_C0.get(runs.strategy, OTHER_C0))
        ]

    def horizon(self) -> Array:
        """Numbers of labels, batch by batch, up to the end of the shortest run of no stream."""
        batch = int(self.every[0].records[0]["job"]["batch"])
        whole = [runs.last() for runs in self.shown if runs.c0 is None and runs.strategy != "cal"]
        return np.arange(batch, min(whole, default=batch) + 1, batch)


def tasks_of(records: list[dict[str, Any]]) -> list[Task]:
    """The tasks of the records, in the order of their names."""
    found = []
    for name in sorted({record["dataset"] for record in records}):
        mine = [record for record in records if record["dataset"] == name]
        groups: dict[str, list[dict[str, Any]]] = {}
        for record in sorted(mine, key=lambda r: r["seed"]):
            groups.setdefault(record["label"], []).append(record)
        every = tuple(
            Runs(group[0]["job"]["strategy"], label, tuple(group))
            for label, group in sorted(groups.items())
        )
        first = mine[0]
        found.append(
            Task(name, first["rows"], first["features"], first["all_labels"], every, _shown(every))
        )
    return found


def _shown(every: tuple[Runs, ...]) -> tuple[Runs, ...]:
    """One entry for each strategy. For streams it has the C0 that needs the fewest labels to match all
    labels, as the paper chose it; if none matches, the C0 with the best accuracy."""
    names = dict.fromkeys(runs.strategy for runs in every)
    return tuple(min((r for r in every if r.strategy == name), key=_paper_choice) for name in names)


def _paper_choice(runs: Runs) -> tuple[float, float]:
    needed = [labels if labels is not None else np.inf for labels in runs.labels_needed(POOL)]
    best = max((p[POOL] for r in runs.records for p in r["curve"]), default=0.0)
    return float(np.mean(needed)), -float(best)


@dataclass(frozen=True)
class Ranking:
    """Mean ranks over tasks and seeds of the area under the pool curve; 1 is best."""

    strategies: tuple[str, ...]
    ranks: tuple[float, ...]
    blocks: int
    friedman: float | None  # p-value of the hypothesis that all are alike
    against: dict[str, float]  # p-values of aced against each (Wilcoxon, Holm-corrected)


def ranking(tasks: list[Task], measure: str = POOL) -> Ranking | None:
    """Ranks of the strategies that have runs on every task and are no streams."""
    blocks: list[dict[str, float]] = []
    for task in tasks:
        horizon = task.horizon()
        if len(horizon) == 0 or task.everything[measure] is None:
            continue
        areas = {
            runs.strategy: np.nanmean(runs.at(horizon, measure, best=False), axis=1)
            for runs in task.shown
            if runs.c0 is None and runs.strategy != "cal"
        }
        seeds = min((len(area) for area in areas.values()), default=0)
        blocks += [{name: float(area[s]) for name, area in areas.items()} for s in range(seeds)]
    names = sorted(set.intersection(*(set(block) for block in blocks))) if blocks else []
    if len(names) < 2:
        return None
    table = np.array([[block[name] for name in names] for block in blocks])
    ranks = rankdata(-table, axis=1).mean(axis=0)
    order = np.argsort(ranks, kind="stable")
    overall = float(friedmanchisquare(*table.T).pvalue) if len(names) > 2 and len(table) > 2 else None
    return Ranking(
        tuple(names[i] for i in order),
        tuple(float(ranks[i]) for i in order),
        len(table),
        overall,
        _against_aced(names, table),
    )


def _against_aced(names: list[str], table: Float64) -> dict[str, float]:
    if "aced" not in names or len(table) < 5:
        return {}
    mine = table[:, names.index("aced")]
    raw = {}
    for index, name in enumerate(names):
        difference = mine - table[:, index]
        if name != "aced" and difference.any():
            raw[name] = float(wilcoxon(difference).pvalue)
    order = sorted(raw, key=raw.__getitem__)
    steps = np.array([raw[name] for name in order]) * np.arange(len(order), 0, -1)
    corrected = np.maximum.accumulate(np.minimum(steps, 1.0))
    return dict(zip(order, corrected.tolist(), strict=True))
