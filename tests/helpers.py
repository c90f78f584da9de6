"""Small instances with answers that can be computed by other means."""

from __future__ import annotations

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


def thresholds(n: int) -> np.ndarray:
    """The n + 1 labelings of n ordered rows by a threshold."""
    return np.arange(n)[None, :] >= np.arange(n + 1)[:, None]


def finite_problem(
    n: int = 8, labelled: int = 4, shift: float = 2.0, seed: int = 0
) -> tuple[Problem, np.ndarray]:
    """A round on thresholds with a few labels; returns the labelings as well."""
    rng = np.random.default_rng(seed)
    pool = Pool(np.arange(n, dtype=float)[:, None])
    table = thresholds(n)
    oracle = FiniteOracle(pool, table, workers=Workers(1))
    mu = np.zeros(n, np.float32)
    rows = rng.choice(n, labelled, replace=False)
    mu[rows] = np.where(rows >= n // 2, 1, -1)
    best = int((table @ mu).argmax())
    incumbent = Incumbent.of(oracle, oracle.from_array(np.array([best])), mu)
    return Problem(oracle, mu, shift, incumbent), table


def linear_problem(
    n: int = 900, p: int = 10, labelled: int = 150, k: int = 5, seed: int = 0
) -> tuple[Problem, np.ndarray]:
    """A round on linear separators of random rows."""
    from aced.design import initial_incumbent

    rows, labels = blobs(n, p, seed)
    oracle = LinearOracle(Pool(rows), workers=Workers(2))
    mu = np.zeros(n, np.float32)
    known = np.random.default_rng(seed).choice(n, labelled, replace=False)
    mu[known] = 2 * labels[known] - 1
    return Problem(oracle, mu, n * 2.0 ** (1 - k), initial_incumbent(oracle, mu)), labels


def ratio_by_definition(
    problem: Problem, lam: np.ndarray, zeta: np.ndarray, labelings: np.ndarray
) -> np.ndarray:
    """max_h f(λ; h, ζ) over an explicit list of labelings, for each row of ζ."""
    apart = problem.incumbent.labels.astype(float) - labelings.astype(float)
    numerator = (zeta / np.sqrt(lam)) @ apart.T
    denominator = problem.shift + apart @ problem.mu.astype(float)
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
