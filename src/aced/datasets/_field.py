"""The tasks of the field: the suite with which strategies and peers are compared.

Half of the tasks are for development. The other half are unseen: they are run once, for the table.
Each kind of task is in both halves, with other data. ``docs/field.md`` says when they were fixed.
A task is a function of its name alone (and, for texts, of the versions of the packages that hold them).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_digits

from aced._types import Array, Float64, Ints, Rng
from aced.datasets import _field_made as made, _field_tables as tables, _field_texts as texts
from aced.datasets._dataset import Dataset, standardised
from aced.datasets._images import load_task, raw_images

PREFIX = "field-"
DEVELOPMENT, UNSEEN = "development", "unseen"
HALVES = (DEVELOPMENT, UNSEEN)

Parts = tuple[Any, Array, Any, Array]  # X, y of the pool; X, y of the holdout
Build = Callable[[Path | None, Rng, int, int], Parts]
"""From the folder of images, a generator and the numbers of rows of pool and holdout."""


@dataclass(frozen=True)
class FieldTask:
    """One task: what it tests, in which half it is, and its size."""

    kind: str
    half: str
    classes: int
    pool: int
    holdout: int
    features: int
    build: Build
    seed: int = 0
    varies: bool = False  # whether rows depend on the versions of packages, and so may their number

    @property
    def stays_sparse(self) -> bool:
        """Whether a pool of its rows is sparse, and cannot be lifted."""
        return self.kind == "text" and self.features > 4096


def load_field(name: str, data_home: Path | None) -> Dataset:
    """The task with this name, which begins with field-."""
    task = FIELD[name]
    rng = np.random.default_rng([task.seed, sum(name.encode())])
    X, y, X_test, y_test = task.build(data_home, rng, task.pool, task.holdout)
    X, X_test = (part.astype(np.float32) for part in (X, X_test))
    return Dataset(name, X, y.astype(np.int64), X_test, y_test.astype(np.int64))


def _cut(X: Any, y: Array, rng: Rng, pool: int, holdout: int) -> Parts:
    """Rows drawn for the pool, and others for the holdout; both shrink alike if there are too few."""
    order = rng.permutation(len(y))
    pool = min(pool, len(y) * pool // (pool + holdout))
    mine, other = order[:pool], order[pool : pool + holdout]
    return X[mine], y[mine], X[other], y[other]


def _table(
    read: Callable[[], tuple[Array, Ints]], units: bool, home: Path | None, rng: Rng, n: int, m: int
) -> Parts:
    X, y, X_test, y_test = _cut(*read(), rng, n, m)
    if not units:
        X, X_test = standardised(X, X_test)
    return X, y, X_test, y_test


def _made(
    draw: Callable[[Rng, int], tuple[Float64, Ints]], home: Path | None, rng: Rng, n: int, m: int
) -> Parts:
    X, y = draw(rng, n + m)
    return X[:n], y[:n], X[n:], y[n:]


def _with_flips(build: Build, home: Path | None, rng: Rng, n: int, m: int) -> Parts:
    """A fifth of the pool's labels are wrong, and told and scored as they are. The holdout is clean."""
    X, y, X_test, y_test = build(home, rng, n, m)
    return X, made.flipped(y, 0.2, rng), X_test, y_test


def _text(
    read: Callable[[], texts.Texts], words: int, home: Path | None, rng: Rng, n: int, m: int
) -> Parts:
    """A pool of more than 4096 columns stays sparse; one of fewer becomes dense."""
    found, y = read()
    pool, own, holdout, others = _cut(np.array(found), y, rng, n, m)
    rows, held = texts.counted(pool.tolist(), holdout.tolist(), words)
    return rows, own, held, others


def _embedding(read: Callable[[], texts.Texts], home: Path | None, rng: Rng, n: int, m: int) -> Parts:
    found, y = read()
    return _cut(texts.embedded(found), y, rng, n, m)


def _digits(home: Path | None, rng: Rng, n: int, m: int) -> Parts:
    X, y = load_digits(return_X_y=True)
    return _cut(X / 16, y, rng, n, m)


