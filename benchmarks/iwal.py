"""IWAL's decisions against those of refitting, and what lagging does to its curves.

    python benchmarks/iwal.py decisions [--task cifar] [--c0 1e-3 1e-4 1e-5] [--every 50]
    python benchmarks/iwal.py curves [--task cifar] [--rows 2000] [--features 32] [--c0 1e-3 1e-4 1e-5]
    python benchmarks/iwal.py lag [--task cifar] [--c0 1e-3 1e-4 1e-5] [--seeds 2]
    python benchmarks/iwal.py certain [--task fashion] [--c0 1e-8 1e-4 1]

``decisions``: one pass; every so many rows one is judged twice, as the stream does and by two fits of
scikit-learn on the same examples, and both decide with the random number of the stream; once
more with scikit-learn's default solver, to show what the published solver's tolerance does.
``curves``: whole streams by refits at every row, on a part of the task (first rows, first columns),
beside the fast ones with the same random numbers: equal decisions, and how far apart the curves are;
those of another seed's refits show how far apart any two streams are.
``lag``: the accuracy after equal labels with lag 0 and with the lag of the paper suite.
``certain``: how many rows of one pass are judged P = 1.

Times are of this run; a stream's is without the refits.
"""

from __future__ import annotations

import argparse
import time
import warnings
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression

from aced import Learner, Pool
from aced.bench._suites import LAG
from aced.datasets import Dataset, load_dataset
from aced.oracles._refit_erm import RefitErm
from aced.strategies import Iwal


class PublishedErm(RefitErm):
    """Refits by lbfgs with scikit-learn's default tolerance and C = 1e8."""

    def _fit(self, x: Any, *, intercept: bool) -> tuple[Any, float]:
        model = LogisticRegression(C=1e8, max_iter=1000, fit_intercept=intercept)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.fit(x, np.array(self.labels), sample_weight=np.array(self.weights))
        return model.coef_[0], float(model.intercept_[0]) if intercept else 0.0


class Twice(Iwal):
    """Judges some rows by refits as well, and goes on with the fast judgement."""

    every, spent = 0, 0.0

    def _judgement(self) -> tuple[float, int]:
        chance, guess = super()._judgement()
        if not hasattr(self, "chances"):
            self.chances: list[float] = []
            self.seen: list[tuple[float, ...]] = []
            self.others = [RefitErm(self._erm.pool), PublishedErm(self._erm.pool)] if self.every else []
        self.chances.append(chance)
        if self.every and self._k % self.every == 0:
            began = time.perf_counter()
            again = [self._by(other) for other in self.others]
            self.seen.append((self._luck[self._k], chance, *again))
            self.spent += time.perf_counter() - began
        return chance, guess

    def _by(self, other: Any) -> float:
        done = len(other.rows)
        for example in zip(self._rows[done:], self._labels[done:], self._weights[done:], strict=True):
            other.add(*example)
        fast, self._erm = self._erm, other
        found = float(self._chances(self._order[self._k : self._k + 1])[0])
        self._erm = fast
        return found


def stream(data: Dataset, pool: Pool, strategy: Iwal, seed: int, marks: tuple[int, ...] = ()) -> Any:
    """One pass; the learner, its seconds, and pool accuracies after so many labels."""
    learner = Learner(
        pool, strategy=strategy, classes=np.unique(data.y).tolist(), seed=seed, l2=0.0, threads=1
    )
    found, began, apart = {}, time.perf_counter(), 0.0
    while len(query := learner.ask(1)):
        learner.tell(query.ids, data.y[pool.positions(query.ids)])
        if learner.labels_known in marks:
            start = time.perf_counter()
            found[learner.labels_known] = float(
                (learner.classifier.predict(pool.rows()) == data.y).mean()
            )
            apart += time.perf_counter() - start
    spent = getattr(learner.strategy, "spent", 0.0)
    return learner, time.perf_counter() - began - apart - spent, found


def decisions(data: Dataset, pool: Pool, asked: argparse.Namespace) -> None:
    print("| C0 | labels | judged again | equal decisions | mean difference of P | published solver's | "
          "stream, s | two refits, s a row |")  # fmt: skip
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    for c0 in asked.c0:
        strategy = Twice(c0, passes=1)
        strategy.every = asked.every
        learner, took, _ = stream(data, pool, strategy, 0)
        luck, fast, slow, published = np.array(learner.strategy.seen).T
        equal = ((luck < fast) == (luck < slow)).mean()
        theirs = ((luck < published) == (luck < slow)).mean()
        print(
            f"| {c0:g} | {learner.labels_known} | {len(fast)} "
            f"| {equal:.3f} | {np.abs(fast - slow).mean():.4f} "
            f"| {theirs:.3f}, {np.abs(published - slow).mean():.4f} "
            f"| {took:.0f} | {learner.strategy.spent / len(fast) / 2:.2f} |",
            flush=True,
        )


