"""What a strategy sees of 200 rows with some labels."""

from __future__ import annotations

import numpy as np

from aced import Learner, Pool
from aced._workers import Workers
from aced.strategies import View
from tests.helpers import blobs

ROWS, LABELS = blobs(n=200, p=3, flip=0.1)


def view_of(labelled: int = 30) -> View:
    positions = np.arange(labelled)
    learner = Learner(Pool(ROWS))
    learner.tell(positions, LABELS[:labelled])
    still_open = np.ones(len(ROWS), dtype=bool)
    still_open[:labelled] = False
    return View(
        pool=learner.pool,
        workers=Workers(1),
        positions=positions,
        codes=LABELS[:labelled],
        open=still_open,
        batch_size=10,
        tolerance=0.0,
        scores=learner._scores,
    )
