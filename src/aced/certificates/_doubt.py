"""How likely each given prediction is wrong, as far as the labels so far tell.

    s = σ(a + b t),    t = logit(1 - confidence),

where a and b minimise Σ w_j logloss_j + PRIOR (a² + (b - 1)²) / 2 over the labelled rows. w_j is
1 / q_j, scaled to the mean 1: rows that were drawn with a small probability stand for many. Without
labels s is what the predictions say of themselves. s decides which rows are drawn, and how wide the
interval is; the interval holds whatever s is.
"""

from __future__ import annotations

import numpy as np
from scipy.special import expit, logit

from aced._types import Array, Float32, Float64

PRIOR = 2.0
"""The labels that it counts for that predictions know their own errors."""
SURE = 0.002
"""Nobody is taken to be surer than this, or less sure than its opposite."""
UNKNOWN = 0.1
"""The share of errors that is expected where no confidence is given, before there are labels."""
HEAVIEST = 20.0
STEPS = 30


def own_doubt(confidence: Float64 | None, rows: int) -> Float64:
    """t (n,), from the confidence in each prediction; None: nothing is known."""
    if confidence is None:
        return np.full(rows, logit(UNKNOWN))
    return np.asarray(logit(np.clip(1 - confidence, SURE, 1 - SURE)))


def fitted(own: Float64, wrong: Array, weights: Float64) -> tuple[float, float]:
    """a and b, from t (m,) of labelled rows, whether they were wrong, and weights 1 / q."""
    at = np.array([0.0, 1.0])
    if not len(own):
        return 0.0, 1.0
    w = np.minimum(weights / weights.mean(), HEAVIEST)
    w = w / w.mean()
    columns = np.column_stack([np.ones(len(own)), own])
    for _ in range(STEPS):  # Newton's method; the loss is convex and smooth
        p = expit(columns @ at)
        slope = columns.T @ (w * (p - wrong)) + PRIOR * (at - [0.0, 1.0])
        bend = (columns * (w * p * (1 - p))[:, None]).T @ columns + PRIOR * np.eye(2)
        step = np.linalg.solve(bend, slope)
        at = at - step / max(1.0, float(np.abs(step).max()))
        if np.abs(step).max() < 1e-9:
            break
    return float(at[0]), float(at[1])


def doubt(own: Float64, a: float, b: float) -> Float32:
    """s (n,)."""
    return np.asarray(np.clip(expit(a + b * own), SURE, 1 - SURE), dtype=np.float32)
