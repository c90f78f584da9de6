"""What the representation and the default strategy are worth on the paper's tasks, and what they cost.

    python -m benchmarks.lifted labels [--seeds 5] [--tasks cifar …] [--pixels] [--data-home FOLDER]
    python -m benchmarks.lifted rounds [--large]
    python -m benchmarks.lifted memory [--large]

``labels`` counts labels, in batches of 250, until the default is as accurate as the linear class is with
every label (logistic regression without a penalty on the paper's features), on the pool and on the
holdout. The default gets the paper's features, or with ``--pixels`` the pixels. A dash means more than
the budget. ``rounds`` prints the seconds of a round with the lift, by ``blend`` and by ``aced``, as
ratios to a round of ``aced`` on the rows as they are, measured in turns in one run: 10,000 x 576, and
with ``--large`` 100,000 x 256 and 1,000,000 x 256 as well. ``memory`` prints what a process held at the
peak of such a round beyond what it held before there were rows, and what ``aced plan`` says.
"""

from __future__ import annotations

import argparse
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import numpy as np
from benchmarks.classes import held, watched

from aced import Learner, Pool
from aced.bench import fit_all
from aced.cost import Cost
from aced.datasets import load_dataset

BUDGETS = {"cifar": 3500, "svhn": 3000, "mnist": 1500, "fashion": 3000}
SHAPES = ((10_000, 576), (100_000, 256), (1_000_000, 256))


def labels(tasks: list[str], seeds: int, pixels: bool, data_home: Path | None) -> None:
    print("| task | linear, all labels: pool, holdout | labels to it: pool | holdout | at 1000 labels |")
    print("| --- | --- | --- | --- | --- |")
    for task in tasks:
        data = load_dataset(task, data_home=data_home)
        pool = Pool(data.X)
        every = fit_all(data, pool, l2=0.0)
        wanted = every["pool_accuracy"], every["holdout_accuracy"]
        if pixels:
            data = load_dataset(f"{task}-pixels", data_home=data_home)
            pool = Pool(data.X)
        needed: list[list[float]] = [[], []]
        reached = []
        for seed in range(seeds):
            learner = Learner(pool, budget=BUDGETS[task], batch_size=250, seed=seed)
            first: list[float | None] = [None, None]
            while queries := learner.ask():
                learner.tell(queries.ids, data.y[queries.ids])
                now = (
                    float((learner.predict() == data.y).mean()),
                    float((learner.classifier.predict(data.X_test) == data.y_test).mean()),
                )
                for place in (0, 1):
                    if first[place] is None and now[place] >= wanted[place]:
                        first[place] = learner.labels_known
                if learner.labels_known == 1000:
                    reached.append(now)
                if learner.labels_known >= 1000 and None not in first:
                    break
            for place in (0, 1):
                needed[place].append(np.inf if first[place] is None else float(first[place]))
        cells = [f"{np.mean(some):.0f}" if np.isfinite(some).all() else f"- {some}" for some in needed]
        at = np.mean(reached, axis=0)
        print(
            f"| {task} | {wanted[0]:.4f}, {wanted[1]:.4f} | {cells[0]} | {cells[1]} "
            f"| {at[0]:.4f}, {at[1]:.4f} |",
            flush=True,
        )


def rounds(shapes: tuple[tuple[int, int], ...]) -> None:
    print("| pool | aced, rows as they are, s | blend, lifted | aced, lifted |")
    print("| --- | --- | --- | --- |")
    for n, p in shapes:
        rng = np.random.default_rng(0)
        rows = rng.normal(size=(n, p)).astype(np.float32)
        codes = (np.square(rows[:, :4]).sum(axis=1) + rows[:, 4] > 3.5).astype(int)
        pool, known = Pool(rows), rng.permutation(n)[:1000]
        seconds = []
        for how in ({"l2": 0.0, "strategy": "aced"}, {"strategy": "blend"}, {"strategy": "aced"}):
            kind = {} if "l2" in how else {"representation": "rbf"}
            learner = Learner(pool, batch_size=250, seed=0, **how, **kind)
            learner.tell(known[:750], codes[known[:750]])
            learner.ask()  # what is found once for a pool, and the first lift
            learner.tell(known[750:], codes[known[750:]])
            began = time.perf_counter()
            learner.ask()
            seconds.append(time.perf_counter() - began)
        ratios = [f"{one / seconds[0]:.2f}" for one in seconds[1:]]
        print(f"| {n:,} x {p} | {seconds[0]:.1f} | {ratios[0]} | {ratios[1]} |", flush=True)


def memory(shapes: tuple[tuple[int, int], ...]) -> None:
    print("| pool | strategy | held at the peak | planned |\n| --- | --- | --- | --- |")
    for n, p in shapes:
        for strategy in ("blend", "aced"):
            with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as alone:
                used, planned = alone.submit(_held_at_peak, n, p, strategy).result()
            print(f"| {n:,} x {p} | {strategy} | {used / 2**20:.0f} MiB | {planned / 2**20:.0f} MiB |")


def _held_at_peak(n: int, p: int, strategy: str) -> tuple[int, int]:
    """Bytes of a round over lifted rows, and those that are planned; in a process of its own."""
    warm = Learner(np.random.default_rng(1).normal(size=(2000, 4)), strategy=strategy, batch_size=20)
    warm.tell(np.arange(200), np.arange(200) % 2)
    warm.ask()  # compiles
    before = held()
    with watched() as peak:
        rng = np.random.default_rng(0)
        pool = Pool(rng.standard_normal((n, p), dtype=np.float32))
        learner = Learner(pool, batch_size=250, seed=0, strategy=strategy, representation="rbf")
        known = rng.permutation(n)[:1000]
        learner.tell(known, (np.square(pool.rows(known)[:, :4]).sum(axis=1) > 3.5).astype(int))
        learner.ask()
    cost = Cost.of(n, p, threads=learner.workers.threads, representation="rbf")
    return max(peak) - before, cost.peak()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=["labels", "rounds", "memory"])
    parser.add_argument("--tasks", nargs="*", default=list(BUDGETS))
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--pixels", action="store_true")
    parser.add_argument("--data-home", type=Path)
    parser.add_argument("--large", action="store_true")
    given = parser.parse_args()
    if given.what == "labels":
        labels(given.tasks, given.seeds, given.pixels, given.data_home)
        return
    {"rounds": rounds, "memory": memory}[given.what](SHAPES if given.large else SHAPES[:1])


if __name__ == "__main__":
    main()
