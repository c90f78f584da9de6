"""How good the classifier is that a learner trains by default, on labels drawn at random.

    python benchmarks/classifier.py [--seeds 5] [--data-home FOLDER] [--tasks NAME …] [--json FILE]

For each task and number of labels: the accuracy on other rows of logistic regression with the penalty
l2 = 1 on the rows as they are, of the default, and of the best penalty in hindsight, with every column
scaled alone or all alike. The last is no method, since it looks at the answers. Image tasks need the
files of the paper's data sets (``--data-home`` or ACED_DATA) and are left out without them.
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
from sklearn.linear_model import LogisticRegression

from aced import InvalidInput, Learner, Pool
from aced.datasets import load_dataset

SIZES = (20, 50, 100, 300, 1000, 3000)
PENALTIES = 10.0 ** np.arange(-4, 4.01)
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


def hindsight(rows: object, labels: np.ndarray, known: np.ndarray, tested: np.ndarray) -> float:
    """The best accuracy over penalties and scalings."""
    best = 0.0
    for scaled in _scaled(rows):
        for l2 in PENALTIES:
            model = LogisticRegression(C=1 / l2, tol=1e-3, max_iter=300)
            model.fit(scaled[known], labels[known])
            best = max(best, model.score(scaled[tested], labels[tested]))
    return best


def _scaled(rows: object) -> Iterator[object]:
    if not isinstance(rows, np.ndarray):
        yield rows / np.sqrt(rows.multiply(rows).mean())
        return
    spread = rows.std(axis=0)
    centred = (rows - rows.mean(axis=0))[:, spread > 0].astype(np.float32)
    spread = spread[spread > 0]
    yield centred / spread
    yield centred / np.sqrt(np.square(spread).mean())


def measure(task: Task, seeds: int) -> list[dict[str, object]]:
    name, rows, labels = task
    pool = Pool(rows)
    fixed = Learner(pool, strategy="passive", l2=1.0)
    default = Learner(pool, strategy="passive")
    found = []
    for size in (size for size in SIZES if size <= 0.7 * len(labels)):
        scores, seconds = [], []
        for seed in range(seeds if size < 1000 else min(seeds, 2)):
            order = np.random.default_rng(seed).permutation(len(labels))
            known, tested = np.sort(order[:size]), order[size : size + TESTED]
            answers = [fixed.train(known, labels[known])]
            began = time.perf_counter()
            answers.append(default.train(known, labels[known]))
            seconds.append(time.perf_counter() - began)
            held = pool.rows(tested)
            mine = [model.score(held, labels[tested]) for model in answers]
            scores.append([*mine, hindsight(rows, labels, known, tested)])
        values = [round(float(value), 4) for value in np.mean(scores, axis=0)]
        line = {"task": name, "labels": size, "seconds": round(float(np.median(seconds)), 2)}
        found.append(line | dict(zip(("l2 = 1", "default", "hindsight"), values, strict=True)))
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
    heads = ("task", "labels", "l2 = 1", "default", "hindsight", "seconds")
    for cells in (heads, ["---"] * len(heads), *([str(line[key]) for key in heads] for line in lines)):
        print("| " + " | ".join(cells) + " |")
    if given.json is not None:
        given.json.write_text(json.dumps(lines, indent=1))


if __name__ == "__main__":
    main()
