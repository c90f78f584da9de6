"""Whether the model's probabilities can be taken at their word, on labels drawn at random.

    python benchmarks/reliability.py [--seeds 5] [--data-home FOLDER] [--json FILE]

Each task is labelled at random, and the model is asked about other rows: which class is it, with which
probability? Answers are put together by this probability. Calibrated, the share of right answers in
each part is the mean probability. The expected calibration error is the mean difference of the two,
weighted by the number of answers. Image tasks need the files of the paper's data sets (``--data-home``
or ACED_DATA) and are left out without them.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from aced import InvalidInput, Learner, Pool
from aced.datasets import load_dataset

TASKS = ("breast", "digits", "digits10", "mnist", "mnist10", "cifar", "svhn", "fashion")
SIZES = (30, 100, 300, 1000)
EDGES = (0.0, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 1.0)
TESTED = 4000

Answers = tuple[np.ndarray, np.ndarray]
"""The probability of the class that was named, and whether it is right, for each row."""


def tasks(home: str | None) -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    for name in TASKS:
        try:
            data = load_dataset(name, data_home=home)
        except InvalidInput as error:
            print(f"{name} is left out: {error}")
            continue
        yield name, data.X, data.y


def answers(pool: Pool, labels: np.ndarray, size: int, seed: int) -> Answers:
    order = np.random.default_rng(seed).permutation(len(labels))
    known, tested = np.sort(order[:size]), order[size : size + TESTED]
    learner = Learner(pool, strategy="passive", seed=seed, threads=1)
    model = learner.train(known, labels[known])
    shares = model.predict_proba(pool.rows(tested))
    named = model.classes_[shares.argmax(axis=1)]
    return shares.max(axis=1), named == labels[tested]


def parts(said: np.ndarray, right: np.ndarray) -> list[dict[str, float]]:
    """Number of answers, mean probability and share of right answers, by probability."""
    place = np.clip(np.searchsorted(EDGES, said, side="left") - 1, 0, len(EDGES) - 2)
    found = []
    for part in range(len(EDGES) - 1):
        mine = place == part
        if mine.any():
            numbers = {"answers": int(mine.sum()), "said": float(said[mine].mean())}
            found.append({"from": EDGES[part], **numbers, "right": float(right[mine].mean())})
    return found


def calibration_error(found: list[dict[str, float]]) -> float:
    total = sum(part["answers"] for part in found)
    return sum(part["answers"] * abs(part["said"] - part["right"]) for part in found) / total


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--data-home")
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    lines = []
    every: dict[int, list[Answers]] = {size: [] for size in SIZES}
    for name, rows, labels in tasks(given.data_home):
        pool = Pool(rows)
        for size in (size for size in SIZES if size <= 0.7 * len(labels)):
            some = [answers(pool, labels, size, seed) for seed in range(given.seeds)]
            every[size] += some
            said, right = (np.concatenate(both) for both in zip(*some, strict=True))
            errors = [calibration_error(parts(*one)) for one in some]
            line = {"task": name, "labels": size, "said": said.mean(), "right": right.mean()}
            lines.append({**line, "calibration error": float(np.mean(errors))})
            print(
                f"| {name} | {size} | {said.mean():.3f} | {right.mean():.3f} | {np.mean(errors):.3f} |",
                flush=True,
            )
    print("| labels | " + " | ".join(f"over {edge:g}" for edge in EDGES[:-1]) + " |")
    for size, some in every.items():
        if some:
            found = parts(*(np.concatenate(both) for both in zip(*some, strict=True)))
            cells = {part["from"]: f"{part['said']:.2f}: {part['right']:.2f}" for part in found}
            print(f"| {size} | " + " | ".join(cells.get(edge, "-") for edge in EDGES[:-1]) + " |")
    if given.json is not None:
        given.json.write_text(json.dumps(lines, indent=1, default=float))


if __name__ == "__main__":
    main()
