"""Whether certificates hold, how wide they are, and what an audit saves.

    python benchmarks/certificates.py coverage [--runs 1000] [--jobs 2] [--json FILE]
    python benchmarks/certificates.py width    [--runs 20] [--jobs 2] [--json FILE]
    python benchmarks/certificates.py audit    [--runs 50] [--jobs 2] [--json FILE]

``coverage``: the share of runs in which any interval of accuracy, with confidence 0.95 and a look after
every batch, misses the accuracy on the pool that the classifier has at that look; and the same for
Wilson's interval of a uniform sample of the same size, which is meant for a single look. Of ten runs
seven are by the default strategy, one by strata, one by passive, and one by margin with a tenth uniform.

``width``: the mean width of the interval by the number of labels, for strategies and shares of uniform
draws, beside that of a uniform sample with as many labels that are used for nothing else, for the same
classifier. The accuracy that the strategy reached stands beside it: what more uniform draws cost.

``audit``: labels until the interval reaches no further than 0.02 from its middle, for predictions that
know their errors, that know them roughly, that are too sure of themselves, and that know nothing, with
uniform draws and with those of an audit.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits

from aced import Audit, Learner
from aced.learner import _forest
from aced.project import wilson

CONFIDENCE = 0.95
BATCHES = (5, 25, 100, 250)
STRATEGIES: tuple[tuple[str, float | None], ...] = (
    *[("blend", None)] * 7, ("strata", None), ("passive", None), ("margin", 0.1),
)  # fmt: skip


def without_forests() -> None:
    """Leave out the comparison with a forest, which takes a third of the time and decides nothing."""
    _forest.FEWEST = sys.maxsize


# -- pools: rows and labels --------------------------------------------------------------------


def breast(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    rows, labels = load_breast_cancer(return_X_y=True)
    return rows, labels


def digits(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    rows, labels = load_digits(return_X_y=True)
    some = rng.permutation(len(rows))[:800]
    return rows[some], labels[some]


def classes(rng: np.random.Generator, n: int = 600) -> tuple[np.ndarray, np.ndarray]:
    """Five overlapping classes."""
    codes = rng.integers(0, 5, n)
    return rng.normal(size=(5, 6))[codes] * 1.5 + rng.normal(size=(n, 6)), codes


def rare(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """One row in 51 is of the second class."""
    codes = (np.arange(1020) % 51 == 0).astype(int)
    return rng.normal(size=(1020, 4)) + 2.0 * codes[:, None], codes


def flipped(rng: np.random.Generator, n: int = 600) -> tuple[np.ndarray, np.ndarray]:
    """A linear rule, and a fifth of the labels is wrong."""
    rows = rng.normal(size=(n, 5))
    return rows, ((rows @ rng.normal(size=5) > 0) ^ (rng.random(n) < 0.2)).astype(int)


def checkers(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Squares that no linear separator can tell apart."""
    rows = rng.random((600, 2))
    return rows, (np.floor(rows * 4).sum(axis=1) % 2).astype(int)


def _many(
    made: Callable[[np.random.Generator, int], tuple[np.ndarray, np.ndarray]],
) -> Callable[[np.random.Generator], tuple[np.ndarray, np.ndarray]]:
    return lambda rng: made(rng, 6000)


def smooth(rng: np.random.Generator, n: int = 600) -> tuple[np.ndarray, np.ndarray]:
    """A linear rule that is unsure near the boundary."""
    rows = rng.normal(size=(n, 10))
    return rows, (2 * rows @ rng.normal(size=10) + rng.logistic(size=n) > 0).astype(int)


POOLS: dict[str, Callable[[np.random.Generator], tuple[np.ndarray, np.ndarray]]] = {
    "breast": breast,
    "digits": digits,
    "classes": classes,
    "rare": rare,
    "flipped": flipped,
    "checkers": checkers,
}


# -- coverage -----------------------------------------------------------------------------------


