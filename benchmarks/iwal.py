"""IWAL's decisions against those of refitting: one pass over CIFAR, every so many rows judged twice.

    python benchmarks/iwal.py [--task cifar] [--c0 1e-4] [--every 50] [--strategy iwal0]

A row is judged as the stream does, from a solution that is carried along and may lag behind
by a share of the examples; and with all examples before it by two fits of scikit-learn. Both
decisions use the random number of the stream. Times are of this run; the stream's is without
the refits.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import numpy as np

from aced import Learner, Pool
from aced.datasets import load_dataset
from aced.oracles.refit_erm import RefitErm
from aced.strategies import Iwal, make_strategy


class Twice(Iwal):
    """Judges some rows by refits as well, and goes on with the fast judgement."""

    every, spent = 50, 0.0

    def _judgement(self) -> tuple[float, int]:
        chance, guess = super()._judgement()
        if self._k % self.every == 0:
            began = time.perf_counter()
            if not hasattr(self, "slow"):
                self.slow: Any = RefitErm(self._erm.pool)
                self.seen: list[tuple[float, ...]] = []
            done = len(self.slow.rows)
            for example in zip(
                self._rows[done:], self._labels[done:], self._weights[done:], strict=True
            ):
                self.slow.add(*example)
            fast, self._erm = self._erm, self.slow
            again = float(self._chances(self._order[self._k : self._k + 1])[0])
            self._erm = fast
            self.seen.append((self._k, self._luck[self._k], chance, again))
            self.spent += time.perf_counter() - began
        return chance, guess


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--task", default="cifar")
    parser.add_argument("--strategy", default="iwal0")
    parser.add_argument("--c0", type=float, nargs="+", default=[1e-3, 1e-4, 1e-5])
    parser.add_argument("--every", type=int, default=50)
    parser.add_argument("--lag", type=float, default=None)
    asked = parser.parse_args()
    data = load_dataset(asked.task)
    pool = Pool(data.X)
    print(
        "| C0 | labels | judged twice | equal decisions | mean difference of P | by fifths "
        "| stream s | refits s per row |"
    )
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    for c0 in asked.c0:
        lag = {} if asked.lag is None else {"lag": asked.lag}
        plain = make_strategy(asked.strategy, {"c0": c0, "passes": 1, **lag})
        assert isinstance(plain, Iwal)
        strategy = Twice(c0, variant=plain.variant, oracular=plain.oracular, passes=1, lag=plain.lag)
        strategy.every = asked.every
        learner = Learner(pool, strategy=strategy, classes=np.unique(data.y).tolist(), seed=0, threads=1)
        began = time.perf_counter()
        while len(query := learner.ask(1)):
            learner.tell(query.ids, data.y[pool.positions(query.ids)])
        strategy = learner.strategy
        took = time.perf_counter() - began - strategy.spent
        _, luck, fast, slow = np.array(strategy.seen).T
        equal = (luck < fast) == (luck < slow)
        apart = np.abs(fast - slow)
        fifths = " ".join(f"{part.mean():.3f}" for part in np.array_split(apart, 5))
        print(
            f"| {c0:g} | {learner.labels_known} | {len(fast)} | {equal.mean():.3f} | {apart.mean():.4f} "
            f"| {fifths} | {took:.0f} | {strategy.spent / len(fast):.2f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
