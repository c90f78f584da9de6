"""What a strategy sees of 200 rows with some labels."""

from __future__ import annotations

import numpy as np

from aced import Learner, Pool
from aced._workers import Workers
from aced.learner._scores import as_they_are
from aced.strategies import View
from tests.helpers import blobs, many_blobs

ROWS, LABELS = blobs(n=200, p=3, flip=0.1)


def view_of(labelled: int = 30) -> View:
    return _view(ROWS, LABELS, labelled, 2)


def many_view_of(classes: int, labelled: int = 60) -> tuple[View, np.ndarray]:
    """The same of 40 rows a class, and the rows; the centres are near to one another."""
    rows, codes = many_blobs(n=40 * classes, p=4, classes=classes)
    return _view(rows, codes, labelled, classes), rows


def _view(rows: np.ndarray, codes: np.ndarray, labelled: int, classes: int) -> View:
    positions = np.arange(labelled)
    learner = Learner(Pool(rows), classes=range(classes), representation="linear")
    learner.tell(positions, codes[:labelled])
    still_open = np.ones(len(rows), dtype=bool)
    still_open[:labelled] = False
    return View(
        pool=learner.pool,
        workers=Workers(1),
        positions=positions,
        codes=codes[:labelled],
        open=still_open,
        batch_size=10,
        tolerance=0.0,
        scores=lambda: learner._held.scored(as_they_are),
        classes=classes,
        blockwise=learner._held.scored,
    )