def _curve(data: Dataset, pool: Pool, seed: int, c0: float, **options: Any) -> Any:
    """Which rows a stream asked for, its seconds, and its curve every 100 labels."""
    marks = tuple(range(100, len(pool) + 1, 100))
    learner, took, found = stream(data, pool, Iwal(c0, passes=1, **options), seed, marks)
    asked = np.zeros(len(pool), bool)
    asked[pool.positions(learner.labelled()[0])] = True
    return asked, took, found


def _apart(one: dict[int, float], two: dict[int, float]) -> str:
    shared = sorted(set(one) & set(two))
    gaps = np.array([one[mark] - two[mark] for mark in shared])
    return f"{np.abs(gaps).mean():.4f}, {gaps.mean():+.4f}"


def curves(data: Dataset, _: Pool, asked: argparse.Namespace) -> None:
    part = Dataset(data.name, data.X[: asked.rows, : asked.features], data.y[: asked.rows], None, None)
    pool = Pool(part.X)
    print(f"{data.name}, {len(pool)} x {pool.features}; differences of accuracy: mean size, mean\n")
    print("| C0 | seed | labels: fast, refits | equal decisions | curves apart | lagging, from refits | "
          "refits of another seed | fast, s | refits, s |")  # fmt: skip
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    for c0 in asked.c0:
        refits = [_curve(part, pool, seed, c0, erm=RefitErm) for seed in range(asked.seeds + 1)]
        for seed in range(asked.seeds):
            fast = _curve(part, pool, seed, c0)
            late = _curve(part, pool, seed, c0, lag=LAG)
            slow, other = refits[seed], refits[seed + 1]
            apart = " | ".join(_apart(curve[2], slow[2]) for curve in (fast, late, other))
            equal = (fast[0] == slow[0]).mean()
            print(
                f"| {c0:g} | {seed} | {fast[0].sum()}, {slow[0].sum()} | {equal:.3f} | {apart} "
                f"| {fast[1]:.1f} | {slow[1]:.0f} |",
                flush=True,
            )


def lag(data: Dataset, pool: Pool, asked: argparse.Namespace) -> None:
    marks = tuple(range(1000, len(pool) + 1, 1000))
    print(
        "| C0 | lag | s | labels | accuracy at 1000, 2000, … labels |\n| --- | --- | --- | --- | --- |"
    )
    for c0 in asked.c0:
        for value in (0.0, LAG):
            runs = [
                stream(data, pool, Iwal(c0, passes=1, lag=value), seed, marks)
                for seed in range(asked.seeds)
            ]
            shared = sorted(set.intersection(*(set(found) for _, _, found in runs)))
            means = " ".join(f"{np.mean([found[m] for _, _, found in runs]):.4f}" for m in shared)
            labels = np.mean([learner.labels_known for learner, _, _ in runs])
            took = np.mean([took for _, took, _ in runs])
            print(f"| {c0:g} | {value:g} | {took:.0f} | {labels:.0f} | {means} |", flush=True)


def certain(data: Dataset, pool: Pool, asked: argparse.Namespace) -> None:
    print("| C0 | rows judged | labels | share judged P = 1 | mean P |\n| --- | --- | --- | --- | --- |")
    for c0 in asked.c0:
        learner, _, _ = stream(data, pool, Twice(c0, passes=1, lag=LAG), 0)
        chances = np.array(learner.strategy.chances)
        print(
            f"| {c0:g} | {len(chances)} | {learner.labels_known} | {(chances >= 1).mean():.4f} "
            f"| {chances.mean():.4f} |",
            flush=True,
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("what", choices=["decisions", "curves", "lag", "certain"])
    parser.add_argument("--task", default="cifar")
    parser.add_argument("--c0", type=float, nargs="+", default=[1e-3, 1e-4, 1e-5])
    parser.add_argument("--every", type=int, default=50)
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--rows", type=int, default=2000, help="of curves")
    parser.add_argument("--features", type=int, default=32, help="of curves")
    asked = parser.parse_args()
    data = load_dataset(asked.task)
    what = {"decisions": decisions, "curves": curves, "lag": lag, "certain": certain}[asked.what]
    what(data, Pool(data.X), asked)


if __name__ == "__main__":
    main()
