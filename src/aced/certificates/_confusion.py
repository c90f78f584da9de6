"""How many rows of the pool have which label, and are taken for which class: an estimate.

How many rows the present classifier puts into each class is known, and so are the labels of some. Of the
others, the errors are spread over pairs of classes as they were among the draws. A draw t counts
1 / (q_t |R_t|), with the class that the classifier of the time said. All errors together are as many as
the certificate estimates.
"""

from __future__ import annotations

import numpy as np

from aced._types import Array, Float64
from aced.certificates._certificate import accuracy
from aced.certificates._claims import Known
from aced.certificates._drawn import Drawn


def confusion(drawn: Drawn, now: Known, classes: int) -> Float64:
    """Rows of the pool by label (rows) and predicted class (columns), (K, K)."""
    rows, rest = now.labelled, ~now.labelled
    known = _counted(now.codes[rows], now.said[rows], np.ones(int(rows.sum())), classes)
    predicted = np.bincount(now.said[rest], minlength=classes).astype(float)
    wrong = (1 - accuracy(drawn, now, 0.95).estimate) * drawn.n - (known.sum() - known.trace())
    errors = np.zeros((classes, classes))
    for number, (_, said) in drawn.classifiers.items():
        of = (drawn.frozen == number) & (drawn.explore > 0)
        of &= now.labelled[drawn.rows] if len(drawn) else of
        its = drawn.rows[of]
        weight = 1 / (drawn.probabilities[of] * drawn.open[of])
        errors += _counted(now.codes[its], said[its], weight, classes)
    np.fill_diagonal(errors, 0.0)
    if errors.any():
        errors *= max(wrong, 0.0) / errors.sum()
    errors *= np.minimum(1.0, predicted / np.maximum(errors.sum(axis=0), 1e-12))
    return np.asarray(known + errors + np.diag(predicted - errors.sum(axis=0)))


def _counted(codes: Array, said: Array, weights: Float64, classes: int) -> Float64:
    places = codes.astype(np.int64) * classes + said
    counts = np.bincount(places, weights, minlength=classes**2)
    return np.asarray(counts, dtype=float).reshape(classes, classes)