def _pixels(
    task: str,
    choose: Callable[[Array, Array, Rng], tuple[Array, Ints]],
    home: Path | None,
    rng: Rng,
    n: int,
    m: int,
) -> Parts:
    """Pixels from 0 to 1, grey or in colour, chosen from the images for training and for testing."""
    X, y, X_test, y_test = raw_images(task, home)
    drawn = []
    for images, labels, count in ((X, y, n), (X_test, y_test, m)):
        rows, codes = choose(images, labels, rng)
        rows, codes = rows[:count], codes[:count]
        if images.ndim == 4:  # 32 x 32 in colour: the mean of two by two pixels
            small = images[rows].reshape(count, 16, 2, 16, 2, 3).mean(axis=(2, 4))
        else:
            small = images[rows]
        drawn += [small.reshape(count, -1) / 255, codes]
    return drawn[0], drawn[1], drawn[2], drawn[3]


def _half_of(first: bool, labels: Array) -> Array:
    """The two halves of the field share no image: the one has even numbers, the other odd ones."""
    return np.arange(0 if first else 1, len(labels), 2)


def _pair(one: int, two: int, first: bool, images: Array, labels: Array, rng: Rng) -> tuple[Array, Ints]:
    rows = rng.permutation(_half_of(first, labels))
    rows = rows[np.isin(labels[rows], (one, two))]
    return rows, (labels[rows] == two).astype(np.int64)


def _every(first: bool, images: Array, labels: Array, rng: Rng) -> tuple[Array, Ints]:
    rows = rng.permutation(_half_of(first, labels))
    return rows, labels[rows].astype(np.int64)


def _low_or_high(first: bool, images: Array, labels: Array, rng: Rng) -> tuple[Array, Ints]:
    rows, codes = _every(first, images, labels, rng)
    return rows, (codes >= 5).astype(np.int64)


