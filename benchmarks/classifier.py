"""How good the classifier is that a learner trains by default, on labels drawn at random.

    python benchmarks/classifier.py [--seeds 5] [--data-home FOLDER] [--tasks NAME …] [--json FILE]

For each task and number of labels: the accuracy on other rows of logistic regression with the penalty
l2 = 1 on the rows as they are, and of the model in its representations: linear, lifted by a Gaussian
kernel, and chosen by the labels, which is the default. Image tasks need the files of the paper's data
sets (``--data-home`` or ACED_DATA) and are left out without them.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from sklearn.datasets import load_breast_cancer, load_wine, make_classification
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_extraction.text import TfidfTransformer

from aced import InvalidInput, Learner, Pool
from aced.datasets import load_dataset

SIZES = (20, 50, 100, 300, 1000, 3000)
WAYS: dict[str, dict[str, object]] = {
    "l2 = 1": {"l2": 1.0},
    "linear": {"representation": "linear"},
    "rbf": {"representation": "rbf"},
    "auto": {},
}
TESTED = 4000
IMAGES = ("mnist", "mnist10", "cifar", "svhn", "fashion")

Task = tuple[str, object, np.ndarray]


def tables() -> Iterator[Task]:
    """Tables in mixed units, images of digits, made tables and made texts."""
    rng = np.random.default_rng(0)
    yield ("breast, raw units", *load_breast_cancer(return_X_y=True))
    yield ("wine, raw units", *load_wine(return_X_y=True))
    for name in ("digits", "digits10"):
        data = load_dataset(name)
        yield name, np.vstack([data.X, data.X_test]), np.concatenate([data.y, data.y_test])
    how = {"n_features": 250, "n_redundant": 20, "flip_y": 0.05, "random_state": 0}
    rows, labels = make_classification(6000, n_informative=10, **how)
    yield "made, 250 features", (rows - rows.mean(axis=0)) / rows.std(axis=0), labels
    how = {"n_redundant": 8, "n_clusters_per_class": 1, "flip_y": 0.05, "random_state": 1}
    rows, labels = make_classification(6000, 60, n_informative=12, n_classes=5, **how)
    units = 10.0 ** rng.uniform(-3, 3, 60)
    yield "made, 5 classes, mixed units", rows * units + 10.0 ** rng.uniform(-1, 2, 60), labels
    yield ("made texts, 8 classes, sparse", *_texts(rng))


def _texts(rng: np.random.Generator) -> tuple[object, np.ndarray]:
    """4000 texts of 60 words out of 12000; each class uses 300 of the words six times as often."""
    common = 1 / np.arange(2, 12002)
    labels = rng.integers(8, size=4000)
    counts = np.zeros((4000, 12000), np.float32)
    for code in range(8):
        words = common.copy()
        words[rng.choice(12000, 300, replace=False)] *= 6
        mine = np.flatnonzero(labels == code)
        counts[mine] = rng.multinomial(60, words / words.sum(), size=len(mine))
    return TfidfTransformer(sublinear_tf=True).fit_transform(counts).astype(np.float32), labels


def images(home: str | None) -> Iterator[Task]:
    for name in IMAGES:
        try:
            data = load_dataset(name, data_home=home)
        except InvalidInput as error:
            print(f"{name} is left out: {error}")
            continue
        yield name, data.X, data.y


def measure(task: Task, seeds: int) -> list[dict[str, object]]:
    name, rows, labels = task
    pool = Pool(rows)
    ways = {way: how for way, how in WAYS.items() if way != "rbf" or not pool.sparse}
    found = []
    for size in (size for size in SIZES if size <= 0.7 * len(labels)):
        scores: dict[str, list[float]] = {way: [] for way in ways}
        seconds = []
        for seed in range(seeds if size < 1000 else min(seeds, 2)):
            order = np.random.default_rng(seed).permutation(len(labels))
            known, tested = np.sort(order[:size]), order[size : size + TESTED]
            held = pool.rows(tested)
            for way, how in ways.items():
                learner = Learner(pool, strategy="passive", seed=seed, threads=1, **how)
                began = time.perf_counter()
                model = learner.train(known, labels[known])
                seconds += [time.perf_counter() - began] if way == "auto" else []
                scores[way].append(model.score(held, labels[tested]))
        line = {"task": name, "labels": size, "seconds": round(float(np.median(seconds)), 2)}
        found.append(line | {way: round(float(np.mean(of)), 4) for way, of in scores.items()})
        print(found[-1], flush=True)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--data-home")
    parser.add_argument("--tasks", nargs="*", help="only tasks whose name contains one of these")
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    warnings.simplefilter("ignore", ConvergenceWarning)
    lines = []
    for part in (tables(), images(given.data_home)):
        for task in part:
            if not given.tasks or any(wanted in task[0] for wanted in given.tasks):
                lines += measure(task, given.seeds)
    heads = ("task", "labels", *WAYS, "seconds")
    for cells in (
        heads,
        ["---"] * len(heads),
        *([str(line.get(key, "-")) for key in heads] for line in lines),
    ):
        print("| " + " | ".join(cells) + " |")
    if given.json is not None:
        given.json.write_text(json.dumps(lines, indent=1))


if __name__ == "__main__":
    main()
