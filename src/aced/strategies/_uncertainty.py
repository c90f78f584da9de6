"""How uncertain a classifier is of each row, from a block of its scores.

Scores are s (m,) for two classes, signed, or s (m, K). The probabilities are p = σ(s) of the second of
two classes, or p_c = exp(s_c) / Σ_k exp(s_k). A class without a label has the score -∞, hence p = 0.
These are top-level functions of a block's scores, for ``View.scored``.
"""

from __future__ import annotations

import numpy as np
from scipy.special import expit

from aced._types import Float64

FAR = 1e6
"""Where margins decide between equal rows, larger ones count as this: some are infinite."""


def margins(scores: Float64) -> Float64:
    """The score of the first class minus that of the second, (m,); |s| for two classes.

    >>> margins(np.array([-2.0, 0.5])), margins(np.array([[3.0, 1.0, -np.inf], [0.0, 2.0, 1.5]]))
    (array([2. , 0.5]), array([2. , 0.5]))
    """
    if scores.ndim == 1:
        return np.abs(scores)
    top = np.partition(scores, -2, axis=1)
    return np.asarray(top[:, -1] - top[:, -2])


def doubts(scores: Float64) -> Float64:
    """1 - max p, (m,): the probability that the predicted class is wrong.

    >>> doubts(np.array([0.0])), doubts(np.log([[0.5, 0.3, 0.2]])).round(3)
    (array([0.5]), array([0.5]))
    """
    if scores.ndim == 1:
        return np.asarray(expit(-np.abs(scores)))
    relative = np.exp(scores - scores.max(axis=1, keepdims=True))
    total = relative.sum(axis=1)
    relative[np.arange(len(relative)), relative.argmax(axis=1)] = 0.0  # the rest keeps its digits
    return np.asarray(relative.sum(axis=1) / total)


def probabilities(scores: Float64) -> Float64:
    """p of every class, (m, K); two columns for two classes."""
    if scores.ndim == 1:
        p = expit(scores)
        return np.stack([1 - p, p], axis=1)
    relative = np.exp(scores - scores.max(axis=1, keepdims=True))
    return np.asarray(relative / relative.sum(axis=1, keepdims=True))