def _seldom(digit: int, first: bool, images: Array, labels: Array, rng: Rng) -> tuple[Array, Ints]:
    """One row in 51 shows the digit."""
    rows, codes = _every(first, images, labels, rng)
    mine, others = rows[codes == digit], rows[codes != digit]
    kept = np.concatenate([mine[: len(others) // 50], others])
    kept = rng.permutation(kept)
    return kept, (labels[kept] == digit).astype(np.int64)


def _svhn(home: Path | None, rng: Rng, n: int, m: int) -> Parts:
    """The paper's features of its SVHN task."""
    data = load_task("svhn", home)
    assert data.X_test is not None
    assert data.y_test is not None
    own, other = rng.permutation(len(data.y))[:n], rng.permutation(len(data.y_test))[:m]
    return data.X[own], data.y[own], data.X_test[other], data.y_test[other]


MODULES = ("tkinter", "asyncio", "email", "importlib", "logging", "unittest")
SCIPY = ("stats", "optimize", "signal", "sparse", "interpolate", "special", "linalg", "spatial")
NUMPY = ("_core", "lib", "polynomial", "ma", "f2py", "testing")
SKLEARN = (
    "linear_model", "metrics", "ensemble", "preprocessing", "model_selection", "cluster",
    "decomposition", "datasets", "utils",
)  # fmt: skip

_T, _M, _W, _E, _P = _table, _made, _text, _embedding, _pixels


def _task(
    kind: str, half: str, classes: int, shape: tuple[int, int, int], build: Any, *first: Any, **how: Any
) -> FieldTask:
    """A task whose shape is (rows of the pool, rows of the holdout, features)."""
    return FieldTask(kind, half, classes, *shape, partial(build, *first), **how)


def _listed() -> dict[str, FieldTask]:
    d, u = DEVELOPMENT, UNSEEN
    changes = {"varies": True}
    python, numpy = (
        partial(texts.parts, *names) for names in ((texts.PYTHON, *MODULES), ("numpy", *NUMPY))
    )
    scipy, sklearn = (
        partial(texts.parts, *names) for names in (("scipy", *SCIPY), ("sklearn", *SKLEARN))
    )
    return {
        "diamonds": _task("table", d, 5, (3000, 2000, 22), _T, tables.diamonds, False),
        "chile": _task("table", d, 4, (1500, 1000, 15), _T, tables.chile, False),
        "insurance": _task("table", d, 2, (3000, 2000, 20), _T, tables.insurance, False),
        "docs-numpy": _task(
            "text",
            d,
            2,
            (2000, 1000, 5000),
            _W,
            partial(texts.packages, "numpy", texts.PYTHON),
            5000,
            **changes,
        ),
        "docs-python": _task("text", d, 6, (1100, 650, 800), _W, python, 800, **changes),
        "embedded-numpy": _task("embedding", d, 6, (850, 450, 256), _E, numpy, **changes),
        "mnist-4-9": _task(
            "image pair", d, 2, (2000, 900, 784), _P, "mnist", partial(_pair, 4, 9, True)
        ),
        "mnist-halves": _task(
            "image pair", d, 2, (5000, 2000, 784), _P, "mnist", partial(_low_or_high, True)
        ),
        "digits10": _task("images of many classes", d, 10, (1000, 797, 64), _digits),
        "svhn": _task("fewer labels than features", d, 2, (2000, 2000, 512), _svhn),
        "rare": _task("1:50", d, 2, (3000, 2000, 8), _M, made.rare),
        "flipped": _task(
            "flipped labels", d, 2, (2000, 2000, 10), _with_flips, partial(_M, made.smooth)
        ),
        "xor": _task("misspecified", d, 2, (2000, 2000, 6), _M, made.xor),
        "rings": _task("misspecified", d, 2, (1000, 1000, 2), _M, made.rings),
        "pocket": _task("hidden clusters", d, 2, (1000, 1000, 2), _M, made.pocket),
        "titanic": _task("duplicates", d, 2, (900, 416, 7), _T, tables.titanic, False),
        "wild": _task("wild units", d, 2, (2000, 2000, 12), _M, made.wild),
        "chains": _task("table", u, 2, (3000, 2000, 9), _T, tables.chains, False),
        "movies": _task("table", u, 6, (3000, 2000, 14), _T, tables.movies, False),
        "catsup": _task("table", u, 4, (1700, 1000, 12), _T, tables.catsup, False),
        "docs-sklearn": _task(
            "text",
            u,
            2,
            (2000, 1000, 5000),
            _W,
            partial(texts.packages, "sklearn", "scipy"),
            5000,
            **changes,
        ),
        "docs-scipy": _task("text", u, 8, (1700, 1000, 800), _W, scipy, 800, **changes),
        "embedded-sklearn": _task("embedding", u, 9, (1000, 600, 256), _E, sklearn, **changes),
        "cifar": _task("image pair", u, 2, (3000, 1000, 768), _P, "cifar", partial(_pair, 0, 1, False)),
        "mnist10": _task(
            "images of many classes", u, 10, (5000, 2000, 784), _P, "mnist", partial(_every, False)
        ),
        "wide": _task("fewer labels than features", u, 2, (2000, 2000, 600), _M, made.wide),
        "rare-digit": _task("1:50", u, 2, (3000, 1500, 784), _P, "mnist", partial(_seldom, 7, False)),
        "flipped-fashion": _task(
            "flipped labels",
            u,
            2,
            (2000, 1000, 784),
            _with_flips,
            partial(_P, "fashion", partial(_pair, 0, 1, False)),
        ),
        "checkerboard": _task("misspecified", u, 2, (2000, 2000, 3), _M, made.checkerboard),
        "spirals": _task("misspecified", u, 3, (1000, 1000, 4), _M, made.spirals),
        "pockets": _task("hidden clusters", u, 3, (2000, 2000, 10), _M, made.pockets),
        "repeated": _task("duplicates", u, 4, (2000, 1000, 5), _M, made.repeated),
        "computers": _task("wild units", u, 2, (3000, 2000, 9), _T, tables.computers, True),
    }


FIELD = {PREFIX + name: task for name, task in _listed().items()}
"""The tasks by their names: first those for development, then those unseen."""
