"""The four image tasks of the paper, with the features of its experiments, and MNIST with ten classes.

A task is one .npz file with uint8 images ``X_train, X_test`` and labels ``y_train, y_test``. It is
looked for in ``--data-home``, then ``ACED_DATA``, then the cache. If absent, it is fetched from OpenML.
"""

from __future__ import annotations

import hashlib
import os
import warnings
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy.linalg

from aced._archive import plain_arrays
from aced._errors import DataUnavailable, InvalidInput
from aced._files import replacing
from aced._types import Array, Float64
from aced._workers import Workers
from aced.datasets._dataset import Dataset, standardised

ARRAYS = ("X_train", "y_train", "X_test", "y_test")
BUILD = 1
"""The version of how features are built. A cache of another version is not used."""


@dataclass(frozen=True)
class Task:
    """Where a task comes from and what it must look like."""

    file: str
    openml: str
    classes: tuple[str, str] | None  # the two classes used; None: all ten
    train_rows: int  # the data set's own split: its first rows are for training
    shape: tuple[int, int]  # rows of pool and holdout once the classes are chosen


TASKS = {
    "mnist": Task("mnist.npz", "mnist_784", None, 60000, (60000, 10000)),
    "mnist10": Task("mnist.npz", "mnist_784", None, 60000, (60000, 10000)),
    "svhn": Task("svhn-2-7.npz", "SVHN", ("2", "7"), 73257, (16180, 6168)),
    "cifar": Task("cifar-plane-bird.npz", "CIFAR_10", ("0", "2"), 50000, (10000, 2000)),
    "fashion": Task("fashion-tshirt-trouser.npz", "Fashion-MNIST", ("0", "1"), 60000, (12000, 2000)),
}
MNIST = ("mnist", "mnist10")
COMPONENTS = {"svhn": 512, "cifar": 576}
PIXELS = "-pixels"
"""A task's name with this end has the pixels from 0 to 1 for features, and nothing else is changed."""


def cache_home() -> Path:
    """``ACED_CACHE``, else the user's cache folder."""
    own = os.environ.get("ACED_CACHE")
    return (
        Path(own) if own else Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "aced"
    )


def load_pixels(name: str, data_home: Path | None) -> Dataset:
    """One of the tasks, by its name and ``PIXELS``."""
    task = name.removesuffix(PIXELS)
    X, y, X_test, y_test = raw_images(task, data_home)
    X, y, y_test = chosen(task, X, y, y_test)
    pool, holdout = (part.reshape(len(part), -1).astype(np.float32) / 255 for part in (X, X_test))
    return Dataset(name, pool, y.astype(np.int64), holdout, y_test.astype(np.int64))


def load_task(name: str, data_home: Path | None) -> Dataset:
    """One of the tasks, with the features of the paper's experiments."""
    if data_home is not None and not data_home.is_dir():
        raise InvalidInput("data_home", f"there is no folder {data_home}")
    source = _find(name, data_home)
    digest = hashlib.sha256(source.read_bytes()).hexdigest()
    built = cache_home() / f"features-{name}-{BUILD}-{digest[:16]}.npz"
    held = _read_built(built)
    if held is None:
        held = features(name, *_read_source(source))
        with suppress(OSError):  # without a cache, features are built again next time
            _write(built, held)
    return Dataset(name, held["X"], held["y"], held["X_test"], held["y_test"])


def raw_images(name: str, data_home: Path | None) -> list[Array]:
    """The images and the labels of a task as its file holds them: for training, then for testing."""
    if data_home is not None and not data_home.is_dir():
        raise InvalidInput("data_home", f"there is no folder {data_home}")
    return _read_source(_find(name, data_home))


def _read_source(source: Path) -> list[Array]:
    """The four arrays of a task's file."""
    arrays = plain_arrays(source, "data_home")
    missing = [name for name in ARRAYS if name not in arrays]
    if missing:
        raise InvalidInput("data_home", f"{source} has no array {missing[0]!r}")
    return [arrays[name] for name in ARRAYS]


def _find(name: str, data_home: Path | None) -> Path:
    given = os.environ.get("ACED_DATA")
    places = [data_home, Path(given) if given else None]
    for place in [*places, cache_home()]:
        if place is not None and (place / TASKS[name].file).is_file():
            return place / TASKS[name].file
    return _fetch(name, [place for place in places if place is not None])


