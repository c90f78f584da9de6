"""How much of an accuracy is the classifier that is scored: the same labels, fitted by several solvers.

    python benchmarks/scored.py mnist 1000 --seeds 3
    python benchmarks/scored.py fashion --all

`aced` asks for labels as in the paper suite; at the given counts, and with `--all` on every label,
unpenalised logistic regression is fitted by several solvers at two tolerances, and as published: lbfgs
with tolerance 0.1 on MNIST and 0.001 elsewhere, which scikit-learn read on the sum of the losses at the
time (since 1.4 on their mean), and at most 1000 steps (300 on Fashion). Where there are about as many
labels as features, a fit that ends early errs less.
"""

from __future__ import annotations

import argparse
import warnings

import numpy as np
from sklearn.linear_model import LogisticRegression

from aced import Learner, Pool
from aced.datasets import load_dataset


def classifiers(task: str, labels: int) -> dict[str, LogisticRegression]:
    published = LogisticRegression(
        C=np.inf,
        tol=(0.1 if task == "mnist" else 1e-3) / labels,
        max_iter=300 if task == "fashion" else 1000,
    )
    found = {"as published": published}
    for tolerance in (1e-3, 0.1):
        for solver in ("lbfgs", "liblinear", "newton-cg"):
            penalty = 1e8 if solver == "liblinear" else np.inf
            model = LogisticRegression(C=penalty, tol=tolerance, solver=solver, max_iter=1000)
            found[f"{solver} {tolerance:g}"] = model
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("task")
    parser.add_argument("labels", nargs="*", type=int)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--all", action="store_true", help="also on every label")
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    data = load_dataset(asked.task)
    pool = Pool(data.X)
    found: dict[tuple[int, str], list[float]] = {}
    for name, model in classifiers(asked.task, len(pool)).items() if asked.all else ():
        on_pool = float((model.fit(data.X, data.y).predict(data.X) == data.y).mean())
        print(f"{asked.task}, all labels, {name}: {on_pool:.4f}", flush=True)
    for seed in range(asked.seeds if asked.labels else 0):
        learner = Learner(pool, batch_size=250, l2=0.0, seed=seed)
        while learner.labels_known < max(asked.labels):
            queries = learner.ask()
            learner.tell(queries.ids, data.y[queries.ids])
            if learner.labels_known not in asked.labels:
                continue
            rows, labels, _ = learner.labelled()
            for name, model in classifiers(asked.task, len(rows)).items():
                right = model.fit(data.X[rows], labels).predict(data.X) == data.y
                found.setdefault((learner.labels_known, name), []).append(float(right.mean()))
    for (count, name), values in found.items():
        each = ", ".join(f"{value:.4f}" for value in values)
        print(f"{asked.task}, {count} labels, {name}: {np.mean(values):.4f} ({each})")


if __name__ == "__main__":
    main()
