"""Online Active Cover, ours against Vowpal Wabbit's: queries and pool accuracy over four orders.

    pip install 'aced[vw]' && python benchmarks/cover.py [--tasks breast digits fashion]

Rows are standardised; one pass; learning rate 1.
"""

from __future__ import annotations

import argparse

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits

from aced import Learner, Pool
from aced.datasets import load_dataset
from aced.strategies import ActiveCover
from aced.strategies._vw_cover import Program

SETTINGS = {"breast": (0.1,), "digits": (0.1,), "fashion": (0.03, 0.1)}


def load(task: str) -> tuple[np.ndarray, np.ndarray]:
    """Standardised rows and labels 0 or 1."""
    if task == "breast":
        rows, labels = load_breast_cancer(return_X_y=True)
    elif task == "digits":
        rows, labels = load_digits(return_X_y=True)
        labels = labels % 2
    else:
        data = load_dataset(task)
        rows, labels = data.X, (data.y == np.unique(data.y)[1]).astype(int)
    spread = rows.std(axis=0)
    rows = (rows - rows.mean(axis=0)) / np.where(spread > 0, spread, 1)
    return rows.astype(np.float32), labels


def ours(rows: np.ndarray, labels: np.ndarray, c0: float, seed: int) -> tuple[int, float]:
    learner = Learner(Pool(rows), strategy=ActiveCover(c0), seed=seed)
    while len(query := learner.ask(1)):
        learner.tell(query.ids, labels[query.ids])
    weights = learner.strategy._learners.weights[0]
    said = np.column_stack([rows, np.ones(len(rows))]) @ weights > 0
    return learner.labels_known, float((said == labels).mean())


def theirs(rows: np.ndarray, labels: np.ndarray, c0: float, seed: int) -> tuple[int, float]:
    program = Program(c0, seed=seed + 1)
    order = np.random.default_rng(seed).permutation(len(rows)).tolist()
    asked = sum(program.learn(rows[row], labels[row]) > 0 for row in order)
    said = np.array([program.predict(row) for row in rows])
    return asked, float((said == labels).mean())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tasks", nargs="+", choices=SETTINGS, default=list(SETTINGS))
    for task in parser.parse_args().tasks:
        rows, labels = load(task)
        for c0 in SETTINGS[task]:
            for name, method in (("ours", ours), ("vowpal wabbit", theirs)):
                found = [method(rows, labels, c0, seed) for seed in range(4)]
                queries, scores = zip(*found, strict=True)
                print(
                    f"{task} C0 {c0}, {name}: queries {min(queries)} to {max(queries)}, "
                    f"mean {np.mean(queries):.0f}; accuracy {min(scores):.4f} to {max(scores):.4f}",
                    flush=True,
                )


if __name__ == "__main__":
    main()
