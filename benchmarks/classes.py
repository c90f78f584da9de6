"""What more classes cost: seconds of a round against two classes, and the memory of a large round.

    python benchmarks/classes.py                      # everything; about ten minutes on two cores
    python benchmarks/classes.py cost                 # 20,000 x 256 with 2, 5, 10 and 30 classes
    python benchmarks/classes.py memory               # 1,000,000 x 256 with ten classes

Rows are normal, and labels follow a linear rule with noise. A round is what a learner with 1000 labels
takes to ask for the next 250 rows. Every measurement has a process of its own, and memory is what that
process holds at the peak, rows included. Accuracies: ``aced bench classes``.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

LABELLED, BATCH = 1000, 250
CLASSES = (2, 5, 10, 30)


def held() -> int:
    """The bytes that this process holds, without the pages of its files."""
    with open("/proc/self/status") as lines:
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("RssAnon"))


@contextmanager
def watched() -> Iterator[list[int]]:
    """The bytes that this process holds, again and again."""
    seen, done = [held()], threading.Event()

    def watch() -> None:
        while not done.wait(0.01):
            seen.append(held())

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        yield seen
    finally:
        done.set()
        watcher.join()


def measure(rows: int, features: int, classes: int, repeats: int) -> dict[str, float]:
    """The least seconds of some equal rounds, and the bytes at the peak."""
    from aced import Learner, Pool
    from aced.cost import Cost

    rng = np.random.default_rng(0)
    known = np.sort(rng.choice(rows, LABELLED, replace=False))
    pool = Pool(rng.standard_normal((rows, features), dtype=np.float32))
    scores = pool.rows(known) @ rng.standard_normal((features, classes))
    labels = (scores + 4 * rng.standard_normal(scores.shape)).argmax(axis=1)
    warm = Learner(np.random.default_rng(1).standard_normal((2000, 4)), batch_size=20)
    warm.tell(np.arange(200), np.arange(200) % classes)
    warm.ask()  # compiles
    seconds = []
    with watched() as peak:
        for _ in range(repeats):
            learner = Learner(pool, classes=list(range(classes)), batch_size=BATCH, seed=0)
            learner.tell(known, labels)
            began = time.perf_counter()
            learner.ask()
            seconds.append(time.perf_counter() - began)
    told = Cost.of(rows, features, threads=learner.workers.threads, classes=classes).peak()
    return {"seconds": min(seconds), "peak": max(peak), "told": told}


def child(*task: int) -> dict[str, float]:
    done = subprocess.run(
        [sys.executable, __file__, "--task", json.dumps(task)],
        capture_output=True,
        text=True,
        check=True,
    )
    found: dict[str, float] = json.loads(done.stdout)
    return found


def cost() -> None:
    print("20,000 x 256, 1000 labels known; the least of three rounds")
    base = 0.0
    for classes in CLASSES:
        found = child(20_000, 256, classes, 3)
        base = base or found["seconds"]
        ratio = found["seconds"] / base
        print(
            f"  K = {classes:2d}: {found['seconds']:6.2f} s, {ratio:5.2f} times K = 2, "
            f"{ratio / (classes - 1):.2f} (K - 1); {found['peak'] / 2**20:.0f} MiB",
            flush=True,
        )


def memory() -> None:
    for classes in (2, 10):
        found = child(1_000_000, 256, classes, 1)
        print(
            f"1,000,000 x 256, K = {classes}: {found['seconds']:.0f} s, {found['peak'] / 2**30:.2f} GiB "
            f"at the peak with the rows; aced plan says {found['told'] / 2**30:.2f} GiB for the round",
            flush=True,
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("parts", nargs="*", help="cost, memory (default: both)")
    parser.add_argument("--task", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.task:
        print(json.dumps(measure(*json.loads(given.task))))
        return
    for part in given.parts or ("cost", "memory"):
        {"cost": cost, "memory": memory}[part]()


if __name__ == "__main__":
    main()
