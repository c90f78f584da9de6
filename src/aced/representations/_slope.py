"""From scores to probabilities: one slope, found on labels that the scores have not seen.

    p(c | x) = exp(a s_c(x)) / Σ_k exp(a s_k(x)),

where s are the scores of the ridge regression (:mod:`aced.representations._left_out`). The slope a
minimises the log loss of the scores of left-out labels, -Σ_i log p(y_i | x_i), plus a weak prior, which
matters only while labels are few or all are predicted rightly:

    ½ WEIGHT (log a - log USUAL)².

Scores of labels that the fit has seen are too good, and a slope found on them would claim too much. This
is temperature scaling (Guo, Pleiss, Sun, Weinberger, On calibration of modern neural networks, 2017)
with left-out scores in place of a validation set, for which nobody has labels to spare.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import log_softmax

from aced._types import Float64, Ints

USUAL = 4.0
"""The slope without labels: scores differ by 1 where a fit is certain, which is p = 0.98 of two."""
WEIGHT = 2.0
"""How much the prior counts, in labels."""
WIDEST = (-4.0, 6.0)
"""The logarithms of the slopes looked at."""


def best_slope(scores: Float64, codes: Ints) -> float:
    """a, for scores (m, K) of labels left out, with these codes 0 … K-1.

    >>> sure, unsure = np.array([[0.5, -0.5]] * 50), np.array([[0.05, -0.05]] * 50)
    >>> right, mixed = np.zeros(50, int), np.arange(50) % 5 // 4
    >>> round(best_slope(sure, right), 1), round(best_slope(unsure, mixed), 1)
    (5.9, 11.7)
    """
    place = np.arange(len(codes))

    def loss(log_slope: float) -> float:
        likelihood = log_softmax(np.exp(log_slope) * scores, axis=1)[place, codes].sum()
        return float(WEIGHT / 2 * (log_slope - np.log(USUAL)) ** 2 - likelihood)

    return float(np.exp(minimize_scalar(loss, bounds=WIDEST, method="bounded").x))


def log_losses(scores: Float64, codes: Ints) -> Float64:
    """The log loss of each of the scores (m, K) of labels left out, with their best slope."""
    slope = best_slope(scores, codes)
    return np.asarray(-log_softmax(slope * scores, axis=1)[np.arange(len(codes)), codes])