def _fetch(name: str, looked_in: list[Path]) -> Path:
    """Build the task's file from OpenML and keep it in the cache."""
    task = TASKS[name]
    where = " or ".join(str(place) for place in looked_in) or "ACED_DATA or --data-home (neither is set)"
    try:
        import pandas  # noqa: F401  (scikit-learn reads OpenML's files with it)
        from sklearn.datasets import fetch_openml

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a failure is reported below, in one sentence
            home = str(cache_home() / "openml")
            bunch = fetch_openml(
                task.openml, version=1, as_frame=False, parser="pandas", data_home=home, n_retries=1
            )
    except ImportError:
        reason = "reading OpenML needs pandas (pip install 'aced[openml]')"
    except Exception as error:  # whatever the network or the server answers
        reason = f"OpenML could not be reached ({type(error).__name__})"
    else:
        target = cache_home() / task.file
        arrays = from_openml(name, bunch.data, bunch.target)
        try:
            _write(target, arrays)
        except OSError as error:
            said = f"{target} cannot be written ({error.strerror}); make room, or set ACED_CACHE"
            raise DataUnavailable(name, said) from error
        return target
    raise DataUnavailable(
        name,
        f"there is no {task.file} in {where}, and {reason}; "
        "put the file there or connect to the internet",
    )


def from_openml(name: str, data: Array, target: Array) -> dict[str, Array]:
    """The task's four arrays, from OpenML's table in the data set's own order."""
    task = TASKS[name]
    side = 32 if data.shape[1] == 3072 else 28
    images = np.asarray(data).astype(np.uint8).reshape(len(data), side, side, -1).squeeze()
    names = np.asarray(target).astype(str)
    train = np.arange(len(data)) < task.train_rows
    if task.classes is None:
        keep, labels = np.ones(len(data), bool), names.astype(int)
    else:
        keep, labels = np.isin(names, task.classes), (names == task.classes[1]).astype(int)
    arrays: dict[str, Array] = {}
    for part, rows in (("train", keep & train), ("test", keep & ~train)):
        arrays[f"X_{part}"], arrays[f"y_{part}"] = images[rows], labels[rows].astype(np.uint8)
    shape = (len(arrays["X_train"]), len(arrays["X_test"]))
    if shape != task.shape:
        raise DataUnavailable(
            name, f"OpenML's {task.openml} gave {shape} rows where {task.shape} were expected"
        )
    return arrays


def chosen(name: str, X: Array, y: Array, y_test: Array) -> tuple[Array, Array, Array]:
    """The images of the pool, and the labels of pool and holdout, that the experiments had."""
    if name in MNIST:
        X, y = X[:50000], y[:50000]
    if name == "mnist":  # 0-4 against 5-9
        y, y_test = y >= 5, y_test >= 5
    return X, y, y_test


def features(name: str, X: Array, y: Array, X_test: Array, y_test: Array) -> dict[str, Array]:
    """The features of the paper's experiments, computed on the pool alone."""
    X, y, y_test = chosen(name, X, y, y_test)
    pool, holdout = (part.reshape(len(part), -1) / 255.0 for part in (X, X_test))
    mnist = name in MNIST
    if mnist:
        mean, count = pool.mean(axis=0), pool.shape[1]
        pool, holdout = pool - mean, holdout - mean
    else:
        pool, holdout, count = (pool - 0.5) / 0.5, (holdout - 0.5) / 0.5, COMPONENTS.get(name, 0)
    if count:
        axes = _axes(pool, count)
        pool, holdout = pool @ axes, holdout @ axes
    if not mnist:
        pool, holdout = standardised(pool, holdout)
    return {
        "X": pool.astype(np.float32),
        "y": y.astype(np.int64),
        "X_test": holdout.astype(np.float32),
        "y_test": y_test.astype(np.int64),
    }


def _axes(rows: Float64, count: int) -> Float64:
    """The leading right singular vectors, largest first, signs fixed; shape (p, count)."""
    p = rows.shape[1]
    with Workers(1).session():  # one BLAS thread: the same axes on any number of cores
        _, vectors = scipy.linalg.eigh(rows.T @ rows, subset_by_index=(p - count, p - 1))
    vectors = vectors[:, ::-1]
    largest = vectors[np.abs(vectors).argmax(axis=0), np.arange(count)]
    return np.asarray(vectors * np.sign(largest))


def checksum(arrays: dict[str, Array]) -> str:
    """SHA-256 over names, shapes, types and contents."""
    digest = hashlib.sha256()
    for name in sorted(arrays):
        array = np.ascontiguousarray(arrays[name])
        digest.update(f"{name} {array.dtype.str} {array.shape}\n".encode())
        digest.update(array.tobytes())
    return digest.hexdigest()


def _write(path: Path, arrays: dict[str, Array]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    stored: dict[str, Any] = {**arrays, "checksum": np.array(checksum(arrays))}
    with replacing(path) as file:
        np.savez(file, **stored)


def _read_built(path: Path) -> dict[str, Array] | None:
    """The features built before; None if the file is absent or damaged."""
    if not path.is_file():
        return None
    try:
        with np.load(path, allow_pickle=False) as archive:
            arrays = {name: archive[name] for name in archive.files}
        stored = str(arrays.pop("checksum"))
    except Exception:  # absent, cut short or no such file
        return None
    return arrays if checksum(arrays) == stored else None
