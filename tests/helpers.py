"""Small instances with answers that can be computed by other means."""

from __future__ import annotations

import itertools
import subprocess
from contextlib import contextmanager, suppress

import numpy as np
import pytest

from aced._workers import Workers
from aced.design import Incumbent, Problem
from aced.oracles import FiniteOracle, LinearOracle
from aced.pool import Pool


def blobs(n: int = 600, p: int = 6, seed: int = 0, flip: float = 0.1) -> tuple[np.ndarray, np.ndarray]:
    """Rows with a linear rule and some wrong labels."""
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(n, p))
    labels = (rows @ rng.normal(size=p) > 0) ^ (rng.random(n) < flip)
    return rows.astype(np.float32), labels.astype(int)


def many_blobs(
    n: int = 600, p: int = 8, classes: int = 4, seed: int = 0
) -> tuple[np.ndarray, np.ndarray]:
    """Rows around a centre for each class; the first ``classes`` rows are of different classes."""
    rng = np.random.default_rng(seed)
    codes = np.concatenate([np.arange(classes), rng.integers(classes, size=n - classes)])
    centres = 2.5 * rng.normal(size=(classes, p))
    return (centres[codes] + rng.normal(size=(n, p))).astype(np.float32), codes


def wedges(
    n: int = 600, p: int = 6, classes: int = 4, seed: int = 0, flip: float = 0.1
) -> tuple[np.ndarray, np.ndarray]:
    """Rows with a linear rule for several classes and some wrong labels."""
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(n, p))
    labels = (rows @ rng.normal(size=(p, classes))).argmax(axis=1)
    wrong = rng.random(n) < flip
    labels[wrong] = rng.integers(0, classes, wrong.sum())
    return rows.astype(np.float32), labels


def thresholds(n: int) -> np.ndarray:
    """The n + 1 labelings of n ordered rows by a threshold."""
    return np.arange(n)[None, :] >= np.arange(n + 1)[:, None]


def intervals(n: int, classes: int) -> np.ndarray:
    """All labelings of n ordered rows by classes - 1 thresholds: 0 … 0 1 … 1 2 … 2."""
    ends = itertools.combinations_with_replacement(range(n + 1), classes - 1)
    return np.array([(np.arange(n) >= np.array(end)[:, None]).sum(axis=0) for end in ends])


def relative(labels: np.ndarray, classes: int) -> np.ndarray:
    """1{label = c} - 1{label = 0} of the classes c ≥ 1."""
    hot = np.eye(classes, dtype=np.float32)[labels]
    return hot[..., 1:] - hot[..., :1]


def of_labels(values: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """values (…, n, K - 1) of the classes named by labels (…, n); 0 for class 0."""
    padded = np.concatenate([np.zeros((*values.shape[:-1], 1)), values], axis=-1)
    padded = np.broadcast_to(padded, (*labels.shape, padded.shape[-1]))
    return np.take_along_axis(padded, labels[..., None].astype(int), axis=-1)[..., 0]


def finite_problem(
    n: int = 8, labelled: int = 4, shift: float = 2.0, seed: int = 0, classes: int = 2
) -> tuple[Problem, np.ndarray]:
    """A round on thresholds with a few labels; returns the labelings as well."""
    rng = np.random.default_rng(seed)
    pool = Pool(np.arange(n, dtype=float)[:, None])
    table = intervals(n, classes)
    oracle = FiniteOracle(pool, table, classes=classes, workers=Workers(1))
    mu = np.zeros((n, classes - 1), np.float32)
    rows = rng.choice(n, labelled, replace=False)
    mu[rows] = relative(rows * classes // n, classes)
    best = int(of_labels(mu, table).sum(axis=1).argmax())
    incumbent = Incumbent.of(oracle, oracle.from_array(np.array([best])), mu)
    return Problem(oracle, mu, shift, incumbent), table


def linear_problem(
    n: int = 900, p: int = 10, labelled: int = 150, k: int = 5, seed: int = 0, classes: int = 2
) -> tuple[Problem, np.ndarray]:
    """A round on linear classifiers of random rows."""
    from aced.design import initial_incumbent

    rows, labels = blobs(n, p, seed) if classes == 2 else wedges(n, p, classes, seed)
    oracle = LinearOracle(Pool(rows), classes=classes, workers=Workers(2))
    mu = np.zeros((n, classes - 1), np.float32)
    known = np.random.default_rng(seed).choice(n, labelled, replace=False)
    mu[known] = relative(labels[known], classes)
    return Problem(oracle, mu, n * 2.0 ** (1 - k), initial_incumbent(oracle, mu)), labels


def ratio_by_definition(
    problem: Problem, lam: np.ndarray, zeta: np.ndarray, labelings: np.ndarray
) -> np.ndarray:
    """max_h f(λ; h, ζ) over an explicit list of labelings, for each row of ζ."""
    zeta = zeta[..., None] if zeta.ndim == 2 else zeta  # (draws, n, K - 1)
    padded = np.concatenate([np.zeros((*zeta.shape[:2], 1)), zeta], axis=2) / np.sqrt(lam)[:, None]
    hot = np.eye(padded.shape[2])
    apart = hot[problem.incumbent.labels] - hot[labelings.astype(int)]  # (hypotheses, n, K)
    numerator = np.tensordot(padded, apart, axes=([1, 2], [1, 2]))
    mu = np.column_stack([np.zeros(problem.n), problem.mu.astype(float)])
    denominator = problem.shift + np.tensordot(apart, mu, axes=2)
    return (numerator / denominator).max(axis=1)


def answer(project, who, row, kind, label=None, **options):
    """Give this row to someone, as a round might, and take their answer."""
    if not project.state.was_given(who, row):
        with project.ledger.writing() as writing:
            until = writing.now + project.settings.lease
            writing.append("lease", who, row, {"until": until})
    return project.answer(who, row, kind, label, **options)


SETTINGS = {
    "classes": ["a", "b"],
    "kind": "text",
    "items": 50,
    "rows": 50,
    "pool": "",
    "root": None,
    "strategy": "aced",
    "seed": 0,
    "batch": 5,
    "check": 0.1,
    "overlap": 0.0,
    "lease": 600.0,
    "l2": 1.0,
    "combine": "majority",
}
"""The body of a ledger's first event."""


@contextmanager
def small_disk(folder, size="2m"):
    """A disk of its own, mounted at ``folder``; the test is skipped where mounting is not allowed."""
    folder.mkdir(parents=True, exist_ok=True)
    made = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={size}", "aced-test", str(folder)], capture_output=True
    )
    if made.returncode:
        pytest.skip("this machine does not let us mount a disk")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


@contextmanager
def filled(folder, spare=0):
    """The disk under ``folder`` is full inside this context, but for ``spare`` bytes."""
    filler = folder / "filler"
    with filler.open("wb", buffering=0) as file:
        with suppress(OSError):
            while file.write(b"x" * 4096):
                pass
        file.truncate(max(0, file.tell() - spare))
    try:
        yield
    finally:
        filler.unlink()


@contextmanager
def read_only(folder):
    """The disk mounted at ``folder`` cannot be written inside this context."""
    subprocess.run(["mount", "-o", "remount,ro", str(folder)], check=True)
    try:
        yield
    finally:
        subprocess.run(["mount", "-o", "remount,rw", str(folder)], check=True)
