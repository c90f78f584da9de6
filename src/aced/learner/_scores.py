"""Scores of a fitted classifier for blocks of rows, with a column for each class.

For two classes the scores are (m,): those of the decision function, or log p - log(1 - p) of a
classifier that has probabilities only. For K > 2 classes they are (m, K), in the order of the classes'
codes: those of the decision function, or log p. A class that the classifier was not trained on has the
score -∞.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.special import logit
from sklearn.dummy import DummyClassifier
from sklearn.linear_model._base import LinearClassifierMixin

from aced._types import Array, Float64, Ints
from aced.strategies import doubts

SURE = 1e-9
"""Probabilities of two classes are taken to be this far from 0 and 1: forests say 0 and 1."""


def has_scores(model: Any, rows: Any) -> bool:
    """Whether this fitted classifier has scores; ``rows`` is one row to try it on."""
    if isinstance(model, DummyClassifier):
        return False
    return hasattr(model, "predict_proba") or _decides(model, rows)


def _decides(model: Any, rows: Any) -> bool:
    """Whether it has a decision function with a column for each class, or one for two classes.

    Support vector machines may have a column for each pair of classes.
    """
    if not hasattr(model, "decision_function"):
        return False
    count = len(model.classes_)
    return count == 2 or np.shape(model.decision_function(rows))[1:] == (count,)


def scored(
    rows: Any, model: Any, codes: Ints, classes: int, function: Callable[[Float64], Array]
) -> tuple[Array]:
    """``function`` of the scores of a block of rows; ``codes`` are those of the model's classes."""
    return (function(_spread(_scores(rows, model), codes, classes)),)


def judged(rows: Any, model: Any, codes: Ints, classes: int) -> tuple[Array, Array]:
    """Of a block of rows, the codes of the classes that a fitted classifier gives them, and how likely
    it thinks itself wrong; 0 if it does not say."""
    said = codes[np.searchsorted(model.classes_, model.predict(rows))].astype(np.uint8)
    if not has_scores(model, rows[:1]):
        return said, np.zeros(len(said), np.float32)
    p = doubts(_spread(_scores(rows, model), codes, classes))
    return said, np.asarray(p, dtype=np.float32)


def predicted(rows: Any, model: Any) -> tuple[Array]:
    """The classes that a fitted classifier gives a block of rows."""
    return (np.asarray(model.predict(rows)),)


def as_they_are(scores: Float64) -> Float64:
    """The function that leaves scores alone."""
    return scores


def _spread(scores: Float64, codes: Ints, classes: int) -> Float64:
    """Scores (m, k) of the model's classes, or (m,) of two, as scores of all classes."""
    if classes == 2:  # the model sorts its classes, but those given to a learner may be unsorted
        return scores if codes[0] == 0 else -scores
    if scores.ndim == 1:  # probabilities are then those of the two classes
        scores = np.stack([-scores / 2, scores / 2], axis=1)
    whole = np.full((len(scores), classes), -np.inf)
    whole[:, codes] = scores
    return whole


def _scores(rows: Any, model: Any) -> Float64:
    two = len(model.classes_) == 2
    if getattr(type(model), "decision_function", None) is LinearClassifierMixin.decision_function:
        # what scikit-learn computes, without its checks of every block; coef_ is (K, p), (1, p) or (p,)
        if two:
            weights, offset = np.ravel(model.coef_), np.ravel(model.intercept_)[0]
            return np.asarray(rows @ weights + offset, dtype=float)
        return np.asarray(rows @ model.coef_.T + model.intercept_, dtype=float)
    if _decides(model, rows[:1]):
        return np.asarray(model.decision_function(rows), dtype=float)
    p = np.asarray(model.predict_proba(rows), dtype=float)
    if two:
        return np.asarray(logit(np.clip(p[:, 1], SURE, 1 - SURE)))
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(p))