def covered(job: tuple[str, int]) -> dict[str, Any]:
    """One run: whether an interval ever missed, and whether Wilson's did."""
    name, seed = job
    without_forests()
    rng = np.random.default_rng([seed, 1])
    rows, labels = POOLS[name](rng)
    batch = BATCHES[seed // len(STRATEGIES) % len(BATCHES)]
    budget = min(len(rows), max(60, 4 * batch))
    strategy, explore = STRATEGIES[seed % len(STRATEGIES)]
    learner = Learner(
        rows, strategy=strategy, explore=explore, batch_size=batch, budget=budget, seed=seed, threads=1
    )
    order, missed, single = rng.permutation(len(rows)), False, False
    while queries := learner.ask():
        learner.tell(queries.ids, labels[queries.ids])
        right = learner.predict() == labels
        found = learner.accuracy(CONFIDENCE)
        missed |= not found.low - 1e-9 <= right.mean() <= found.high + 1e-9
        checks = right[order[: learner.labels_known]]  # a sample of its own, for this classifier
        low, high = wilson(int(checks.sum()), len(checks))
        single |= not low <= right.mean() <= high
    return {"pool": name, "strategy": strategy, "seed": seed, "missed": missed, "wilson": single}


# -- width --------------------------------------------------------------------------------------

WAYS: tuple[tuple[str, float | None], ...] = (
    ("passive", None),
    ("strata", None),
    ("blend", None),
    ("blend", 0.3),
)
WIDTHS = {
    **{name: POOLS[name] for name in ("digits", "classes", "flipped")},
    "6000 rows, five classes": _many(classes),
    "6000 rows, flipped": _many(flipped),
    "6000 rows, smooth": _many(smooth),
}
LOOKS = (100, 200, 400, 600)


def widths(job: tuple[str, int]) -> dict[str, Any]:
    """One run: by way and label count, the interval's width, a uniform sample's, and the accuracy."""
    name, seed = job
    without_forests()
    rows, labels = WIDTHS[name](np.random.default_rng([seed, 1]))
    looks = [look for look in LOOKS if look <= 0.7 * len(rows)]
    found: dict[str, Any] = {"pool": name, "seed": seed, "ways": {}}
    for strategy, explore in WAYS:
        learner = Learner(
            rows,
            strategy=strategy,
            explore=explore,
            batch_size=20,
            budget=looks[-1],
            seed=seed,
            threads=1,
        )
        points = []
        while queries := learner.ask():
            learner.tell(queries.ids, labels[queries.ids])
            if learner.labels_known in looks:
                said = learner.predict()
                mine = learner.accuracy(CONFIDENCE)
                alone = Audit(said, explore=1.0, seed=seed)
                asked = alone.ask(learner.labels_known)
                alone.tell(asked.ids, labels[asked.ids])
                theirs = alone.accuracy(CONFIDENCE)
                points.append(
                    {
                        "labels": learner.labels_known,
                        "width": mine.high - mine.low,
                        "uniform": theirs.high - theirs.low,
                        "low": mine.low,
                        "accuracy": float(np.mean(said == labels)),
                    }
                )
        label = strategy if explore is None else f"{strategy}, explore {explore}"
        found["ways"][label] = points
    return found


# -- audits -------------------------------------------------------------------------------------


def predicted(kind: str, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, Any]:
    """Predictions for 10000 rows of three classes, the truth, and a confidence."""
    n = 10_000
    a, error = {"rough": (0.5, 0.2)}.get(kind, (0.25, 0.08))
    chance = rng.beta(a, a * (1 - error) / error, n)
    truth = rng.integers(0, 3, n)
    said = np.where(rng.random(n) < chance, (truth + 1) % 3, truth)
    sure = {
        "knows its errors": lambda: 1 - chance,
        "rough": lambda: 1 - chance**0.7,
        "too sure": lambda: 1 - chance**2,
        "knows nothing": lambda: rng.random(n),
        "says nothing": lambda: None,
    }[kind]()
    return said, truth, sure


KINDS = ("knows its errors", "rough", "too sure", "knows nothing", "says nothing")
EXPLORES = (0.15, 0.3, 0.5, 1.0)
WITHIN = 0.02


def audited(job: tuple[str, float, int]) -> dict[str, Any]:
    """One audit: labels until the interval is narrow enough, and whether it held."""
    kind, explore, seed = job
    said, truth, sure = predicted(kind, np.random.default_rng([seed, 2]))
    uniform = explore == 1.0
    audit = Audit(said, confidence=None if uniform else sure, explore=explore, seed=seed)
    while True:
        queries = audit.ask(50)
        audit.tell(queries.ids, truth[queries.ids])
        found = audit.accuracy(CONFIDENCE)
        if found.high - found.low <= 2 * WITHIN or not audit.remaining:
            break
    right = float(np.mean(said == truth))
    held = found.low - 1e-9 <= right <= found.high + 1e-9
    return {"kind": kind, "explore": explore, "seed": seed, "labels": audit.labels_known, "held": held}


# -- together -----------------------------------------------------------------------------------


def run(
    function: Callable[[Any], dict[str, Any]], jobs: list[Any], processes: int
) -> list[dict[str, Any]]:
    with ProcessPoolExecutor(processes, mp_context=get_context("spawn")) as executor:
        return list(executor.map(function, jobs, chunksize=max(1, len(jobs) // (20 * processes))))


def tell_coverage(found: list[dict[str, Any]]) -> None:
    print("| runs of | runs | ever missed | ± | Wilson's ever missed |")
    print("| --- | --- | --- | --- | --- |")
    for what in ("pool", "strategy"):
        for name in dict.fromkeys(one[what] for one in found):
            print(_covered_line(name, [one for one in found if one[what] == name]))
    print(_covered_line("all", found))


def _covered_line(name: str, mine: list[dict[str, Any]]) -> str:
    share = np.mean([one["missed"] for one in mine])
    error = np.sqrt(max(share * (1 - share), 1 / len(mine) ** 2) / len(mine))
    other = np.mean([one["wilson"] for one in mine])
    return f"| {name} | {len(mine)} | {share:.4f} | {error:.4f} | {other:.3f} |"


def tell_widths(found: list[dict[str, Any]]) -> None:
    print("| pool | strategy | labels | width | uniform sample | lower end | accuracy |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for name in dict.fromkeys(one["pool"] for one in found):
        mine = [one["ways"] for one in found if one["pool"] == name]
        for way in mine[0]:
            for place, point in enumerate(mine[0][way]):
                means = {
                    key: np.mean([ways[way][place][key] for ways in mine])
                    for key in ("width", "uniform", "low", "accuracy")
                }
                numbers = " | ".join(f"{means[key]:.3f}" for key in means)
                print(f"| {name} | {way} | {point['labels']} | {numbers} |")


def tell_audits(found: list[dict[str, Any]]) -> None:
    print("| predictions | uniform draws | labels | ± | held |\n| --- | --- | --- | --- | --- |")
    for key in dict.fromkeys((one["kind"], one["explore"]) for one in found):
        mine = [one for one in found if (one["kind"], one["explore"]) == key]
        labels = [one["labels"] for one in mine]
        error = np.std(labels, ddof=1) / np.sqrt(len(labels)) if len(labels) > 1 else np.nan
        held = sum(one["held"] for one in mine)
        print(
            f"| {key[0]} | {key[1]:.0%} | {np.mean(labels):.0f} | {error:.0f} | {held} of {len(mine)} |"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("what", choices=("coverage", "width", "audit"))
    parser.add_argument("--runs", type=int)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--json", type=Path)
    asked = parser.parse_args()
    if asked.what == "coverage":
        jobs: list[Any] = [(name, seed) for name in POOLS for seed in range(asked.runs or 1000)]
        found = run(covered, jobs, asked.jobs)
        tell_coverage(found)
    elif asked.what == "width":
        jobs = [(name, seed) for name in WIDTHS for seed in range(asked.runs or 20)]
        found = run(widths, jobs, asked.jobs)
        tell_widths(found)
    else:
        jobs = [
            (kind, explore, seed)
            for kind in KINDS
            for explore in EXPLORES
            for seed in range(asked.runs or 50)
            if explore == 1.0 or kind != "says nothing"
        ]
        found = run(audited, jobs, asked.jobs)
        tell_audits(found)
    if asked.json is not None:
        asked.json.write_text(json.dumps(found))


if __name__ == "__main__":
    main()
