"""The paper's curves: unpenalised logistic regression, batches of 250, running maximum.

    python benchmarks/curves.py [--tasks cifar svhn …] [--strategies aced …] [--out out]

needs the data sets (``ACED_DATA`` or the internet). Every finished run is one JSON file
in ``--out``; a run that is there already is not repeated. The table at the end compares
the mean over seeds with what the paper's figures show, and prints the peak memory.
"""

from __future__ import annotations

import argparse
import json
import resource
from pathlib import Path

import numpy as np

from aced.bench import fit_all, simulate
from aced.datasets import load_dataset
from aced.pool import Pool
from aced.strategies import make_strategy

# task: budget, seeds, and the paper's ACED curve as read off its figures
TASKS = {
    "cifar": (6000, 3, {3000: 0.790, 3750: 0.818, 4250: 0.820, 4500: None, 6000: 0.825}),
    "svhn": (7000, 3, {2500: 0.650, 4000: 0.6925, 4500: None, 5000: 0.707, 5750: 0.719, 7000: None}),
    "fashion": (8000, 1, {500: 0.9866, 3500: 0.9925, 8000: 0.998}),
    "mnist": (12000, 1, {1000: 0.80, 4000: 0.843, 6000: 0.857, 9000: None, 10000: 0.870, 11750: 0.8733}),
}


def run_one(task: str, strategy: str, seed: int, out: Path) -> dict:
    path = out / f"{task}-{strategy}-{seed}.json"
    if path.exists():
        return json.loads(path.read_text())
    data = load_dataset(task)
    pool = Pool(data.X)
    curve = simulate(
        data,
        pool,
        make_strategy(strategy),
        all_labels=fit_all(data, pool, l2=0),
        budget=TASKS[task][0],
        batch=250,
        seed=seed,
        l2=0,
        tick=lambda p: print(f"\r{task} {strategy} seed {seed}: {p.labels} labels", end="", flush=True),
    )
    record = curve.to_json()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024**2
    record |= {"peak_gib": peak, "round_seconds": float(np.mean([h["seconds"] for h in curve.history]))}
    path.write_text(json.dumps(record))
    print(f"\r{task} {strategy} seed {seed}: {curve.curve[-1].seconds:.0f} s, peak {peak:.2f} GiB")
    return record


def best(record: dict, labels: int, key: str = "pool_accuracy") -> float:
    return max(p[key] for p in record["curve"] if p["labels"] <= labels)


def at(record: dict, labels: int, key: str) -> float:
    return next(p[key] for p in reversed(record["curve"]) if p["labels"] <= labels)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tasks", nargs="+", choices=TASKS, default=list(TASKS))
    parser.add_argument("--strategies", nargs="+", default=["aced", "passive", "margin"])
    parser.add_argument("--seeds", type=int, default=None, help="default: 3 on cifar and svhn, else 1")
    parser.add_argument("--out", type=Path, default=Path("out"))
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    for task in arguments.tasks:
        _, seeds, published = TASKS[task]
        seeds = arguments.seeds or seeds
        runs = {
            name: [run_one(task, name, seed, arguments.out) for seed in range(seeds)]
            for name in arguments.strategies
        }
        first = runs[arguments.strategies[0]][0]
        every = first["all_labels"]
        print(f"\n### {task} ({first['rows']} x {first['features']}), {seeds} seed(s)")
        print(
            f"all labels: pool {every['pool_accuracy']:.4f}, holdout {every['holdout_accuracy']:.4f}\n"
        )
        print("| labels | paper's ACED | " + " | ".join(f"{n}: pool max / holdout" for n in runs) + " |")
        print("| --- | --- |" + " --- |" * len(runs))
        for labels, figure in published.items():
            cells = []
            for records in runs.values():
                pool = np.mean([best(r, labels) for r in records])
                holdout = np.mean([at(r, labels, "holdout_accuracy") for r in records])
                cells.append(f"{pool:.4f} / {holdout:.4f}")
            print(f"| {labels} | {figure or '-'} | " + " | ".join(cells) + " |")
        for name, records in runs.items():
            reached = [
                next(
                    (p["labels"] for p in r["curve"] if p["pool_accuracy"] >= every["pool_accuracy"]),
                    None,
                )
                for r in records
            ]
            seconds = np.mean([r["curve"][-1]["seconds"] for r in records])
            print(f"- {name}: all-labels pool accuracy at {reached} labels; {seconds:.0f} s a run")


if __name__ == "__main__":
    main()
