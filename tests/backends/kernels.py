"""Kernels and pools for tests of those who run them; in a module that workers can import."""

from __future__ import annotations

import os

import numpy as np
import scipy.sparse
from joblib.externals.loky import process_executor

from aced._workers import PerRow
from aced.oracles import GaussianNoise
from aced.pool import Pool


def moments(block, zeta, weight, matrix):
    """Sums in float32 whose last bits depend on the order, an empty one, and one of integers."""
    scores = np.asarray(block @ matrix)
    empty = np.zeros((), np.float32)
    return scores.T @ (zeta * weight[:, None]), empty, np.count_nonzero(scores > 0, axis=0)


def scores(block, zeta, weight, matrix):
    """Arrays over rows, of two shapes and types."""
    found = np.asarray(block @ matrix) * weight[:, None]
    return found, (found * zeta).sum(axis=1) > 0


def weighed(block, values, large):
    return values.T @ block, large[:3]


def scaled(block, values):
    return (block * values,)


def failing(block, text):
    raise ZeroDivisionError(text)


def dying(block, mark, weight):
    """Ends its process where the mark is not yet; with no mark, always."""
    if mark is None or not mark.exists():
        if mark is not None:
            mark.touch()
        os._exit(1)
    return (weight @ block,)


def rows(n=40_000, p=8, seed=0):
    """Three parts, the last block not full."""
    return np.random.default_rng(seed).normal(size=(n, p)).astype(np.float32)


def make_pool(kind, folder):
    """The same numbers, kept in different ways."""
    if kind == "memory":
        return Pool(rows())
    if kind == "file":
        np.save(folder / "rows.npy", rows())
        return Pool(folder / "rows.npy")
    if kind == "view":
        np.save(folder / "rows.npy", rows())
        return Pool(np.load(folder / "rows.npy", mmap_mode="r")[5:])
    if kind == "dask":
        import dask.array

        return Pool(dask.array.from_array(rows(), chunks=(7_000, 3)))
    assert kind == "sparse"
    n, p, rng = 16 * 16_384 + 100, 5_000, np.random.default_rng(0)  # two parts
    places = rng.integers(0, (n, p), (n, 2)).T
    return Pool(scipy.sparse.csr_matrix((rng.normal(size=n).astype(np.float32), places), shape=(n, p)))


KINDS = ["memory", "file", "view", "dask", "sparse"]


def arguments(pool, draws=5, seed=3):
    """Noise that is a recipe, a vector over the rows and a matrix that is the same for all."""
    rng = np.random.default_rng(seed)
    weight = PerRow(rng.random(len(pool)).astype(np.float32))
    matrix = rng.normal(size=(pool.features, draws)).astype(np.float32)
    noise_seed = int(rng.integers(2**31)) + len(pool)
    return GaussianNoise(pool, draws, noise_seed), weight, matrix


def assert_same(found, expected):
    """Equal to the bit, and of the same type."""
    assert len(found) == len(expected)
    for mine, other in zip(found, expected, strict=True):
        assert mine.dtype == other.dtype
        np.testing.assert_array_equal(mine, other)


def growth(block):
    """By how many bytes joblib lets the process grow that computes a row."""
    return (np.full(block.shape[0], process_executor._MAX_MEMORY_LEAK_SIZE),)
